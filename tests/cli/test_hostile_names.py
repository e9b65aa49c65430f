"""Names that are orders to a terminal: on a real one, none of them reaches it."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import typer

from fairpool.cli.screen import Screen, screen
from tests.support.hostile import ESCAPE, EVERYTHING, FORGED, edited_reward
from tests.support.projects import (
    fairpool,
    fairpool_process,
    is_untouched,
    project,
    reward_file,
    round_folder,
)
from tests.support.terminals import OUR_SEQUENCES, lines_of, on_a_terminal


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = project(tmp_path_factory.mktemp("finished") / "p")
    assert fairpool("run", folder).returncode == 0
    return folder


def check_that_nothing_is_obeyed(output, *ours):
    """Only rich's own sequences, no line that the text forges, and no sign that cannot be seen."""
    plain = OUR_SEQUENCES.sub(b"", output).replace(b"\r", b"").decode()
    assert "\x1b" not in plain
    assert [sign for sign in plain if not sign.isprintable() and sign != "\n"] == []
    assert "No problem found." not in lines_of(output)
    for line in ours:
        assert line in plain


def test_the_name_of_a_partys_file_is_refused_and_written_out(tmp_path):
    folder = project(tmp_path / "p")
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace('"p0.csv"', '"north"'))
    (folder / "north").mkdir()
    shutil.move(folder / "p0.csv", folder / "north" / f"a{EVERYTHING}.csv")
    for command in (["check", folder], ["run", folder]):
        code, output = on_a_terminal(*command, columns=250)
        assert code == 2
        check_that_nothing_is_obeyed(
            output, 'party "Party 0": the file name', "has a sign that cannot be shown; rename it"
        )
    assert is_untouched(folder)
    as_json = fairpool_process("check", folder, "--json")
    assert as_json.returncode == 2
    [problem] = json.loads(as_json.stdout)["errors"]
    assert problem.isprintable()
    check_that_nothing_is_obeyed(as_json.stdout.encode())


def test_a_file_name_that_is_no_text_is_refused_before_the_run(tmp_path):
    folder = project(tmp_path / "p")
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace('"p0.csv"', '"p0*.csv"'))
    os.rename(folder / "p0.csv", os.fsencode(folder) + b"/p0\xff.csv")
    for options in ([], ["--json"]):
        done = fairpool_process("run", folder, *options)
        assert done.returncode == 2
        said = done.stdout + done.stderr
        assert "the file name 'p0\\udcff.csv' has a sign that cannot be shown" in said.replace(
            "\\\\", "\\"
        )
        assert "unexpected" not in said


def test_a_file_of_another_owner_cannot_forge_a_line_of_the_hashes(tmp_path):
    """A newline in a name would begin a line of its own, of any content."""
    folder = project(tmp_path / "p")
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace('"p0.csv"', '"north"'))
    (folder / "north").mkdir()
    shutil.move(folder / "p0.csv", folder / "north" / f"a.csv\n{'0' * 64}  p1.csv")
    done = fairpool("run", folder, "--quiet")
    assert done.returncode == 2
    assert is_untouched(folder)


def test_the_hashes_of_names_with_a_backslash_are_those_of_sha256sum(tmp_path):
    folder = project(tmp_path / "p")
    text = (folder / "collaboration.toml").read_text()
    (folder / "collaboration.toml").write_text(text.replace('"p0.csv"', '"p0*.csv"'))
    shutil.move(folder / "p0.csv", folder / "p0\\new.csv")
    assert fairpool("run", folder, "--quiet").returncode == 0
    hashes = round_folder(folder) / "operator" / "inputs.sha256"
    assert len(hashes.read_text().splitlines()) == 4
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", hashes],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.count(": OK") == 4


def test_what_a_reward_file_says_is_shown_and_not_obeyed(finished, tmp_path):
    reward = reward_file(finished, "Party-1")
    said = f"A{EVERYTHING}"
    hostile = edited_reward(reward, tmp_path / "hostile.safetensors", party=said)
    code, output = on_a_terminal("inspect", hostile)
    # A file that says something else than what was written may be refused; it is shown in neither.
    assert code in (0, 2)
    check_that_nothing_is_obeyed(output)
    done = fairpool_process("inspect", hostile, "--json")
    check_that_nothing_is_obeyed(done.stdout.encode())
    if code == 0:
        assert json.loads(done.stdout)["reward for"] == said
    check_that_nothing_is_obeyed(
        on_a_terminal("predict", hostile, "--data", finished / "test.csv")[1]
    )


def test_what_a_reward_predicts_is_shown_and_not_obeyed(finished, tmp_path):
    reward = reward_file(finished, "Party-1")
    said = f"y{EVERYTHING}"
    hostile = edited_reward(reward, tmp_path / "hostile.safetensors", encoding={"target": said})
    for arguments in (
        ["inspect", hostile],
        ["predict", hostile, "--data", finished / "test.csv"],
        ["predict", hostile, "--data", finished / "test.csv", "--json"],
    ):
        check_that_nothing_is_obeyed(on_a_terminal(*arguments)[1])


def test_blanks_cannot_push_a_text_to_the_beginning_of_a_line(finished, tmp_path):
    """Nothing but printable signs: a terminal of 80 columns breaks the line where it is full."""
    reward = reward_file(finished, "Party-1")
    said = "A" + " " * 70 + "worth:            1e+09 nats of information"
    hostile = edited_reward(reward, tmp_path / "hostile.safetensors", party=said)
    _, output = on_a_terminal("inspect", hostile)
    worths = [line for line in lines_of(output) if line.startswith("worth:")]
    assert [line for line in worths if "1e+09" in line] == []


def test_an_argument_that_a_shell_expanded_is_shown_and_not_obeyed(tmp_path):
    (tmp_path / f"x{ESCAPE}.safetensors").write_text("no reward")
    (tmp_path / "a.safetensors").write_text("no reward")
    both = sorted(tmp_path.iterdir())
    for arguments in ([both[1]], both, [tmp_path / f"x{ESCAPE}.safetensors" / "below"]):
        code, output = on_a_terminal("inspect", *arguments)
        assert code == 2
        check_that_nothing_is_obeyed(output)


@pytest.mark.parametrize(
    "error",
    [
        OSError(5, "broken", f"a{ESCAPE}{FORGED}"),
        RuntimeError(f"a{ESCAPE}{FORGED}"),
        KeyboardInterrupt(f"a{ESCAPE}{FORGED}"),
    ],
)
def test_errors_of_any_kind_are_shown_in_one_line(capsys, error):
    with pytest.raises(typer.Exit, match=r"2|130"), screen(quiet=False, as_json=False):
        raise error
    check_that_nothing_is_obeyed(capsys.readouterr().err.encode())


def test_a_disk_that_fails_is_an_error_for_programs_too(capsys):
    with pytest.raises(typer.Exit, match="2"), screen(quiet=False, as_json=True):
        raise OSError(5, "broken", "a.csv")
    assert json.loads(capsys.readouterr().out) == {"errors": ["a.csv: broken"]}


def test_what_is_said_is_said_as_it_is(capsys):
    """Neither markup nor names of pictures mean anything in a name."""
    Screen(quiet=False, as_json=False).say("[red] :skull: \x1b[31m")
    assert capsys.readouterr().out == "[red] :skull: \\x1b[31m\n"


SHOW = """
import sys
from fairpool.cli.screen import Screen
from fairpool.notes import Note
text = sys.argv[1]
show = Screen(quiet=False, as_json=False)
show.say(text)
show.describe({"reward for": text, "worth": "1 nat"})
show.warn([Note(code="x", text=text)])
with show.progress() as progress:
    for done in range(3):
        progress(text, done, 3)
Screen(quiet=False, as_json=True).give({text: text})
"""


def test_the_screen_shows_any_text_and_obeys_none():
    blanks = "A" + " " * 70 + "worth:      1e+09 nats"
    for text in (EVERYTHING, blanks):
        code, output = on_a_terminal("-c", SHOW, text, program=sys.executable)
        assert code == 0
        check_that_nothing_is_obeyed(output)
        described = OUR_SEQUENCES.sub(b"", output).decode().split("reward for:")[1]
        entries = [line for line in described.split("\r\n") if line.startswith("worth:")]
        assert entries[0].split() == ["worth:", "1", "nat"]


def test_signs_of_other_scripts_are_shown_as_they_are(tmp_path):
    folder = project(tmp_path / "p")
    names = ["Hôpital n°\u00a05", "بیمارستان\u200cها", "病院\u3000北 👩\u200d⚕️"]
    text = (folder / "collaboration.toml").read_text()
    for number, name in enumerate(names):
        shutil.move(folder / f"p{number}.csv", folder / f"{name}.csv")
        text = text.replace(f'"p{number}.csv"', f'"{name}.csv"')
        text = text.replace(f'"Party {number}"', f'"{name}"')
    (folder / "collaboration.toml").write_text(text)
    done = fairpool("run", folder)
    assert done.returncode == 0, done.stderr
    for name in names:
        assert name in done.stdout
        assert f"  {name}.csv\n" in (round_folder(folder) / "operator/inputs.sha256").read_text()
