"""The states of a round, and who moves it from one to the next.

open -> closed -> computing -> previewed -> releasing -> released, and the next one is open. An
operator asks for it (to close a round: `closing`); where a job is needed, its worker says how it
ended. Until a round is released, it can be opened again.

Each function locks the collaboration first, so that of two who move a round one comes second.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia import events
from fairpool.server.consortia.who import Who
from fairpool.server.mail import notices
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.tables import (
    Collaboration,
    Job,
    JobKind,
    JobState,
    Person,
    Release,
    Round,
    RoundState,
)
from fairpool.server.work import queue
from fairpool.server.work.queue import Taken

WORDS = {
    RoundState.OPEN: "open",
    RoundState.CLOSED: "closed",
    RoundState.COMPUTING: "being computed",
    RoundState.PREVIEWED: "previewed",
    RoundState.RELEASING: "being released",
    RoundState.RELEASED: "released",
}
"""A round is ..."""


def current(session: Session, collaboration: Collaboration) -> Round | None:
    """The newest round; None: no terms were proposed yet."""
    mine = select(Round).where(Round.collaboration_id == collaboration.id)
    return session.scalars(mine.order_by(Round.number.desc()).limit(1)).one_or_none()


def open_next(session: Session, collaboration: Collaboration) -> Round:
    """The round that is not yet released; a new one where there is none.

    Args:
        session: The open transaction.
        collaboration: Whose.
    """
    lock(session, collaboration.id)
    newest = current(session, collaboration)
    if newest is not None and newest.state != RoundState.RELEASED.value:
        return newest
    number = 1 if newest is None else newest.number + 1
    opened = Round(collaboration_id=collaboration.id, number=number)
    session.add(opened)
    session.flush()
    events.record(session, collaboration, None, "round-opened", {"round": number})
    return opened


def reopen(session: Session, who: Who) -> Round:
    """Let parties submit and withdraw again; what was previewed is forgotten.

    Args:
        session: The open transaction.
        who: An operator.
    """
    round_ = to_move(session, who, RoundState.CLOSED, RoundState.PREVIEWED)
    round_.state = RoundState.OPEN.value
    round_.terms_id = round_.preview_id = round_.closed = None
    tell(session, who, "round-reopened", round_)
    return round_


def preview(session: Session, who: Who) -> Job:
    """Have the round computed, for the operator to look at before anything is released.

    Args:
        session: The open transaction.
        who: An operator.
    """
    round_ = to_move(session, who, RoundState.CLOSED, RoundState.PREVIEWED)
    round_.state = RoundState.COMPUTING.value
    job = _enqueue(session, who, round_, JobKind.PREVIEW)
    tell(session, who, "preview-asked", round_, job=job.id)
    return job


def release(session: Session, who: Who, preview_job_id: str) -> Job:
    """Have the round released as it was previewed.

    Args:
        session: The open transaction.
        who: An operator.
        preview_job_id: The preview that was looked at.
    """
    round_ = to_move(session, who, RoundState.PREVIEWED)
    if round_.preview_id != preview_job_id:
        raise RefusedError(
            "there is a newer preview than the one that you have looked at; look at that, and"
            " release it if it is right"
        )
    round_.state = RoundState.RELEASING.value
    job = _enqueue(session, who, round_, JobKind.RELEASE)
    tell(session, who, "release-asked", round_, job=job.id, preview=preview_job_id)
    return job


def cancel(session: Session, who: Who, job_id: str) -> Job:
    """Want a computation stopped; what was computed is kept, so that it can go on.

    Args:
        session: The open transaction.
        who: An operator.
        job_id: Which job.
    """
    job = _job(session, who, job_id)
    if job.state not in (JobState.QUEUED.value, JobState.RUNNING.value):
        raise RefusedError(f"this has ended already: it is {job.state}")
    tell(session, who, "cancel-asked", session.get_one(Round, job.round_id), job=job.id)
    if queue.cancel(session, job):
        _step_back(session, job.round_id)
    return job


def resume(session: Session, who: Who, job_id: str) -> Job:
    """Go on with a computation that was cancelled or has failed.

    Args:
        session: The open transaction.
        who: An operator.
        job_id: The job that has ended.
    """
    job = _job(session, who, job_id)
    if job.state not in (JobState.CANCELLED.value, JobState.FAILED.value):
        raise RefusedError(f"this job is {job.state}; only what was stopped can go on")
    round_ = session.get_one(Round, job.round_id)
    if job.kind == JobKind.RELEASE.value and round_.preview_id is not None:
        return release(session, who, round_.preview_id)
    return preview(session, who)


def lock(session: Session, collaboration_id: str) -> Collaboration:
    """The collaboration, which nobody else changes until the transaction ends.

    Args:
        session: The open transaction.
        collaboration_id: Which.
    """
    return session.scalars(
        select(Collaboration)
        .where(Collaboration.id == collaboration_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def previewed(session: Session, taken: Taken) -> None:
    """A preview was computed; called in the transaction that ends its job.

    Args:
        session: The open transaction, in which the collaboration is locked.
        taken: The job.
    """
    round_ = session.get_one(Round, taken.round_id)
    round_.state = RoundState.PREVIEWED.value
    round_.preview_id = taken.id
    _tell_of(session, taken, "previewed", round_)


def released(session: Session, taken: Taken, head: str) -> None:
    """A round was released, and the next one is open; called in the transaction that ends its job.

    Args:
        session: The open transaction, in which the collaboration is locked.
        taken: The job.
        head: What letters and files carry.
    """
    round_ = session.get_one(Round, taken.round_id)
    session.add(Release(round_id=round_.id, head=head, released_by=taken.person_id))
    round_.state = RoundState.RELEASED.value
    session.flush()
    _tell_of(session, taken, "released", round_, head=head)
    notices.found_in_labels(session, round_)
    open_next(session, session.get_one(Collaboration, taken.collaboration_id))


def stopped(session: Session, taken: Taken, action: str) -> None:
    """A computation was cancelled, or has failed; called in the transaction that ends its job.

    Args:
        session: The open transaction, in which the collaboration is locked.
        taken: The job.
        action: What the log calls it.
    """
    _step_back(session, taken.round_id)
    _tell_of(session, taken, action, session.get_one(Round, taken.round_id))


def _step_back(session: Session, round_id: str) -> None:
    """To where the round was before its computation."""
    round_ = session.get_one(Round, round_id)
    if round_.preview_id is None:
        round_.state = RoundState.CLOSED.value
    else:
        round_.state = RoundState.PREVIEWED.value


def to_move(session: Session, who: Who, *states: RoundState) -> Round:
    """The newest round, which must be in one of these states; the collaboration is locked.

    Args:
        session: The open transaction.
        who: An operator.
        *states: Those in which it can be moved.
    """
    if not who.is_operator:
        raise NotFoundError
    lock(session, who.collaboration.id)
    round_ = current(session, who.collaboration)
    if round_ is None:
        raise RefusedError("there is no round yet; propose terms first")
    session.refresh(round_)
    if round_.state not in states:
        wanted = " or ".join(WORDS[state] for state in states)
        raise RefusedError(
            f"round {round_.number} is {WORDS[RoundState(round_.state)]}, and this needs one that"
            f" is {wanted}; look at the collaboration's page for what comes next"
        )
    return round_


def _job(session: Session, who: Who, job_id: str) -> Job:
    """A computation of the collaboration, which is locked."""
    if not who.is_operator:
        raise NotFoundError
    lock(session, who.collaboration.id)
    job = session.get(Job, job_id, populate_existing=True)
    is_own = job is not None and job.collaboration_id == who.collaboration.id
    if job is None or not is_own or job.kind == JobKind.CHECK.value:
        raise NotFoundError
    return job


def _enqueue(session: Session, who: Who, round_: Round, kind: JobKind) -> Job:
    return queue.enqueue(
        session,
        collaboration_id=who.collaboration.id,
        round_id=round_.id,
        kind=kind,
        person_id=who.person.id,
    )


def tell(session: Session, who: Who, action: str, round_: Round, **detail: str) -> None:
    """Write down what somebody did to a round."""
    events.record(session, who.collaboration, who, action, {"round": round_.number, **detail})


def _tell_of(session: Session, taken: Taken, action: str, round_: Round, **detail: str) -> None:
    """What came of a job is told of who asked for it."""
    collaboration = session.get_one(Collaboration, taken.collaboration_id)
    person = session.get_one(Person, taken.person_id)
    told = {"round": round_.number, "job": taken.id, **detail}
    events.record(session, collaboration, person, action, told)
