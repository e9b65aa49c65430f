"""A run refuses to hand out models in which one row of a file could be located."""

import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.consortium.learning import learn
from tests.support.projects import (
    MODELS,
    fairpool,
    finished_run,
    is_untouched,
    prepared,
    project,
    round_folder,
    table,
    write,
)

KINDS = ["sparse_gp", "blr", "network"]


def with_far_label(folder, suffix=".csv", missing=False):
    """In line 9 of the second party's file, the 8th row."""
    rows = table(25, 1, 0.4).to_pydict()
    rows["y"][7] = 4000.0
    if missing:
        rows["x"][2] = None  # rows are counted as they are in the file
    write(folder / f"p1{suffix}", pa.table(rows))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_run_stops_and_names_party_file_and_line(tmp_path, kind, suffix):
    model, consent = MODELS[kind]
    folder = project(tmp_path, 'missing = "drop"', model=model, rewards=consent, suffix=suffix)
    with_far_label(folder, suffix, missing=True)
    done = fairpool("run", folder)
    assert done.returncode == 2
    place = "line 9" if suffix == ".csv" else "row 8"
    assert f'party "Party 1", {folder / f"p1{suffix}"}, {place}' in done.stderr
    assert "its label is so far from all others" in done.stderr
    assert "correct or clip the label, leave the row out" in done.stderr
    assert is_untouched(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_labels_are_no_problem(tmp_path, kind):
    model, consent = MODELS[kind]
    run = finished_run(project(tmp_path, model=model, rewards=consent))
    for reward in run.collaboration.models:
        assert reward.exposure.outlying == {}


def test_a_label_that_stands_out_less_is_told_to_the_operator_alone(tmp_path):
    folder = project(tmp_path)
    write(folder / "p1.csv", table(25, 1, 0.4))
    run = finished_run(folder)
    (note,) = [note for note in run.notes if note.code == "label stands out"]
    assert note.party == "Party 1"
    assert f'{folder / "p1.csv"}, line 26: this row of "Party 1" makes up' in note.text
    done = fairpool("run", folder)
    assert done.returncode == 0, done.stderr
    assert "line 26" in (round_folder(folder) / "operator/result.json").read_text()
    for letter in (round_folder(folder) / "parties").glob("*/letter.html"):
        assert "line 26" not in letter.read_text()


def test_all_parties_may_agree_to_it(tmp_path):
    folder = project(tmp_path, rewards="share_inputs = true")
    with_far_label(folder)
    assert fairpool("run", folder).returncode == 0


def test_what_a_run_finds_is_what_the_rows_themselves_give(tmp_path):
    folder = project(tmp_path, model=MODELS["sparse_gp"][0])
    with_far_label(folder)
    run = finished_run(folder)
    game = run.collaboration.game
    learning = learn(prepared(folder))
    by_rows = fp.InformationGain(game.model, learning.parties)
    models = fp.realise(by_rows, run.collaboration.rewards, 0)
    for ours, theirs in zip(run.collaboration.models, models, strict=True):
        shares = {name: row.share for name, row in ours.exposure.outlying.items()}
        expected = {name: row.share for name, row in theirs.exposure.outlying.items()}
        assert shares == pytest.approx(expected, rel=1e-6)
