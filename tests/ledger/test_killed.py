"""Real processes, killed before every call that changes something, or within a write."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fairpool.consortium.writing import write
from fairpool.ledger import Ledger, begin, verify
from tests.support.ledger_processes import BODY, FILES, HASHES
from tests.support.ledgers import KEY, ledger_of

ROOT = Path(__file__).parents[2]
IN_PLACE = {f"rounds/0001/{path}": digest for path, digest in HASHES.items()}


def processes(*words):
    """What the processes leave, one line for each."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.ledger_processes", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def before(tmp_path, name, records):
    folder = tmp_path / name
    folder.mkdir()
    if records:
        ledger_of(folder / "ledger.jsonl", records)
    return folder


def check_always(states):
    """What holds wherever a process was killed."""
    *killed, through = states
    assert through["code"] == 0
    for state in killed:
        assert state["code"] in (-signal.SIGKILL, -signal.SIGXFSZ)
    for state in states:
        assert state.get("ok", True), state  # valid before anybody has put anything right
        assert state.get("mode", 0o600) == 0o600
        assert not state["again"]
        assert state.get("ok at last", True)
        assert state.get("next", state["after"])[: len(state["after"])] == state["after"]


def test_killed_before_any_call_of_an_append(root, tmp_path):
    torn = before(tmp_path, "torn", 2)
    with (torn / "ledger.jsonl").open("ab") as file:
        file.write(b'{"body":{')
    befores = {before(tmp_path, "empty", 0): 0, before(tmp_path, "full", 2): 2, torn: 2}
    all_states = processes("calls append", root, *befores)
    for folder, records in befores.items():
        states = [state for state in all_states if state["from"] == folder.name]
        check_always(states)
        # Opened to read, opened to write, locked, written, flushed, and the folder as well.
        assert {"open", "flock", "write", "fsync", "close"} <= {s["call"] for s in states}
        counts = [len(state["kinds"]) for state in states]
        assert counts == sorted(counts)
        assert set(counts) == {records, records + 1}
        written = [state["call"] for state in states].index("write")
        assert counts[written] == records
        assert counts[written + 1] == records + 1


def test_killed_at_any_byte_of_an_append(root, tmp_path):
    folder = before(tmp_path, "full", 2)
    size = (folder / "ledger.jsonl").stat().st_size
    states = processes("bytes append", root, folder)
    check_always(states)
    line = states[-1]["size"] - size
    assert len(states) > 30
    for state in states:
        added = state["size"] - size
        # A line that lacks its newline alone is whole, and is kept.
        assert len(state["kinds"]) == (3 if added >= line - 1 else 2)
        assert state["torn"] == (0 < added < line)


def test_killed_before_any_call_of_a_release(root, tmp_path):
    states = processes("calls release", root, before(tmp_path, "full", 1))
    check_always(states)
    assert {"rename", "mkdir", "write", "flush", "fsync"} <= {state["call"] for state in states}
    outcomes = []
    for state in states:
        assert state["kinds"][0] == "note"
        if state["kinds"] == ["note"]:
            outcomes.append("not begun")
            assert state["after"] == ["note"]
            assert state["files"] == {}
        elif state["after"] == ["note", "intent", "undone"]:
            outcomes.append("undone")
            assert state["finished"] is False
            assert state["files"] == {}
        else:
            outcomes.append("released")
            assert state["after"] == ["note", "intent", "release"]
            assert state["files"] == IN_PLACE
            assert (state["finished"] is None) == (state["kinds"] == state["after"])
    # In this order, and each of them somewhere.
    assert list(dict.fromkeys(outcomes)) == ["not begun", "undone", "released"]
    in_place = [state["call"] for state in states].index("rename")
    assert outcomes[in_place : in_place + 2] == ["undone", "released"]


def test_killed_before_any_call_of_a_recovery(root, tmp_path):
    begun = before(tmp_path, "begun", 0)
    begin(Ledger.open(begun / "ledger.jsonl", KEY), BODY)
    partial = begun / "rounds/.0001.partial-99999999/a"
    partial.mkdir(parents=True)
    (partial / "model").write_bytes(b"half a mod")
    placed = before(tmp_path, "placed", 0)
    begin(Ledger.open(placed / "ledger.jsonl", KEY), BODY)
    write(FILES, placed / "rounds/0001")
    all_states = processes("calls recovery", root, begun, placed)
    states = [state for state in all_states if state["from"] == "begun"]
    check_always(states)
    assert {"unlink", "rmdir", "write"} <= {state["call"] for state in states}
    for state in states:
        assert state["after"] == ["intent", "undone"]
        assert state["files"] == {}

    states = [state for state in all_states if state["from"] == "placed"]
    check_always(states)
    for state in states:
        assert state["after"] == ["intent", "release"]
        assert state["files"] == IN_PLACE


def test_many_processes_that_write_at_once_lose_nothing(root):
    assert processes("many", root) == [0, 0, 0, 0]
    found = verify(root / "ledger.jsonl", KEY)
    assert found.ok
    bodies = [record.body for record in found.records]
    assert len(bodies) == 60
    for writer in range(4):
        numbers = [body["number"] for body in bodies if body["writer"] == writer]
        assert numbers == list(range(15))
