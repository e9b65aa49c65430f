"""A database that ends every connection in the middle of a job: nothing is lost or done twice."""

from contextlib import contextmanager
from itertools import count

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import DBAPIError

from fairpool.server.consortia import closing, rounds
from fairpool.server.store.database import Database
from fairpool.server.work import queue
from tests.server.conftest import fresh_postgres
from tests.server.work.computed import closed
from tests.server.work.worlds import expire_leases, releases, told, wrong


@pytest.fixture
def in_postgres(postgres):
    database = Database(fresh_postgres(postgres))
    database.migrate()
    yield database
    database.close()


@contextmanager
def statements(database, before_each):
    """Have something called, with its number, before each statement and each commit."""
    numbers = count()

    def hook(*_):
        before_each(next(numbers))

    hooks = [("before_cursor_execute", hook), ("commit", hook)]
    for name, function in hooks:
        event.listen(database.engine, name, function)
    try:
        yield
    finally:
        for name, function in hooks:
            event.remove(database.engine, name, function)


def end_all_connections(database):
    """As an administrator does, or a network that is gone for a moment."""
    engine = create_engine(database.engine.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    engine.dispose()


def work_off_at_last(made):
    """Worker after worker, until nothing is left to do."""
    for _ in range(5):
        try:
            made.work_off()
        except (DBAPIError, queue.LeaseLostError):
            expire_leases(made.database)
            continue
        return
    raise AssertionError("it never ends")


def cut_off_at(made, ask, *, every):
    """Ask for a job, and end all connections before one of its statements; for every so manieth.

    Returns:
        How many statements a job has.
    """
    database = made.database
    longest = 0
    for point in count(0, every):
        seen = []

        def before_each(number, point=point, seen=seen):
            seen.append(number)
            if number == point:
                end_all_connections(database)

        job = ask()
        with statements(database, before_each):
            work_off_at_last(made)
        assert made.job(job.id).state == "done", f"cut off before statement {point}"
        assert wrong(made.agreed.settings, database) == []
        longest = max(longest, len(seen))
        if point >= longest:
            return longest
    raise AssertionError(longest)


def check_all(tmp_path, database, every):
    made = closed(database, tmp_path)
    assert cut_off_at(made, lambda: made.act(rounds.preview), every=every) > 10
    asked = told(database, "preview-asked")
    assert told(database, "previewed") == asked
    # A release cannot be asked for twice: each cut is in a round of its own.

    def next_release():
        if made.state == "open":
            made.act(closing.close)
            made.preview()
        return made.act(rounds.release, made.rounds()[-1].preview_id)

    assert cut_off_at(made, next_release, every=every) > 10
    numbers = [one.number for one in made.rounds()]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert len(releases(database)) == told(database, "released") == len(numbers) - 1


def test_connections_that_end_in_the_middle_lose_nothing(tmp_path, in_postgres):
    check_all(tmp_path, in_postgres, every=12)


@pytest.mark.soak
def test_connections_that_end_at_any_statement_lose_nothing(tmp_path, in_postgres):
    check_all(tmp_path, in_postgres, every=1)
