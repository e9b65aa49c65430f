"""Workers as processes: some are killed, one is told to end, and everything is done once."""

import signal
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from fairpool.server.consortia import rounds
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Event, Job
from fairpool.server.work import worker
from tests.server.agreed import csv_of, rows
from tests.server.conftest import fresh_postgres
from tests.server.work.computed import closed
from tests.server.work.worlds import releases, sqlite_in, wrong
from tests.support.projects import COMMAND, fairpool
from tests.support.service_worker import service_worker

ROOT = Path(__file__).parents[3]
LEASE = 3.0


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request, tmp_path):
    """A database that other processes find, too."""
    if request.param == "sqlite":
        database = sqlite_in(tmp_path / "server")
    else:
        database = Database(fresh_postgres(request.getfixturevalue("postgres")))
        database.migrate()
    yield database
    database.close()


def jobs(database):
    with database.reading() as session:
        return session.query(Job).order_by(Job.created).all()


def until(condition, seconds=120):
    """Wait for what other processes do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_of_three_workers_two_are_killed_and_everything_is_done_once(kept, tmp_path):
    collaborations = [closed(kept, tmp_path, f"c{number}-") for number in range(3)]
    settings = collaborations[0].agreed.settings
    with ExitStack() as stack:
        processes = [stack.enter_context(service_worker(settings, kept, LEASE)) for _ in range(3)]
        for process in processes[:2]:
            until(lambda process=process: is_stopped_with_job(process, collaborations, kept))
            process.kill()
        until(lambda: all_ended(kept))
        for made in collaborations:
            made.act(rounds.release, made.rounds()[0].preview_id)
        until(lambda: all_ended(kept))
        processes[2].send_signal(signal.SIGTERM)
        assert processes[2].wait(60) == 0
    assert {job.state for job in jobs(kept)} == {"done"}
    assert sum(job.tries > 1 for job in jobs(kept)) == 2
    for made in collaborations:
        assert made.rounds()[0].state == "released"
        with kept.reading() as session:
            mine = session.query(Event).filter_by(collaboration_id=made.agreed.id)
            told = [event.action for event in mine]
        assert told.count("previewed") == told.count("preview-asked")
        assert (told.count("released"), told.count("failed")) == (1, 0)
    assert len(releases(kept)) == 3
    assert wrong(settings, kept) == []


def is_stopped_with_job(process, collaborations, database):
    """Whether a worker stands still with a job in its hands; if there are none, there are more."""
    if all_ended(database):
        for made in collaborations:
            made.act(rounds.preview)
    if not has_job(process, database):
        return False
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    if has_job(process, database):
        return True
    process.send_signal(signal.SIGCONT)
    return False


def has_job(process, database):
    mine = f":{process.pid}:"
    return any(job.state == "running" and mine in job.worker for job in jobs(database))


def all_ended(database):
    return all(job.state not in ("queued", "running") for job in jobs(database))


def test_what_is_sent_is_looked_at_while_a_round_is_computed(sqlite, tmp_path, monkeypatch):
    busy, other = closed(sqlite, tmp_path, "a-"), closed(sqlite, tmp_path, "b-")
    other.act(rounds.reopen)
    busy.act(rounds.preview)
    sent = other.agreed.send(other.agreed.consortium.of_north, csv_of(rows(50, 7)))
    looked = []

    def computes(work):
        # Until the file was looked at, which is another thread's work.
        until(lambda: other.agreed.now(sent).state == "checked")
        looked.append(sent.id)
        raise worker.CancelledError

    monkeypatch.setitem(worker.STAGES, worker.JobKind.PREVIEW, computes)
    stop = threading.Event()
    running = threading.Thread(target=worker.run_worker, args=(busy.agreed.settings, sqlite, stop))
    running.start()
    until(lambda: all_ended(sqlite))
    stop.set()
    running.join(30)
    assert looked == [sent.id]


def test_the_command_works_until_it_is_told_to_end(tmp_path):
    database = sqlite_in(tmp_path / "server")
    made = closed(database, tmp_path)
    job = made.act(rounds.preview)
    with subprocess.Popen(
        [COMMAND, "worker", "--folder", str(tmp_path / "server")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert "Working for the service in" in process.stdout.readline()
        until(lambda: made.job(job.id).state == "done")
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Ended" in said
    assert "Traceback" not in errors
    assert [
        line for line in errors.splitlines() if "event=done" in line and f"job={job.id}" in line
    ]
    database.close()


def test_without_a_service_there_is_nothing_to_work_for(tmp_path):
    done = fairpool("worker", "--folder", tmp_path / "none")
    assert done.returncode == 2
    assert "there is no service; give its --folder, or start one: fairpool serve" in done.stderr
