"""A release that is killed, and the next run: nothing is lost, released twice or left behind."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.errors import LedgerError
from tests.support.consortia import Consortium, numbers
from tests.support.projects import COMMAND, fairpool

ROOT = Path(__file__).parents[3]


def killed_everywhere(folder, before, every):
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.round_kills", folder, before, str(every)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def states_before(tmp_path):
    """A collaboration before its first round, and one before its second."""
    new = tmp_path / "new"
    tables = {"A": numbers(40, 1), "B": numbers(40, 2, 0.5)}
    Consortium(folder=new, tables=tables).write()
    second = tmp_path / "second"
    shutil.copytree(new, second)
    consortium = Consortium(folder=second, tables=dict(tables))
    consortium.next_round()
    consortium.tables["A"] = pa.concat_tables([tables["A"], numbers(30, 3)])
    consortium.rho = 0.2
    consortium.write()
    return new, second


@pytest.mark.parametrize(
    "every", [(20, 6), pytest.param((1, 1), marks=pytest.mark.soak)], ids=["some", "all"]
)
def test_a_release_killed_anywhere_is_finished_or_undone_by_the_next_run(tmp_path, every):
    """At changes of the disk with a number that `every` divides, of either round, and at all that
    matter most.
    """
    (tmp_path / "place").mkdir()
    for number, before in enumerate(states_before(tmp_path), 1):
        *killed, through = killed_everywhere(tmp_path / "place", before, every[number - 1])
        assert len(killed) >= 7
        # The child got through, and the next run was another round.
        assert through["rounds"] == [*range(1, number + 2)]
        kinds = set()
        for state in killed:
            assert state["ok"], state["change"]
            # Either it was undone, and this run made the round, or finished, and this is the next.
            assert state["rounds"] in ([*range(1, number + 1)], [*range(1, number + 2)])
            last = state["rounds"][-1]
            assert state["folders"] == [f"{one:04d}" for one in range(1, last + 1)]
            assert state["latest"] == f"rounds/{last:04d}\n"
            kinds.update(state["kinds"])
            for path, model in state["models"].items():
                # The noise is that of the rows: the same models as without any killing.
                assert model["weights"] == through["models"][path]["weights"], state["change"]
                assert model["head"] == "run"
            if before.name == "second":
                assert state["fingerprint"] == through["fingerprint"]
        assert kinds == {"run", "intent", "release", "undone"}


def test_of_two_runs_at_once_one_is_refused(tmp_path):
    tables = {"A": numbers(40, 1), "B": numbers(40, 2, 0.5)}
    consortium = Consortium(folder=tmp_path, tables=tables)
    consortium.write()
    with one_at_a_time(tmp_path):
        done = fairpool("run", tmp_path, "--quiet")
        assert done.returncode == 2
        assert "another" in done.stderr
        with pytest.raises(LedgerError, match="another"), one_at_a_time(tmp_path):
            pass
    assert not (tmp_path / "ledger.jsonl").exists()
    assert not (tmp_path / "rounds").exists()
    assert fairpool("run", tmp_path, "--quiet").returncode == 0


@pytest.mark.soak
def test_of_two_processes_at_once_each_makes_a_round_or_is_refused(tmp_path):
    tables = {"A": numbers(40, 1), "B": numbers(40, 2, 0.5)}
    consortium = Consortium(folder=tmp_path, tables=tables)
    consortium.write()
    done = 0
    for _ in range(3):
        command = [COMMAND, "run", tmp_path, "--quiet"]
        started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in started:
            _, told = process.communicate()
            assert process.returncode in (0, 2), told
            assert process.returncode == 0 or "another run is at work" in told
            done += process.returncode == 0
        assert verify_folder(tmp_path).ok
        assert [body["round"] for body in consortium.releases()] == [*range(1, done + 1)]
    assert done >= 3
