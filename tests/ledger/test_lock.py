"""One run at a time: others are refused or wait, and the dead hold nothing."""

import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fairpool.errors import LedgerError
from fairpool.ledger import exclusive

ROOT = Path(__file__).parents[2]


@contextmanager
def holder(folder):
    """Another process that holds the lock, and the number of a worker that it has forked."""
    words = [sys.executable, "-m", "tests.support.ledger_processes", "lock", str(folder)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        worker = int(process.stdout.readline())
        try:
            yield process, worker
        finally:
            process.kill()
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)


def test_another_run_is_refused_at_once_and_the_dead_hold_nothing(tmp_path):
    path = tmp_path / "lock"
    with holder(tmp_path) as (process, worker):
        text = (
            rf"{re.escape(str(path))}: another run is at work on this folder"
            rf" \(process {process.pid}, since 20\S+Z\); wait until it has finished"
        )
        with pytest.raises(LedgerError, match=text), exclusive(path):
            pass
        with pytest.raises(LedgerError, match=text), exclusive(path):
            pass
        process.kill()
        process.wait()
        # Its worker lives on, but has no part in the lock.
        os.kill(worker, 0)
        with exclusive(path):
            assert path.read_text().startswith(f"{os.getpid()} 20")
        assert path.read_text() == ""


def test_another_run_can_be_waited_for(tmp_path):
    path = tmp_path / "lock"
    with holder(tmp_path) as (process, _):
        entered = threading.Event()

        def wait():
            with exclusive(path, wait=True):
                entered.set()

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.2)
        assert not entered.is_set()
        process.stdin.write("\n")
        process.stdin.flush()
        assert entered.wait(30)
        thread.join()


def test_the_same_process_is_refused_as_well(tmp_path):
    path = tmp_path / "lock"
    with exclusive(path):
        with (
            pytest.raises(LedgerError, match=rf"another run is at work.*process {os.getpid()},"),
            exclusive(path),
        ):
            pass
        # The refusal did not let go of the lock.
        with pytest.raises(LedgerError, match="another run is at work"), exclusive(path):
            pass
    with exclusive(path):
        pass


def test_the_lock_is_let_go_after_an_error(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(RuntimeError, match="of the run"), exclusive(path):
        raise RuntimeError("of the run")
    with exclusive(path):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "17", "17 yesterday\n", "\x1b[2J 2026-03-01T09:30:00Z\n"])
def test_what_stands_in_the_file_is_shown_only_if_it_is_a_holders(tmp_path, text):
    path = tmp_path / "lock"
    with exclusive(path):
        path.write_text(text)
        with (
            pytest.raises(LedgerError, match="on this folder; wait until it has finished"),
            exclusive(path),
        ):
            pass


def test_a_link_or_a_missing_folder_is_refused(tmp_path):
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(LedgerError, match="is a link; remove it"), exclusive(tmp_path / "lock"):
        pass
    assert target.read_text() == "mine"
    with (
        pytest.raises(LedgerError, match=r"the lock cannot be opened \(No such file"),
        exclusive(tmp_path / "none/lock"),
    ):
        pass
