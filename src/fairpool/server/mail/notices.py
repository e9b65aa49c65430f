"""What people are told by mail: noted in the transaction of what it is about, sent by a worker.

What was rolled back is so told to nobody, and what was kept is not forgotten. Whether it still
holds is looked at when a mail is written (`fairpool.server.mail.words`).
"""

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from fairpool.audit.evidence_notes import DEALT_WITH, HARMS, NOISY
from fairpool.server.store.tables import (
    About,
    Event,
    Invitation,
    Job,
    Membership,
    Notice,
    Party,
    Person,
    Role,
    Round,
)

PARTIES = frozenset({"round-opened", "round-reopened", "terms-proposed"})
"""After these it may be every party's turn."""

OWN_PARTY = frozenset({"no-longer-fits", "terms-accepted", "withdrawn"})
"""After these it may be the turn of the party that they are about."""

OPERATORS = frozenset({"failed", "previewed", "submitted", "terms-accepted"})
"""After these it may be the operators' turn."""

ABOUT_LABELS = frozenset({DEALT_WITH, HARMS, NOISY})
"""Notes of the checks of evidence about one party's labels, which its letter has, too."""


def follow(session: Session, event: Event) -> None:
    """Note whom an event is told by mail.

    Args:
        session: The open transaction, in which it happens.
        event: What happens.
    """
    where, action = event.collaboration_id, event.action
    if action == "invited":
        _invited(session, event)
    if action in PARTIES:
        _note(session, where, Membership.party_id.is_not(None), About.TURN)
    if action in OWN_PARTY:
        tell_party(session, where, event.party_id)
    if action in OPERATORS:
        _note(session, where, Membership.role == Role.OPERATOR.value, About.TURN)
    if action == "released":
        others = Membership.role != Role.OPERATOR.value
        _note(session, where, others, About.RELEASED, event.detail["round"])


def tell_party(session: Session, collaboration_id: str, party_id: str | None) -> None:
    """Note that it may be a party's turn.

    Args:
        session: The open transaction.
        collaboration_id: Where.
        party_id: Whose.
    """
    _note(session, collaboration_id, Membership.party_id == party_id, About.TURN)


def found_in_labels(session: Session, round_: Round) -> None:
    """Note which parties' labels the checks of evidence found something about, of a release.

    Args:
        session: The open transaction, in which the round is released.
        round_: It.
    """
    preview = None if round_.preview_id is None else session.get(Job, round_.preview_id)
    notes = [] if preview is None else preview.result.get("notes", [])
    names = {note["party"] for note in notes if note["code"] in ABOUT_LABELS}
    about = select(Party.id).where(
        Party.collaboration_id == round_.collaboration_id, Party.name.in_(names)
    )
    told = Membership.party_id.in_(about)
    _note(session, round_.collaboration_id, told, About.FOUND, round_.number)


def _invited(session: Session, event: Event) -> None:
    """Whoever was named by an address is told; who has an account, as that account wants it."""
    invitation = session.get_one(Invitation, event.detail["invitation"])
    if invitation.email is None:
        return
    known = session.scalars(select(Person).where(Person.email == invitation.email)).one_or_none()
    session.add(
        Notice(
            person_id=None if known is None else known.id,
            email=invitation.email if known is None else None,
            collaboration_id=event.collaboration_id,
            about=About.INVITED.value,
            invitation_id=invitation.id,
        )
    )


def _note(
    session: Session,
    collaboration_id: str,
    who: ColumnElement[bool],
    about: About,
    round_number: int | None = None,
) -> None:
    """Note something for those of a collaboration's people of whom a condition is true."""
    told = select(Membership.person_id).where(Membership.collaboration_id == collaboration_id, who)
    session.add_all(
        Notice(
            person_id=person_id,
            collaboration_id=collaboration_id,
            about=about.value,
            round=round_number,
        )
        for person_id in session.scalars(told.order_by(Membership.id))
    )
