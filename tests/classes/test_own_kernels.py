"""A kernel for each class, from the configuration to the reward file."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.realisation import load_reward
from tests.classes.projects import LEVELS, MODELS, parties_of, project, refusal, table
from tests.support.projects import fairpool, finished_run, round_folder, write, written_run

OWN_KERNELS = 'levels = ["gesund", "müde", "krank"], kernels = "per_class"'


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_kernel_for_each_class_from_the_configuration_to_the_file(
    tmp_path: Path, kind: str
) -> None:
    model, rewards = MODELS[kind]
    folder = project(tmp_path, model, rewards, OWN_KERNELS)
    done = written_run(folder)
    learned = done.built.model
    assert not learned.shared
    with_one = finished_run(project(tmp_path / "shared", model, rewards))
    shared = with_one.built.model
    assert shared.shared
    # Files of one kernel for all classes say nothing of it, as before there was a choice.
    assert "kernels" not in with_one.preparation.encoding.target.entries()
    parties = parties_of(done)
    X = np.concatenate([party.X for party in parties])
    y = np.concatenate([party.y for party in parties])
    # Of a party with more than a hundred rows only some are learned from; here nobody has more.
    assert learned.log_marginal_likelihood(X, y) > shared.log_marginal_likelihood(X, y)
    for reward, due in zip(done.collaboration.models, done.collaboration.rewards, strict=True):
        assert reward.posterior.worth == pytest.approx(due, rel=1e-9)
    words = "prior variance of the weights" if kind in ("blr", "network") else "kernel"
    assert all(f"{words} ({level})" in done.built.settings for level in LEVELS)
    assert f"{words} (krank)" in (round_folder(tmp_path) / "operator/report.html").read_text()
    reward_file = round_folder(tmp_path) / "parties/P1/reward.safetensors"
    loaded = load_reward(reward_file)
    assert not loaded.posterior.model.shared
    assert loaded.encoding.target == done.preparation.encoding.target
    ours = done.collaboration.models[1]
    assert loaded.predict(X[:9])[0] == pytest.approx(ours.predict(X[:9])[0], abs=1e-12)
    inspected = fairpool("inspect", reward_file)
    assert "for each of 3 classes, with a prior of its own" in inspected.stdout
    predicted = fairpool("predict", reward_file, "--data", tmp_path / "test.csv")
    assert len(predicted.stdout.splitlines()) == 61


def test_sums_over_files_with_a_kernel_for_each_class(tmp_path: Path) -> None:
    done = finished_run(project(tmp_path, *MODELS["sparse_gp"], OWN_KERNELS))
    rows = fp.InformationGain(done.built.model, parties_of(done))
    assert done.collaboration.game.values() == pytest.approx(rows.values(), abs=1e-9)
    unchecked = fp.uncheckable_information(rows)
    for ours, theirs in zip(done.uncheckable, unchecked, strict=True):
        assert ours.rows == theirs.rows
        assert ours.from_them == pytest.approx(theirs.from_them, abs=1e-8)
    realised = fp.realise(rows, done.collaboration.rewards)
    for ours, theirs in zip(done.collaboration.models, realised, strict=True):
        assert set(ours.exposure.outlying) == set(theirs.exposure.outlying)


def test_a_recipient_updates_a_reward_with_a_kernel_for_each_class(tmp_path: Path) -> None:
    written_run(project(tmp_path, *MODELS["sparse_gp"], OWN_KERNELS))
    reward = round_folder(tmp_path) / "parties/P2/reward.safetensors"
    write(tmp_path / "more.csv", pa.concat_tables([table(80, 2), table(40, 55)]))
    done = fairpool("update", reward, "--data", tmp_path / "more.csv")
    assert done.returncode == 0, done.stderr
    after = load_reward(reward.with_name("reward-updated.safetensors"))
    assert after.value > load_reward(reward).value


def test_a_kernel_for_each_class_is_refused_where_it_means_nothing(tmp_path: Path) -> None:
    given = project(tmp_path / "a", 'kind = "blr"\nlearn = false', "", OWN_KERNELS)
    assert 'kernels = "per_class" has no meaning with learn = false' in refusal(given)
    wrong = project(tmp_path / "b", target='kernels = "each"')
    assert "'each' is not allowed; give one of shared, per_class" in refusal(wrong)
    folder = project(tmp_path / "c", target='kernels = "per_class"')
    text = (folder / "collaboration.toml").read_text().replace('"classes"', '"number"')
    (folder / "collaboration.toml").write_text(text)
    assert 'target: kernels has no meaning for kind = "number"' in refusal(folder)
