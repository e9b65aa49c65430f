"""Where output goes: not through a link, and for nobody else's eyes."""

import os
import stat

import pytest

from fairpool.consortium.writing import refuse_output, write
from fairpool.errors import DataError
from tests.support.projects import fairpool, project, reward_file

FILES = {"operator/result.json": b"{}", "operator/values.csv": b"1", "parties/A/letter.html": b"A"}


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("target", ["nowhere", "empty", "earlier"])
def test_a_link_as_output_is_refused_and_nothing_is_left_beside_it(tmp_path, target):
    (tmp_path / "empty").mkdir()
    write(FILES, tmp_path / "earlier")
    (tmp_path / "out").symlink_to(tmp_path / target)
    before = names_in(tmp_path)
    refused = rf"out is a link to .*{target}, and is not followed; remove it"
    with pytest.raises(DataError, match=refused):
        refuse_output(tmp_path / "out")
    with pytest.raises(DataError, match=refused):
        write(FILES, tmp_path / "out")
    assert names_in(tmp_path) == before
    assert names_in(tmp_path / "empty") == []
    assert (tmp_path / "out").is_symlink()


def test_what_is_there_is_never_replaced(tmp_path):
    write(FILES, tmp_path / "out")
    (tmp_path / "file").write_text("mine")
    for place in ("out", "file"):
        with pytest.raises(DataError, match=rf"{place} exists already, and is never replaced"):
            write({"other": b"2"}, tmp_path / place)
    assert (tmp_path / "file").read_text() == "mine"
    assert names_in(tmp_path / "out") == ["operator", "parties"]
    assert names_in(tmp_path) == ["file", "out"]


@pytest.mark.parametrize("place", ["rounds", "rounds/0001", ".fairpool"])
def test_the_command_follows_no_link_and_computes_nothing(tmp_path, place):
    folder = project(tmp_path / "p")
    (tmp_path / "p" / "p0.csv").write_text("nothing that could be read")
    (tmp_path / "elsewhere").mkdir()
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).symlink_to(tmp_path / "elsewhere")
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert f"{place} is a link to " in done.stderr
    assert names_in(tmp_path / "elsewhere") == []
    assert (folder / place).is_symlink()
    assert not (folder / "ledger.jsonl").exists()


def test_a_preview_and_a_demo_follow_no_link_and_compute_nothing(tmp_path):
    folder = project(tmp_path / "p")
    (tmp_path / "p" / "p0.csv").write_text("nothing that could be read")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    for arguments in (["run", folder], ["demo"]):
        done = fairpool(*arguments, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert "out is a link to " in done.stderr
    assert names_in(tmp_path / "elsewhere") == []
    assert (tmp_path / "out").is_symlink()


def run_under_umask(umask, *arguments):
    before = os.umask(int(umask, 8))
    try:
        return fairpool(*arguments)
    finally:
        os.umask(before)


def check_that_all_is_private(paths):
    for path in paths:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_all_output_is_for_the_operator_alone_whatever_the_umask(tmp_path, umask):
    folder = project(tmp_path / "p", sizes=(40, 30))
    before = {*folder.iterdir()}
    out = tmp_path / "new" / "deep" / "out"
    done = run_under_umask(umask, "run", folder, "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    written = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert len([path for path in written if path.is_file()]) == 9  # letters and cards, no models
    check_that_all_is_private(written)
    assert {*folder.iterdir()} == before
    done = run_under_umask(umask, "run", folder, "--quiet")
    assert done.returncode == 0, done.stderr
    written = {*folder.rglob("*")} - before
    assert len([path for path in (folder / "rounds").rglob("*") if path.is_file()]) == 11
    places = ("latest", "ledger.jsonl", ".fairpool/secret.key", ".fairpool/lock", ".fairpool/kept")
    assert {folder / place for place in places} <= written
    check_that_all_is_private(written)
    reward = reward_file(folder, "Party-0")
    predicted = tmp_path / "predicted.csv"
    done = run_under_umask(
        umask, "predict", reward, "--data", folder / "test.csv", "--out", predicted
    )
    assert done.returncode == 0, done.stderr
    expected = 0o600 if umask == "077" else 0o644  # a party's own, but for nobody else to change
    assert stat.S_IMODE(predicted.stat().st_mode) == expected


@pytest.mark.parametrize("name", ["9" * 40, "²", "1", "x"])
def test_a_folder_of_any_name_beside_the_output_does_not_lose_it(tmp_path, name):
    beside = tmp_path / f".out.partial-{name}"
    beside.mkdir()
    write(FILES, tmp_path / "out")
    assert (tmp_path / "out" / "operator" / "values.csv").read_bytes() == b"1"
    assert beside.exists() == (name != "9" * 40)  # no process can have so large a number


def test_a_link_that_looks_like_a_leftover_has_nothing_removed_behind_it(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    for number in (99999999, os.getpid()):
        (tmp_path / f".out.partial-{number}").symlink_to(tmp_path / "precious")
    with pytest.raises(DataError, match="out: cannot be written"):
        write(FILES, tmp_path / "out")
    (tmp_path / f".out.partial-{os.getpid()}").unlink()
    write(FILES, tmp_path / "out")
    assert (tmp_path / "precious" / "thesis.txt").read_text() == "years of work"
