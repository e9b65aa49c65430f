"""The queue of jobs: who has one holds it for a while only, and is known by a number.

A worker that takes a job has it until its lease ends, and moves that end on as long as it lives
(`beat`). Where it dies, another takes the job and gets a higher number, the fence. Whatever is
written for a job is written on the condition that the fence is still the same: a worker that was
thought dead and comes back writes nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.sql import Select

from fairpool.server.refused import RefusedError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Job, JobKind, JobState, Moment, now

__all__ = [
    "LeaseLostError",
    "Taken",
    "beat",
    "cancel",
    "cancelled",
    "clock",
    "enqueue",
    "fail",
    "finish",
    "is_cancelled",
    "make_final",
    "put_back",
    "take",
    "tell",
]

MOST_TRIES = 3
"""A job whose worker died as often is not tried again: it would take down every worker."""

LONGEST_STAGE = 200

ALL_KINDS = frozenset(JobKind)


class LeaseLostError(Exception):
    """Another worker has the job by now, or it has ended: whoever works on it stops."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A job that a worker holds.

    Attributes:
        id: The job's.
        kind: What is to be done.
        collaboration_id: For which collaboration.
        round_id: For which round.
        submission_id: For which submission; None: for the round.
        person_id: Who asked for it.
        worker: Who holds it.
        fence: Under which number.
        tries: How many workers took it, this one included, but for those that gave it back.
        is_cancelled: Whether somebody wanted it stopped before it was taken.
    """

    id: str
    kind: JobKind
    collaboration_id: str
    round_id: str
    submission_id: str | None
    person_id: str
    worker: str
    fence: int
    tries: int
    is_cancelled: bool


def enqueue(
    session: Session,
    *,
    collaboration_id: str,
    round_id: str,
    kind: JobKind,
    person_id: str,
    submission_id: str | None = None,
) -> Job:
    """Put a job at the end of the queue.

    Args:
        session: The open transaction: the job is there once that is.
        collaboration_id: For which collaboration.
        round_id: For which round.
        kind: What is to be done; of all but checks, a collaboration has one at a time.
        person_id: Who asks for it.
        submission_id: What is to be looked at, for a check.
    """
    job = Job(
        collaboration_id=collaboration_id,
        round_id=round_id,
        kind=kind.value,
        created_by=person_id,
        submission_id=submission_id,
    )
    try:
        with session.begin_nested():
            session.add(job)
    except IntegrityError as error:
        if not _is_second(error):
            raise
        raise RefusedError(
            "something is being computed for this collaboration already; wait until it is done, or"
            " cancel it"
        ) from None
    return job


def _is_second(error: IntegrityError) -> bool:
    """Whether a collaboration would have had two jobs at a time: each database says it its way."""
    text = str(error.orig)
    return "one_job_at_a_time" in text or "UNIQUE constraint failed: jobs.collaboration_id" in text


def take(
    database: Database,
    worker: str,
    lease_seconds: float,
    kinds: Collection[JobKind] = ALL_KINDS,
) -> Taken | None:
    """Take the oldest job that waits, or whose worker is thought dead; None: there is none.

    Args:
        database: Where the queue is.
        worker: Who takes it, for people to read.
        lease_seconds: So long it holds the job without a beat.
        kinds: Which jobs it takes.
    """
    with database.reading() as session:
        # Most of the time there is nothing, and whoever only reads keeps nobody waiting.
        if session.scalar(_free(session, kinds)) is None:
            return None
    with database.transaction() as session:
        job = session.scalar(_free(session, kinds).with_for_update(skip_locked=True))
        if job is None:
            return None
        time = clock(session)
        job.state = JobState.RUNNING.value
        job.fence += 1
        job.tries += 1
        job.worker = worker
        job.leased_until = time + timedelta(seconds=lease_seconds)
        job.started = job.started or time
        return Taken(
            id=job.id,
            kind=JobKind(job.kind),
            collaboration_id=job.collaboration_id,
            round_id=job.round_id,
            submission_id=job.submission_id,
            person_id=job.created_by,
            worker=worker,
            fence=job.fence,
            tries=job.tries,
            is_cancelled=job.cancel,
        )


def _free(session: Session, kinds: Collection[JobKind]) -> Select[Job]:
    """The oldest job that can be taken."""
    expired = and_(Job.state == JobState.RUNNING.value, Job.leased_until < clock(session))
    return (
        select(Job)
        .where(or_(Job.state == JobState.QUEUED.value, expired))
        .where(Job.kind.in_([kind.value for kind in kinds]))
        .order_by(Job.created, Job.id)
        .limit(1)
    )


def clock(session: Session) -> datetime:
    """The time, by one clock for all workers: those of several machines may disagree.

    Args:
        session: Open.
    """
    if session.get_bind().dialect.name == "sqlite":
        return now()
    return session.scalars(select(func.clock_timestamp(type_=Moment()))).one()


def beat(database: Database, taken: Taken, lease_seconds: float) -> bool:
    """Hold a job for longer.

    Args:
        database: Where the queue is.
        taken: The job.
        lease_seconds: So long from now on.

    Returns:
        Whether somebody wants it stopped.
    """
    with database.transaction() as session:
        _lengthen(session, taken, lease_seconds)
        return is_cancelled(session, taken)


def make_final(database: Database, taken: Taken, lease_seconds: float) -> bool:
    """Hold a job for longer, of which the rest cannot be taken back: nobody can cancel it then.

    Args:
        database: Where the queue is.
        taken: The job.
        lease_seconds: So long from now on.

    Returns:
        Whether somebody wants it stopped; then it is not final.
    """
    with database.transaction() as session:
        _lengthen(session, taken, lease_seconds)  # whoever cancels it meanwhile waits for that
        if is_cancelled(session, taken):
            return True
        write(session, taken, is_final=True)
        return False


def _lengthen(session: Session, taken: Taken, lease_seconds: float) -> None:
    write(session, taken, leased_until=clock(session) + timedelta(seconds=lease_seconds))


def is_cancelled(session: Session, taken: Taken) -> bool:
    """Whether somebody wants a job stopped; an error where it is no longer this worker's.

    Args:
        session: Open.
        taken: The job.
    """
    found = session.execute(
        select(Job.cancel)
        .where(Job.id == taken.id, Job.fence == taken.fence)
        .where(Job.state == JobState.RUNNING.value)
    ).one_or_none()
    if found is None:
        raise _lost(taken)
    return bool(found[0])


def tell(
    database: Database, taken: Taken, stage: str, done: int = 0, total: int | None = None
) -> None:
    """Say what is being done, and how much of it is done.

    Args:
        database: Where the queue is.
        taken: The job.
        stage: What is being done.
        done: How much of it.
        total: Of how much; None: nobody knows.
    """
    with database.transaction() as session:
        write(session, taken, stage=stage[:LONGEST_STAGE], done=done, total=total)


def finish(session: Session, taken: Taken, result: dict[str, Any]) -> None:
    """A job is done; what it gave is there once the transaction is.

    Args:
        session: The open transaction, in which all else is written that the job leads to.
        taken: The job.
        result: What it gave.
    """
    _end(session, taken, JobState.DONE, result=result)


def fail(session: Session, taken: Taken, problem: str) -> None:
    """A job cannot be done.

    Args:
        session: The open transaction.
        taken: The job.
        problem: Why, and what to do.
    """
    _end(session, taken, JobState.FAILED, problem=problem)


def cancelled(session: Session, taken: Taken) -> None:
    """A job was stopped because somebody wanted it.

    Args:
        session: The open transaction.
        taken: The job.
    """
    _end(session, taken, JobState.CANCELLED)


def put_back(session: Session, taken: Taken) -> None:
    """A worker that ends gives its job back: whoever takes it next need not wait for the lease.

    Args:
        session: The open transaction.
        taken: The job.
    """
    write(
        session,
        taken,
        state=JobState.QUEUED.value,
        tries=taken.tries - 1,
        worker=None,
        leased_until=None,
    )


def cancel(session: Session, job: Job) -> bool:
    """Want a job stopped, which it then is; an error where that is not possible any longer.

    Args:
        session: The open transaction.
        job: Any.

    Returns:
        Whether it has ended with that: nobody had taken it. Otherwise its worker stops it.
    """
    job = session.get_one(Job, job.id, with_for_update=True, populate_existing=True)
    if job.state == JobState.QUEUED.value:
        job.state = JobState.CANCELLED.value
        job.ended = now()
        return True
    if job.state == JobState.RUNNING.value:
        if job.is_final:
            raise RefusedError("this cannot be stopped any longer; it is done in a moment")
        job.cancel = True
    return False


def _end(session: Session, taken: Taken, state: JobState, **more: Any) -> None:
    write(session, taken, state=state.value, ended=now(), leased_until=None, **more)


def write(session: Session, taken: Taken, **values: Any) -> None:
    """Write for a job, if it is still this worker's; otherwise nothing of the transaction is kept.

    Args:
        session: The open transaction.
        taken: The job.
        **values: Columns, and what they are to be.
    """
    written = session.execute(
        update(Job)
        .where(Job.id == taken.id, Job.fence == taken.fence)
        .where(Job.state == JobState.RUNNING.value)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    if written.rowcount != 1:  # type: ignore[attr-defined]  # an update has one
        raise _lost(taken)


def _lost(taken: Taken) -> LeaseLostError:
    return LeaseLostError(f"job {taken.id} is no longer held under number {taken.fence}")
