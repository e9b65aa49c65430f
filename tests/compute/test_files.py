"""Files that are there as a whole or not at all, and who may read them."""

import os
import stat

import pytest

from fairpool.compute.files import (
    READABLE,
    create,
    half_written,
    make_private_folder,
    write_atomically,
)
from fairpool.errors import RewardFileError


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["000", "022", "077"])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_private_unless_it_is_said_to_be_readable(tmp_path, umask):
    write_atomically(tmp_path / "private", b"1")
    write_atomically(tmp_path / "readable", b"1", mode=READABLE)
    assert mode_of(tmp_path / "private") == 0o600
    assert mode_of(tmp_path / "readable") == 0o644 & ~umask


def test_folders_are_private_and_those_that_are_there_stay(tmp_path, umask):
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o755)
    make_private_folder(tmp_path / "there" / "new" / "deep")
    modes = [mode_of(tmp_path / "there" / name) for name in ("", "new", "new/deep")]
    assert modes == [0o755, 0o700, 0o700]


def test_a_link_is_replaced_and_what_it_stands_for_is_left_alone(tmp_path):
    (tmp_path / "precious").write_text("years of work")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "precious").read_text() == "years of work"
    assert (tmp_path / "link").read_bytes() == b"new"
    assert not (tmp_path / "link").is_symlink()


def test_nothing_is_made_where_there_is_something(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError, match="exists"):
        create(tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["x" * 250, "lacking/file", "file/below"])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, name):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(RewardFileError, match="cannot be written"):
        write_atomically(tmp_path / name, b"1")
    with pytest.raises(RewardFileError, match="is a folder; give a file's name"):
        write_atomically(tmp_path, b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_writer_left_is_found_and_nothing_else(tmp_path):
    for name in (".a.txt.0123abcd", "a.txt", ".a.txt.0123abc", ".hidden", "b.0123abcd"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".folder.0123abcd").mkdir()
    (tmp_path / ".link.0123abcd").symlink_to(tmp_path / "a.txt")
    assert [path.name for path in half_written(tmp_path)] == [".a.txt.0123abcd"]
    assert list(half_written(tmp_path / "nothing")) == []
