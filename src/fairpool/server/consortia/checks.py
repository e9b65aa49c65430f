"""Looking at what parties sent: asked for here, done by a worker (`fairpool.server.work.checking`).

What was found says under which terms it was looked at; under others it is looked at again.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia.found import PROBLEMS, TERMS
from fairpool.server.consortia.having import data_of
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import Job, JobKind, JobState, Round, Submission
from fairpool.server.work import queue


def ask(session: Session, who: Who, submission: Submission, round_: Round) -> None:
    """Have a submission looked at; one that waits for that already is looked at once.

    Args:
        session: The open transaction.
        who: Who sent it, or changed the terms.
        submission: What to look at.
        round_: For which round: its own, or a later one.
    """
    # Whoever takes it looks under the terms that are in force then; nobody takes it before these
    # are there, since it is locked.
    waiting = select(Job).where(
        Job.submission_id == submission.id,
        Job.round_id == round_.id,
        Job.kind == JobKind.CHECK.value,
        Job.state == JobState.QUEUED.value,
    )
    if session.scalars(waiting.limit(1).with_for_update()).first() is not None:
        return
    queue.enqueue(
        session,
        collaboration_id=who.collaboration.id,
        round_id=round_.id,
        kind=JobKind.CHECK,
        person_id=who.person.id,
        submission_id=submission.id,
    )


def ask_again(session: Session, who: Who, round_: Round) -> None:
    """Have everything looked at anew that may take part in a round, because terms are others.

    Args:
        session: The open transaction.
        who: The operator.
        round_: The round that is open.
    """
    new = select(Submission).where(
        Submission.round_id == round_.id, Submission.blob_id.is_not(None)
    )
    submissions = {one.id: one for one in session.scalars(new)}
    for having in data_of(session, round_).values():
        submissions |= {one.id: one for one in having}
    for submission in submissions.values():
        ask(session, who, submission, round_)


def fits(submission: Submission, terms_id: str) -> bool:
    """Whether a submission was looked at under these terms, and nothing is wrong with it."""
    return not is_waiting(submission, terms_id) and not submission.findings.get(PROBLEMS)


def is_waiting(submission: Submission, terms_id: str) -> bool:
    """Whether it is still to be looked at under these terms."""
    return bool(submission.findings.get(TERMS) != terms_id)
