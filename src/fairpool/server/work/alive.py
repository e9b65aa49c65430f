"""Which workers live: each says so now and then, whatever it is at work on."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from sqlalchemy import and_, delete, or_, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Job, JobState, WorkerSeen
from fairpool.server.work import queue

SIGNS = 3
"""So many signs of life a worker gives within a lease."""

MISSED_LEASES = 2
"""Whoever was not seen for so many leases does not live."""

FORGOTTEN = timedelta(days=1)
"""A worker that died is remembered for so long."""

log = structlog.get_logger("fairpool.worker")


@contextmanager
def seen(settings: Settings, database: Database, name: str) -> Iterator[None]:
    """Have a worker be seen for as long as this lasts.

    Args:
        settings: Of the service.
        database: Of the service.
        name: The worker's; no other one has it.
    """
    over = threading.Event()

    def tell() -> None:
        while True:
            try:
                note(database, name)
            except DBAPIError as error:
                problem = str(error.orig).partition("\n")[0]
                log.warning("the database does not answer", problem=problem)
            if over.wait(settings.lease_seconds / SIGNS):
                return

    thread = threading.Thread(target=tell, name=f"seen {name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        _forget(database, name)


def note(database: Database, name: str) -> None:
    """Write down that a worker lives now.

    Args:
        database: Of the service.
        name: The worker's.
    """
    with database.transaction() as session:
        time = queue.clock(session)
        session.merge(WorkerSeen(name=name, seen=time))
        session.execute(delete(WorkerSeen).where(WorkerSeen.seen < time - FORGOTTEN))


def _forget(database: Database, name: str) -> None:
    try:
        with database.transaction() as session:
            session.execute(delete(WorkerSeen).where(WorkerSeen.name == name))
    except DBAPIError as error:
        log.warning("the database does not answer", problem=str(error.orig).partition("\n")[0])


def is_any_alive(session: Session, settings: Settings) -> bool:
    """Whether a worker was seen lately, or holds a job: those of an older version only do that.

    Args:
        session: Open.
        settings: How long a lease is.
    """
    time = queue.clock(session)
    lately = time - timedelta(seconds=MISSED_LEASES * settings.lease_seconds)
    of_seen = select(WorkerSeen.name).where(WorkerSeen.seen > lately)
    holds = and_(Job.state == JobState.RUNNING.value, Job.leased_until > time)
    wanted = select(or_(of_seen.exists(), select(Job.id).where(holds).exists()))
    return bool(session.scalar(wanted))
