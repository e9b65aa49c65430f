"""Folders for parties, whatever they are called."""

import os

import pytest

from fairpool.consortium.folders import folder_names
from tests.support.projects import fairpool, project, round_folder

NAMES = {
    "mathematical": "𝒜" * 90,
    "rare Chinese": "𠀀" * 90,
    "emoji": "😀" * 90,
    "three bytes": "漢" * 100,
    "mixed": "a" + "𠀀" * 99,
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_folder_name_is_short_in_bytes_too(tmp_path, name):
    folders = folder_names([name, name.upper(), f"{name[:-1]}x", "x"])
    assert len(set(folders)) == 4
    for folder in folders:
        assert len(os.fsencode(folder)) <= 255
        (tmp_path / folder).mkdir()


def test_names_that_fit_are_cut_as_ever():
    assert folder_names(["a" * 100, "Hospital A"]) == ["a" * 80, "Hospital-A"]
    assert folder_names(["ü" * 100]) == ["ü" * 80]


def test_a_party_with_a_name_of_four_byte_letters_takes_part(tmp_path):
    """The charts, and then the folder, failed after the whole run."""
    folder = project(tmp_path)
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace("Party 0", "𠀀" * 90))
    done = fairpool("run", folder)
    assert done.returncode == 0, done.stderr
    assert (round_folder(folder) / "parties" / ("𠀀" * 57) / "letter.html").exists()
    report = (round_folder(folder) / "operator" / "report.html").read_text()
    assert "𠀀" * 90 in report
