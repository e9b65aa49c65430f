"""Who has done what in a round, party by party."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia.checklist import Checklist, Code, Task
from fairpool.server.consortia.having import data_of, parties_of
from fairpool.server.store.tables import Round, Submission, SubmissionState, Terms
from fairpool.server.web.pages.views import PartyLine, Todo

PENDING = {
    SubmissionState.REFUSED: (
        "Sent a newer file, in which something is to be corrected",
        "refused",
    ),
    SubmissionState.CHECKED: ("Sent a newer file, and has not submitted it", "lacking"),
    SubmissionState.CHECKING: ("Sent a newer file, which is being looked at", "lacking"),
}
"""What is said of a file that was not submitted yet, and how it stands."""


def party_lines(
    session: Session, round_: Round, terms: Terms, checklist: Checklist
) -> tuple[PartyLine, ...]:
    """The parties of the terms, in their order.

    Args:
        session: Open.
        round_: The newest one.
        terms: In force.
        checklist: What is to be done.
    """
    lines = []
    for party, partner in parties_of(session, terms):
        tasks = [task for task in checklist.tasks if task.party_id == party.id]
        todos = todos_of(session, round_, party.id, tasks)
        has_agreed = all(task.is_done for task in tasks if task.code is Code.ACCEPT)
        lines.append(PartyLine(name=partner.name, todos=todos, has_agreed=has_agreed))
    return tuple(lines)


def todos_of(
    session: Session, round_: Round, party_id: str, tasks: Sequence[Task]
) -> tuple[Todo, ...]:
    """What a party has to do, and has done.

    Args:
        session: Open.
        round_: The newest one.
        party_id: The party's record.
        tasks: Its part of the checklist; nothing once the round is closed.
    """
    if not tasks:
        having = data_of(session, round_).get(party_id, [])
        rows = sum(int(one.findings.get("rows", 0)) for one in having)
        return (Todo(text=f"Takes part with {rows:,} rows", state="done"),)
    todos = [_todo(task) for task in tasks]
    has_data = any(task.code is Code.SEND and task.is_done for task in tasks)
    pending = _pending(session, round_, party_id) if has_data else None
    return tuple(todos) if pending is None else (*todos, pending)


def _todo(task: Task) -> Todo:
    text = task.text[:1].upper() + task.text[1:]
    if task.is_done:
        return Todo(text=text, state="done")
    return Todo(text=text, state="refused" if task.code is Code.CORRECT else "lacking")


def _pending(session: Session, round_: Round, party_id: str) -> Todo | None:
    """What is still to be done about a file that is newer than what takes part."""
    newest = session.scalars(
        select(Submission)
        .where(Submission.round_id == round_.id, Submission.party_id == party_id)
        .where(Submission.state != SubmissionState.WITHDRAWN.value, Submission.ended.is_(None))
        .order_by(Submission.created.desc())
        .limit(1)
    ).one_or_none()
    if newest is None or newest.state == SubmissionState.SUBMITTED.value:
        return None
    text, state = PENDING[SubmissionState(newest.state)]
    return Todo(text=text, state=state, when=newest.created)
