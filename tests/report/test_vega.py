"""The script that draws the report's live chart is made once, and kept."""

import stat
from importlib.metadata import version
from pathlib import Path

import pytest
import vl_convert

from fairpool.report import vega
from fairpool.report.vega import vega_script

SCRIPT = "let x = '</script>'; // ünlike any other\r\nlet y = 1;\n"


@pytest.fixture
def made(monkeypatch):
    """Every time that a script is made is noted here; what is made is short."""
    calls = []

    def make(snippet):
        calls.append(snippet)
        return SCRIPT

    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    return calls


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where scripts are kept, instead of in the user's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fairpool"


def script_of_a_new_process():
    vega_script.cache_clear()
    return vega_script()


@pytest.fixture(autouse=True)
def _forget():
    yield
    vega_script.cache_clear()


def test_what_is_kept_is_what_vl_convert_makes(folder):
    expected = vl_convert.javascript_bundle(None).replace("</script", "<\\/script")
    assert len(expected) > 500_000
    assert script_of_a_new_process() == expected
    assert script_of_a_new_process() == expected


def test_the_second_use_does_not_make_it_again(folder, made):
    first = script_of_a_new_process()
    assert first == SCRIPT.replace("</script", "<\\/script")
    assert script_of_a_new_process() == first
    assert len(made) == 1
    (file,) = folder.iterdir()
    assert version("vl-convert-python") in file.name
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_another_version_has_a_script_of_its_own(folder, made, monkeypatch):
    script_of_a_new_process()
    monkeypatch.setattr(vega, "version", lambda name: "99.0")
    script_of_a_new_process()
    assert len(made) == 2
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"x", b"// sha256 ", b"\xff\xfe\n"])
@pytest.mark.parametrize("where", ["all", "start", "end"])
def test_a_damaged_file_is_replaced(folder, made, damage, where):
    script = script_of_a_new_process()
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    damaged = {"all": damage, "start": damage + whole[1:], "end": whole[:-1] + damage}[where]
    file.write_bytes(damaged)
    assert script_of_a_new_process() == script
    assert len(made) == 2
    assert file.read_bytes() == whole
    assert script_of_a_new_process() == script
    assert len(made) == 2


def test_where_nothing_can_be_kept_it_is_made_each_time(tmp_path, made, monkeypatch):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(in_the_way))
    for count in (1, 2):
        assert "<\\/script" in script_of_a_new_process()
        assert len(made) == count
    assert in_the_way.read_text() == "not a folder"


def test_a_folder_in_the_files_place_is_no_error(folder, made):
    script = script_of_a_new_process()
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir()
    assert script_of_a_new_process() == script
    assert len(made) == 2


def test_a_folder_that_may_not_be_written_to_is_no_error(folder, made, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("fairpool.compute.files.create", refuse)
    assert "<\\/script" in script_of_a_new_process()
    assert list(folder.iterdir()) == []


def test_a_user_without_a_home_gets_no_folder_where_the_command_runs(tmp_path, made, monkeypatch):
    monkeypatch.setattr(vega, "user_cache_path", lambda *_, **__: Path("~/.cache/fairpool"))
    monkeypatch.chdir(tmp_path)
    assert "<\\/script" in script_of_a_new_process()
    assert list(tmp_path.iterdir()) == []
