"""Whoever works the queue off: takes a job, does it, says what came of it, takes the next.

Any number may be at work, in the service's own process, in others and on other machines, as long as
they share its folder and its database. One that is killed is replaced by any other.
"""

import os
import secrets
import socket
import threading
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from fairpool.errors import FairpoolError
from fairpool.server.consortia import rounds
from fairpool.server.mail.sender import keep_sending
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import JobKind
from fairpool.server.work import queue
from fairpool.server.work.alive import seen
from fairpool.server.work.checking import give_up
from fairpool.server.work.keeping import is_gone
from fairpool.server.work.progress import CancelledError, Hold, StoppingError
from fairpool.server.work.queue import LeaseLostError, Taken
from fairpool.server.work.stages import STAGES, Work

PAUSE = 0.5
"""Seconds between two looks for a job."""

CHECKS = frozenset({JobKind.CHECK})
ROUNDS = frozenset({JobKind.PREVIEW, JobKind.RELEASE})

log = structlog.get_logger("fairpool.worker")


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One that takes jobs.

    Attributes:
        settings: Of the service.
        database: Of the service.
        stop: Set when it is to end.
        jobs: How many workers on this machine compute.
        cluster: A Dask scheduler's address instead; None: this machine.
        name: For people to read.
    """

    settings: Settings
    database: Database
    stop: threading.Event
    jobs: int = 1
    cluster: str | None = None
    name: str = field(default_factory=lambda: _name())

    def work(self, kinds: Collection[JobKind]) -> None:
        """Do jobs of some kinds, one after the other, until it is to end."""
        while not self.stop.is_set():
            try:
                taken = queue.take(self.database, self.name, self.settings.lease_seconds, kinds)
            except DBAPIError as error:
                log.warning("the database does not answer", problem=_first_line(error))
                taken = None
            if taken is None:
                self.stop.wait(PAUSE)
            else:
                self._do(taken)

    def _do(self, taken: Taken) -> None:
        lease = self.settings.lease_seconds
        with _logged(taken), Hold(self.database, taken, lease, self.stop) as hold:
            work = Work(
                settings=self.settings,
                database=self.database,
                taken=taken,
                hold=hold,
                jobs=self.jobs,
                cluster=self.cluster,
            )
            try:
                do(work)
            except LeaseLostError:
                log.warning("another worker has the job")
            except DBAPIError as error:
                # Whoever takes it once the lease has ended begins with what is done already.
                log.warning("the database does not answer", problem=_first_line(error))


def run_worker(
    settings: Settings,
    database: Database,
    stop: threading.Event,
    cluster: str | None = None,
    jobs: int = 1,
) -> None:
    """Work until it is told to stop; computing rounds keeps neither files nor mail waiting.

    Args:
        settings: Of the service.
        database: With all its tables.
        stop: Set when it is to end; a job that it has then is put back.
        cluster: The address of a Dask scheduler whose workers compute; None: this machine.
        jobs: How many workers on this machine compute, without a cluster.
    """
    worker = Worker(settings=settings, database=database, stop=stop, jobs=jobs, cluster=cluster)
    beside = threading.Thread(target=worker.work, args=(CHECKS,), name="checks", daemon=True)
    beside.start()
    mail = threading.Thread(
        target=keep_sending, args=(settings, database, stop), name="mail", daemon=True
    )
    mail.start()
    with seen(settings, database, worker.name):
        worker.work(ROUNDS)
        beside.join()
        mail.join()


def _name() -> str:
    """Of this machine and this process, and of nobody else."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(3)}"


@contextmanager
def _logged(taken: Taken) -> Iterator[None]:
    """Every line of the log says which job it is about."""
    with structlog.contextvars.bound_contextvars(
        job=taken.id, kind=taken.kind.value, collaboration=taken.collaboration_id
    ):
        yield


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).partition("\n")[0]


def do(work: Work) -> None:
    """Do a job, and say what came of it.

    Args:
        work: The job, and what is needed for it.
    """
    taken = work.taken
    log.info("begun", tries=taken.tries)
    try:
        STAGES[taken.kind](work)
    except CancelledError:
        work.keep(lambda session: _cancelled(session, taken))
    except StoppingError:
        work.keep(lambda session: queue.put_back(session, taken))
    except LeaseLostError:
        raise
    except FairpoolError as error:
        folder = f"{work.folder}/"
        _fail(work, "\n".join(text.replace(folder, "") for text in error.problems))
    except DBAPIError as error:
        if is_gone(error):
            raise
        _fail(work, _unexpected(error))
    except Exception as error:
        _fail(work, _unexpected(error))
    else:
        log.info("done")


def _cancelled(session: Session, taken: Taken) -> None:
    queue.cancelled(session, taken)
    log.info("cancelled")
    if taken.kind in ROUNDS:
        rounds.stopped(session, taken, "cancelled")


def _fail(work: Work, problem: str) -> None:
    log.info("failed")  # the job has the problem, in which values of somebody's table may stand
    if work.taken.kind is JobKind.CHECK:
        give_up(work.settings, work.database, work.taken, problem)

    def record(session: Session) -> None:
        queue.fail(session, work.taken, problem)
        if work.taken.kind in ROUNDS:
            rounds.stopped(session, work.taken, "failed")

    work.keep(record)


def _unexpected(error: Exception) -> str:
    """What people are told of an error that nobody foresaw; the log has the rest under a number."""
    number = secrets.token_hex(4)
    log.error("unexpected", number=number, trace="".join(traceback.format_exception(error)))
    return (
        f"something went wrong here, number {number}; try again, and if it stays so, tell whoever"
        " runs this service the number"
    )
