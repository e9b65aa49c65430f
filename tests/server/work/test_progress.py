import threading
import time

import pytest
from sqlalchemy import text

from fairpool.server.refused import RefusedError
from fairpool.server.store.tables import Job
from fairpool.server.work import queue
from fairpool.server.work.progress import CancelledError, Hold, StoppingError
from tests.server.work.test_queue import queued

LONG = 60.0


@pytest.fixture
def taken(database):
    queued(database)
    return queue.take(database, "w", LONG)


def job(database, taken):
    with database.reading() as session:
        return session.get_one(Job, taken.id)


def until(condition):
    """Wait for what another thread does."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def raises(error, hold):
    """Whether the hold says so by now."""

    def check():
        try:
            hold("working")
        except error:
            return True
        return False

    return check


def test_what_is_done_is_told_and_the_lease_moved_on(database, taken):
    before = job(database, taken).leased_until
    with Hold(database, taken, 0.9, threading.Event()) as hold:
        until(lambda: hold("valuing", 3, 8) is None and job(database, taken).done == 3)
        until(lambda: job(database, taken).leased_until != before)
        hold.check()
    found = job(database, taken)
    assert (found.stage, found.done, found.total) == ("valuing", 3, 8)


def test_who_computes_is_told_within_a_second_that_it_was_cancelled(database, taken):
    with Hold(database, taken, LONG, threading.Event()) as hold:
        hold("working")
        with database.transaction() as session:
            queue.cancel(session, session.get_one(Job, taken.id))
        until(raises(CancelledError, hold))


def test_a_job_that_was_cancelled_before_it_was_taken_again_does_not_begin(database):
    queued(database)
    dead = queue.take(database, "dead", -1.0)
    with database.transaction() as session:
        queue.cancel(session, session.get_one(Job, dead.id))
    taken = queue.take(database, "w", LONG)
    with (
        Hold(database, taken, LONG, threading.Event()) as hold,
        pytest.raises(CancelledError, match=r"^$"),
    ):
        hold("working")


def test_who_lost_the_job_is_told(database):
    queued(database)
    late = queue.take(database, "late", -1.0)
    queue.take(database, "other", LONG)
    with Hold(database, late, LONG, threading.Event()) as hold:
        until(raises(queue.LeaseLostError, hold))


def test_a_worker_that_is_to_end_stops(database, taken):
    stop = threading.Event()
    with Hold(database, taken, LONG, stop) as hold:
        hold("working")
        stop.set()
        with pytest.raises(StoppingError, match=r"^$"):
            hold("working")


def test_before_what_cannot_be_taken_back_the_database_is_asked(database, taken):
    with Hold(database, taken, LONG, threading.Event()) as hold:
        with database.transaction() as session:
            queue.cancel(session, session.get_one(Job, taken.id))
        with pytest.raises(CancelledError, match=r"^$"):
            hold.make_final()
    assert not job(database, taken).is_final


def test_what_cannot_be_taken_back_is_not_said_to_be_stopped(database, taken):
    with Hold(database, taken, LONG, threading.Event()) as hold:
        hold.make_final()
        with (
            database.transaction() as session,
            pytest.raises(RefusedError, match="cannot be stopped any longer"),
        ):
            queue.cancel(session, session.get_one(Job, taken.id))
        hold.check()
    found = job(database, taken)
    assert (found.is_final, found.cancel) == (True, False)


def test_a_hold_that_could_not_be_moved_on_in_time_is_none(database, taken):
    """The database is there again, but nobody can know who took the job meanwhile."""
    with database.transaction() as session:
        session.execute(text("ALTER TABLE jobs RENAME TO gone"))
    try:
        with Hold(database, taken, 0.6, threading.Event()) as hold:
            until(raises(queue.LeaseLostError, hold))
    finally:
        with database.transaction() as session:
            session.execute(text("ALTER TABLE gone RENAME TO jobs"))
