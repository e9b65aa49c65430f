"""What a stage noticed is a value in its result: nothing is read from sentences, and runs do not
hear each other.
"""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.notes import Note, notes_of, texts_of, warn_of
from tests.support.examples import MODELS, make_parties
from tests.support.projects import finished_run, project, table, write

SOURCE = Path(__file__).parent.parent / "src" / "fairpool"


def with_repeats(folder, repeats):
    """A project in which the first party repeats so many of its rows."""
    project(folder)
    own = table(40, 0)
    write(folder / "p0.csv", pa.concat_tables([own, own.slice(0, repeats)]))
    return folder


def test_two_runs_in_two_threads_have_notes_of_their_own(tmp_path):
    """Facts used to come back by `catch_warnings`, which is global to the process."""
    folders = [with_repeats(tmp_path / str(repeats), repeats) for repeats in range(1, 7)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(finished_run, folders * 2))
    for run, repeats in zip(runs, [*range(1, 7)] * 2, strict=True):
        repeated = [note for note in run.notes if note.code == "repeated rows"]
        assert [note.party for note in repeated] == ["Party 0"]
        assert repeated[0].text.startswith(f'"Party 0" has {repeats} row(s)')


def test_a_run_warns_nobody(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = finished_run(with_repeats(tmp_path, 3))
    assert run.warnings == texts_of(run.notes)
    assert len(run.notes) > 0


def test_notes_say_whom_they_are_about(tmp_path):
    agreed = "share_inputs = true"
    model = 'kind = "sparse_gp"\ninducing_points = 8'
    folder = project(tmp_path, sizes=(40, 3), model=model, rewards=agreed)
    notes = finished_run(folder, rho=0.2).notes
    assert [note.party for note in notes if note.code == "few rows"] == ["Party 0"]


def test_only_functions_that_users_call_warn():
    """Each of these is a public name; everything else gives notes."""
    allowed = {
        "notes.py",
        "collaboration.py",
        "compute/workers.py",
        "models/classifier.py",
        "models/model.py",
        "models/weight_model.py",
        "realisation/model_reward.py",
        "rewards/scheme.py",
    }
    warning = re.compile(r"warnings\.warn\(|\bwarn_of\(")
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if warning.search(path.read_text())
    }
    assert found == allowed
    catching = [path for path in SOURCE.rglob("*.py") if "catch_warnings" in path.read_text()]
    # Of scikit-learn's and Pillow's, which say nothing of ours.
    assert sorted(path.name for path in catching) == ["features.py", "pictures.py"]


def test_the_library_warns_once_and_names_the_callers_line():
    parties = make_parties([5, 4], 0)
    twice = [parties[0], fp.Party("copy", parties[0].X, parties[0].y)]
    with pytest.warns(fp.FairpoolWarning, match="share 5 identical row") as said:
        result = fp.collaborate(twice, MODELS["blr"])
    assert [str(w.message) for w in said] == list(result.warnings)
    assert {w.filename for w in said} == {__file__}
    with pytest.warns(fp.FairpoolWarning, match="there is nothing to give") as said:
        fp.RewardScheme(fp.TableGame([0, 0]), [0.0])
    assert said[0].filename == __file__


def test_notes_in_words():
    notes = notes_of("kind", ["one", "two"])
    assert notes == [Note(code="kind", text="one"), Note(code="kind", text="two")]
    with pytest.warns(fp.FairpoolWarning, match="one|two") as said:
        warn_of(notes, stacklevel=2)
    assert [str(w.message) for w in said] == ["one", "two"]
