from concurrent.futures import ThreadPoolExecutor

import pytest

from fairpool.server.refused import RefusedError
from fairpool.server.store.tables import Collaboration, Job, JobKind, JobState
from fairpool.server.work import queue
from tests.server import given

LONG = 60.0
OVER = -1.0
"""A lease that ends before it begins, as that of a worker which has died."""


def queued(database, kind=JobKind.CHECK, count=1, round_=None):
    """The names of new jobs."""
    with database.transaction() as session:
        round_ = round_ or given.round_of(session)
        asked_by = session.get_one(Collaboration, round_.collaboration_id).created_by
        jobs = [queue.enqueue(session, **given.words(round_, kind, asked_by)) for _ in range(count)]
        return [job.id for job in jobs]


def beside_a_person(database, end):
    with database.transaction() as session:
        given.person(session, "of the dead")
        end(session)


def job(database, name):
    with database.reading() as session:
        return session.get_one(Job, name)


def test_the_oldest_is_taken_first_and_each_once(database):
    names = queued(database, count=3)
    taken = [queue.take(database, "w", LONG).id for _ in names]
    assert taken == names
    assert queue.take(database, "w", LONG) is None


def test_who_takes_only_some_kinds_leaves_the_others(database):
    [check], [preview] = queued(database), queued(database, JobKind.PREVIEW)
    assert queue.take(database, "w", LONG, {JobKind.PREVIEW}).id == preview
    assert queue.take(database, "w", LONG, {JobKind.PREVIEW}) is None
    assert queue.take(database, "w", LONG, {JobKind.CHECK}).id == check


def test_many_workers_at_once_take_each_job_once(database):
    names = queued(database, count=12)

    def all_i_get(worker):
        taken = []
        while (one := queue.take(database, str(worker), LONG)) is not None:
            taken.append(one.id)
        return taken

    with ThreadPoolExecutor(6) as pool:
        taken = [name for names in pool.map(all_i_get, range(6)) for name in names]
    assert sorted(taken) == sorted(names)


def test_a_collaboration_has_one_computation_at_a_time_and_any_number_of_checks(database):
    with database.transaction() as session:
        round_ = given.round_of(session)
    queued(database, JobKind.CHECK, 2, round_)
    queued(database, JobKind.PREVIEW, 1, round_)
    with pytest.raises(RefusedError, match="being computed for this collaboration already"):
        queued(database, JobKind.RELEASE, 1, round_)
    queued(database, JobKind.PREVIEW)  # another's


def test_a_refused_job_takes_nothing_else_of_the_transaction_with_it(database):
    with database.transaction() as session:
        round_ = given.round_of(session)
    queued(database, JobKind.PREVIEW, 1, round_)
    with database.transaction() as session:
        somebody = given.person(session)
        with pytest.raises(RefusedError, match="already"):
            queue.enqueue(session, **given.words(round_, JobKind.PREVIEW, somebody.id))
        round_ = given.round_of(session)
    queued(database, JobKind.PREVIEW, 1, round_)


def test_the_job_of_a_dead_worker_is_taken_again_and_the_dead_one_writes_nothing(database):
    [name] = queued(database)
    dead = queue.take(database, "dead", OVER)
    alive = queue.take(database, "alive", LONG)
    assert (alive.id, alive.fence, alive.tries) == (name, dead.fence + 1, 2)
    with pytest.raises(queue.LeaseLostError, match="no longer held under number 1"):
        queue.beat(database, dead, LONG)
    with pytest.raises(queue.LeaseLostError, match="number 1"):
        queue.tell(database, dead, "I am alive")
    for end in (
        lambda session: queue.finish(session, dead, {"of": "the dead"}),
        lambda session: queue.fail(session, dead, "the dead failed"),
        lambda session: queue.cancelled(session, dead),
        lambda session: queue.put_back(session, dead),
    ):
        with pytest.raises(queue.LeaseLostError, match="number 1"):
            beside_a_person(database, end)
    found = job(database, name)
    assert (found.state, found.worker, found.stage) == ("running", "alive", "")
    assert found.result == {}
    with database.reading() as session:
        assert session.query(given.Person).filter_by(name="of the dead").count() == 0
    with database.transaction() as session:
        queue.finish(session, alive, {"of": "the living"})
    assert job(database, name).result == {"of": "the living"}


def test_what_has_ended_is_not_written_again(database):
    queued(database)
    taken = queue.take(database, "w", LONG)
    with database.transaction() as session:
        queue.fail(session, taken, "no such file; give another")
    with pytest.raises(queue.LeaseLostError, match="no longer"), database.transaction() as session:
        queue.finish(session, taken, {})
    found = job(database, taken.id)
    assert (found.state, found.problem) == ("failed", "no such file; give another")
    assert found.ended is not None


def test_a_beat_keeps_a_job(database):
    queued(database)
    taken = queue.take(database, "w", OVER)
    assert queue.beat(database, taken, LONG) is False
    assert queue.take(database, "other", LONG) is None


def test_what_a_worker_tells_is_there_for_all_to_see(database):
    [name] = queued(database)
    taken = queue.take(database, "w", LONG)
    queue.tell(database, taken, "valuing " + "x" * 300, 3, 8)
    found = job(database, name)
    assert (found.stage, found.done, found.total) == (("valuing " + "x" * 300)[:200], 3, 8)


def test_a_job_that_waits_is_cancelled_at_once(database):
    [name] = queued(database)
    with database.transaction() as session:
        assert queue.cancel(session, session.get_one(Job, name))
    assert job(database, name).state == JobState.CANCELLED
    assert queue.take(database, "w", LONG) is None


def test_a_worker_is_told_that_its_job_is_to_stop(database):
    [name] = queued(database)
    taken = queue.take(database, "w", OVER)
    with database.transaction() as session:
        assert not queue.cancel(session, session.get_one(Job, name))
    assert queue.beat(database, taken, OVER) is True
    assert queue.take(database, "after it died", LONG).is_cancelled


def test_a_job_that_is_given_back_counts_no_try(database):
    queued(database)
    first = queue.take(database, "w", LONG)
    with database.transaction() as session:
        queue.put_back(session, first)
    second = queue.take(database, "v", LONG)
    assert (second.fence, second.tries) == (2, 1)
