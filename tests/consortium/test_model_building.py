import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import make_friedman1

from fairpool.consortium.party_files import NO_OPTIMUM
from fairpool.models import descent
from tests.support.projects import finished_run, project, round_folder, write, written_run


def friedman(folder, seed):
    """Friedman's function of 2000 rows at three parties; the model is the default one."""
    X, y = make_friedman1(2000, n_features=6, noise=0.5, random_state=seed)
    columns = [*(f"x{k}" for k in range(6)), "y"]
    everything = pa.table(dict(zip(columns, np.column_stack([X, y]).round(4).T, strict=True)))
    text = 'name = "Friedman"\ntarget = "y"\n'
    start = 0
    for name, rows in (("a", 1000), ("b", 600), ("c", 400)):
        write(folder / f"{name}.csv", everything.slice(start, rows))
        text += f'[[parties]]\nname = "{name}"\ndata = "{name}.csv"\n'
        start += rows
    (folder / "collaboration.toml").write_text(text)
    return folder


@pytest.mark.parametrize("seed", [0, 5])
def test_hyperparameters_of_friedmans_function_are_learned(tmp_path, seed):
    """The search used to stay where it began: noise 2.74, v_N = 83, rewards of 100, 81 and 69%."""
    run = finished_run(friedman(tmp_path, seed))
    game, rewards = run.collaboration.game, run.collaboration.rewards
    noise = run.preparation.encoding.target.scale * run.built.model.noise_variance**0.5
    assert abs(noise - 0.5) < 0.02
    assert 135 < game.total < 145
    np.testing.assert_allclose(rewards / game.total, [1, 0.90, 0.83], atol=0.015)
    assert run.built.optimum_reached
    assert {note.code for note in run.notes} <= {"costly covariance"}


def test_report_and_letters_say_so_where_no_optimum_was_reached(tmp_path, monkeypatch):
    sentence = NO_OPTIMUM.replace("'", "&#39;")
    for most_steps, reached in ((descent.MOST_STEPS, True), (2, False)):
        monkeypatch.setattr(descent, "MOST_STEPS", most_steps)
        folder = tmp_path / str(most_steps)
        run = written_run(project(folder, model='kind = "sparse_gp"\ninducing_points = 12'))
        out = round_folder(folder)
        assert run.built.optimum_reached == reached
        result = json.loads((out / "operator" / "result.json").read_text())
        assert result["model"]["optimum_reached"] == reached
        said = any("ended without reaching an optimum" in text for text in result["warnings"])
        assert said == (
            "ended without reaching an optimum" in (out / "operator" / "report.html").read_text()
        )
        assert said != reached
        letters = [path.read_text() for path in out.glob("parties/*/letter.html")]
        assert [sentence in letter for letter in letters] == [not reached] * 3
