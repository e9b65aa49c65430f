"""What a party runs, where Python has less than on Linux; and terminals that lack characters."""

import ast
import json
import os
import subprocess
import sys

import pytest

from tests.support.another_system import MODULES, TAKEN
from tests.support.pages import ROOT
from tests.support.party_machine import COMMANDS, ROWS, party_machine


@pytest.fixture(scope="module")
def party(tmp_path_factory):
    return party_machine(tmp_path_factory.mktemp("walk"))


def environment(party, **more):
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return os.environ | {"FAIRPOOL_HOME": str(party / "home"), "PYTHONPATH": path} | more


def test_a_party_needs_nothing_that_only_linux_has(party):
    with_linux = (party / "x.contribution").read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.another_system", json.dumps(COMMANDS)],
        cwd=party,
        env=environment(party),
        capture_output=True,
        text=True,
        check=False,
    )
    codes = [line for line in done.stdout.splitlines() if line.startswith("exit code")]
    assert codes == ["exit code 0"] * len(COMMANDS), (done.stdout, done.stderr)
    assert (party / "north.contribution").read_bytes() == with_linux
    assert len((party / "predictions.csv").read_text().splitlines()) == ROWS + 1
    assert (party / "another.key").is_file()


def test_what_is_taken_away_is_there_otherwise():
    """Else the test above would say nothing."""
    assert sum(hasattr(os, name) for name in TAKEN) > 15
    assert len(MODULES) == 6


def test_a_terminal_that_lacks_characters_is_shown_their_numbers(party):
    program = "from fairpool.cli import entry; entry()"
    done = subprocess.run(
        [sys.executable, "-c", program, *COMMANDS[-2]],
        cwd=party,
        env=environment(party, PYTHONIOENCODING="ascii", PYTHONUTF8="0"),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert r"\xb1" in done.stdout.decode("ascii")


def without_encoding(source):
    """The lines that read or write text in whatever encoding the system has."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given = len(node.args) + len(node.keywords)
            needed = {"read_text": 1, "write_text": 2}.get(node.func.attr)
            if needed is not None and given < needed:
                lines.append(node.lineno)
    return lines


def test_texts_are_read_and_written_as_utf8_whatever_the_system_says():
    """Python's default is the system's until 3.15, on Windows one of many."""
    assert without_encoding("path.read_text()\npath.write_text(text)") == [1, 2]
    assert without_encoding('path.read_text("utf-8")\npath.write_text(text, encoding=e)') == []
    for path in (ROOT / "src").rglob("*.py"):
        assert without_encoding(path.read_text(encoding="utf-8")) == [], path
