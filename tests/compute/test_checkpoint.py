"""What somebody else does to kept values: nothing of it is used, and nothing else is touched."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

from fairpool.compute.checkpoint import KEY_FILE, Checkpoint
from fairpool.compute.workers import Workers
from tests.support.die_before import run_and_die
from tests.support.projects import fairpool, finished_run, project

EXACT_GP = 'kind = "gp"\nkernel = "rbf"\nlearn = false\nnoise_variance = 0.1'
VALUES = np.array([1.5, -2.0, 3.25])
AS_ROOT = pytest.mark.skipif(
    os.geteuid() != 0, reason="another user's files can be made by root alone"
)


def stopped_project(folder):
    """A run of nine parties that was killed as its fifth file was to be kept."""
    project(
        folder, model=EXACT_GP, sizes=(8,) * 9, rewards="share_inputs = true", suffix=".parquet"
    )
    done = run_and_die(signal.SIGKILL, 5, "os.rename .", ["run", folder])
    assert done.returncode == -signal.SIGKILL
    return folder


def kept_arrays(folder):
    return sorted((folder / ".fairpool-checkpoint").rglob("*.npy"))


def test_edited_values_are_not_used_and_the_operator_is_told(tmp_path):
    folder = stopped_project(tmp_path / "p")
    arrays = kept_arrays(folder)
    assert len(arrays) >= 3
    for file in arrays:
        # Nothing that looks odd: these coalitions are worth a little more.
        np.save(file, 1.01 * np.load(file))
    resumed = fairpool("run", folder, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    result = json.loads(resumed.stdout)
    fresh = finished_run(folder).collaboration
    assert [party["reward"] for party in result["parties"]] == fresh.rewards.tolist()
    [text] = [text for text in result["warnings"] if "kept values" in text]
    assert f"{len(arrays)} file(s) of kept values are not as they were kept" in text
    assert not (folder / ".fairpool-checkpoint").exists()


def test_what_was_kept_is_used_and_removed(tmp_path):
    kept = Checkpoint(tmp_path / "kept")
    assert kept.keep("digest", "name", VALUES) == ()
    np.testing.assert_array_equal(Checkpoint(tmp_path / "kept").load("digest", "name"), VALUES)
    np.testing.assert_array_equal(np.load(tmp_path / "kept/digest/name.npy"), VALUES)
    assert kept.doubts() == ()
    kept.clear()
    assert not (tmp_path / "kept").exists()


def check_that_it_counts_as_none(folder, refused=1):
    again = Checkpoint(folder)
    assert again.load("digest", "name") is None
    assert len(again.doubts()) == refused
    assert again.doubts() == ()  # once is enough


def test_values_of_another_place_are_not_used(tmp_path):
    """Each is authentic, but the value of another coalition, or of other data."""
    kept = Checkpoint(tmp_path)
    kept.keep("digest", "name", VALUES)
    kept.keep("digest", "other", VALUES + 1)
    kept.keep("data", "name", VALUES + 2)
    for other in ("digest/other.npy", "data/name.npy"):
        shutil.copy(tmp_path / other, tmp_path / "digest/name.npy")
        check_that_it_counts_as_none(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        np.array(["a", "b", "c"]),
        np.array([1, 2, 3]),
        np.array([1 + 2j]),
        np.array([[[1.0]]]),
        np.array(5.0),
        np.array([np.nan]),
        np.array(["2020-11-16"], dtype="M8[D]"),
        np.array([(1.0,)], dtype=[("a", float)]),
    ],
    ids=str,
)
@pytest.mark.parametrize("sealed", [False, True])
def test_an_array_of_another_type_or_shape_counts_as_none(tmp_path, content, sealed):
    kept = Checkpoint(tmp_path)
    kept.keep("digest", "name", content if sealed else VALUES)
    if not sealed:
        np.save(tmp_path / "digest/name.npy", content)
    check_that_it_counts_as_none(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:-32] + bytes(32),
        lambda content: b"\x93NUMPY\x01\x00" + b"\xff" * 60,
        lambda content: bytes([content[0] ^ 1]) + content[1:],
        lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    ],
)
def test_a_damaged_file_counts_as_none(tmp_path, damage):
    Checkpoint(tmp_path).keep("digest", "name", VALUES)
    file = tmp_path / "digest/name.npy"
    file.write_bytes(damage(file.read_bytes()))
    check_that_it_counts_as_none(tmp_path)


def test_without_its_key_nothing_is_used_and_a_new_one_is_made(tmp_path):
    Checkpoint(tmp_path).keep("digest", "name", VALUES)
    for key in (None, b"short", bytes(64)):
        (tmp_path / KEY_FILE).unlink()
        if key is not None:
            (tmp_path / KEY_FILE).write_bytes(key)
            (tmp_path / KEY_FILE).chmod(0o600)
        check_that_it_counts_as_none(tmp_path)
        Checkpoint(tmp_path).keep("digest", "name", VALUES)
        np.testing.assert_array_equal(Checkpoint(tmp_path).load("digest", "name"), VALUES)


def test_a_key_that_others_could_read_is_replaced(tmp_path):
    Checkpoint(tmp_path).keep("digest", "name", VALUES)
    before = (tmp_path / KEY_FILE).read_bytes()
    (tmp_path / KEY_FILE).chmod(0o644)
    check_that_it_counts_as_none(tmp_path)
    Checkpoint(tmp_path).keep("digest", "name", VALUES)
    assert (tmp_path / KEY_FILE).read_bytes() != before
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_a_key_behind_a_link_is_replaced_and_its_target_left_alone(tmp_path):
    known = tmp_path / "known"
    known.write_bytes(bytes(32))
    known.chmod(0o600)
    folder = tmp_path / "kept"
    Checkpoint(folder).keep("digest", "name", VALUES)
    (folder / KEY_FILE).unlink()
    (folder / KEY_FILE).symlink_to(known)
    check_that_it_counts_as_none(folder)
    Checkpoint(folder).keep("digest", "name", VALUES)
    assert not (folder / KEY_FILE).is_symlink()
    assert known.read_bytes() == bytes(32)


@AS_ROOT
def test_what_another_user_put_in_its_place_is_not_used(tmp_path):
    """With a key of their own, all seals are right; but neither folder nor key is this user's."""
    folder = tmp_path / "kept"
    Checkpoint(folder).keep("digest", "name", VALUES)
    os.chown(folder / KEY_FILE, 12345, 12345)
    check_that_it_counts_as_none(folder)
    os.chown(folder / KEY_FILE, 0, 0)
    os.chown(folder, 12345, 12345)
    check_that_it_counts_as_none(folder, refused=0)
    [note] = Checkpoint(folder).keep("digest", "name", VALUES + 1)
    assert "it belongs to another user" in note.text
    other = Checkpoint(folder)
    other.load("digest", "name")
    other.clear()
    os.chown(folder, 0, 0)
    np.testing.assert_array_equal(Checkpoint(folder).load("digest", "name"), VALUES)


def precious_folder(path):
    path.mkdir()
    (path / "thesis.npy").write_text("years of work")
    (path / "notes.txt").write_text("more years")
    (path / "digest").mkdir()
    (path / "digest" / "name.npy").write_text("of another project")
    return path


def content_of(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.parametrize("place", ["kept", "kept/digest", "nowhere"])
def test_nothing_behind_a_linked_folder_is_read_written_or_removed(tmp_path, place):
    precious = precious_folder(tmp_path / "precious")
    before = content_of(precious)
    if place == "kept":
        (tmp_path / "kept").symlink_to(precious)
    elif place == "kept/digest":
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "digest").symlink_to(precious)
    else:
        (tmp_path / "kept").symlink_to(tmp_path / "nowhere")
    mode = precious.stat().st_mode
    kept = Checkpoint(tmp_path / "kept")
    assert kept.load("digest", "name") is None
    [note] = kept.keep("digest", "name", VALUES)
    assert note.text.endswith("(it is a link); a stopped run would begin anew")
    kept.clear()
    assert content_of(precious) == before
    assert precious.stat().st_mode == mode
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_becomes_a_link_has_nothing_removed_behind_it(tmp_path):
    precious = precious_folder(tmp_path / "precious")
    before = content_of(precious)
    kept = Checkpoint(tmp_path / "kept")
    kept.keep("digest", "name", VALUES)
    shutil.rmtree(tmp_path / "kept")
    (tmp_path / "kept").symlink_to(precious)
    kept.clear()
    assert content_of(precious) == before


def test_a_run_beside_a_linked_folder_is_done_and_says_so(tmp_path):
    folder = project(
        tmp_path / "p",
        model=EXACT_GP,
        sizes=(5,) * 9,
        rewards="share_inputs = true",
        suffix=".parquet",
    )
    precious = precious_folder(tmp_path / "precious")
    before = content_of(precious)
    (folder / ".fairpool-checkpoint").symlink_to(precious)
    done = fairpool("run", folder, "--json", "--resume")
    assert done.returncode == 0, done.stderr
    [text] = [text for text in json.loads(done.stdout)["warnings"] if "cannot be kept" in text]
    assert "it is a link" in text
    assert content_of(precious) == before


def test_clearing_leaves_what_nobody_kept_here(tmp_path):
    kept = Checkpoint(tmp_path / "kept")
    kept.keep("digest", "name", VALUES)
    (tmp_path / "kept/digest/thesis.txt").write_text("years of work")
    (tmp_path / "kept/digest/folder.npy").mkdir()
    kept.clear()
    assert (tmp_path / "kept/digest/thesis.txt").read_text() == "years of work"


def test_a_pipe_in_the_place_of_a_file_makes_nobody_wait(tmp_path):
    for place in ("digest/name.npy", KEY_FILE):
        folder = tmp_path / place.replace("/", "-")
        Checkpoint(folder).keep("digest", "name", VALUES)
        (folder / place).unlink()
        os.mkfifo(folder / place)
        code = (
            "import sys; from pathlib import Path;"
            " from fairpool.compute.checkpoint import Checkpoint;"
            " print(Checkpoint(Path(sys.argv[1])).load('digest', 'name'))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, folder],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("None\n", 0)


def test_all_that_is_kept_is_for_this_user_alone_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        Checkpoint(tmp_path / "deep" / "kept").keep("digest", "name", VALUES)
    finally:
        os.umask(before)
    paths = [tmp_path / "deep", *(tmp_path / "deep").rglob("*")]
    assert len(paths) == 5
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_doubts_of_a_checkpoint_are_notes_of_the_workers(tmp_path):
    kept = Checkpoint(tmp_path)
    Workers(checkpoint=kept).map(_ones, None, [1, 2], "counting", digest=lambda: "digest")
    for file in tmp_path.rglob("*.npy"):
        np.save(file, np.zeros(2))
    workers = Workers(checkpoint=Checkpoint(tmp_path))
    results = workers.map(_ones, None, [1, 2], "counting", digest=lambda: "digest")
    np.testing.assert_array_equal(results, np.ones((2, 2)))
    assert [note.code for note in workers.notes] == ["kept values changed"]


def _ones(shared, task):
    return np.ones(2)
