"""A party whose people are all gone: what they accepted and sent does not become the next ones'.

People of a party invite each other, so that whoever is invited by an operator follows nobody. Until
then the operator could remove the people of a party, and put others in their place.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from fairpool.server.consortia import events
from fairpool.server.consortia.who import Who
from fairpool.server.store.tables import (
    Acceptance,
    Collaboration,
    Event,
    Invitation,
    Membership,
    Party,
    Person,
    Submission,
    now,
)

GONE, REPLACED = "people-gone", "people-replaced"


@dataclass(frozen=True, kw_only=True)
class Replaced:
    """That a party's people are others than before, whom the operator invited.

    Attributes:
        party: What it is called.
        time: When the first of them joined.
    """

    party: str
    time: datetime

    @property
    def text(self) -> str:
        """What everybody in the collaboration is told."""
        return (
            f'The people of "{self.party}" were replaced: nobody of the earlier ones was left, and'
            " the operator invited others. What the earlier ones accepted and sent counts in no"
            " round that was open then or is opened later."
        )


def has_people(session: Session, party: Party) -> bool:
    """Whether anybody belongs to a party."""
    mine = select(Membership.id).where(Membership.party_id == party.id).limit(1)
    return session.scalars(mine).first() is not None


def end_where_nobody_is_left(session: Session, who: Who, party: Party) -> None:
    """End what a party's people accepted and sent, if somebody who just went was the last.

    Rounds that are closed already stay as they were agreed to.

    Args:
        session: The open transaction, in which nobody else changes the collaboration.
        who: Who went, or removed somebody.
        party: Whose people they were.
    """
    if has_people(session, party):
        return
    time = now()
    for kind in (Acceptance, Submission):
        still = update(kind).where(kind.party_id == party.id, kind.ended.is_(None))
        session.execute(still.values(ended=time))
    events.record(session, who.collaboration, who, GONE, about=party)


def welcome_first(
    session: Session, person: Person, collaboration: Collaboration, party: Party
) -> None:
    """Note that somebody is the first of a party's people: links that others made for it end.

    Args:
        session: The open transaction, in which nobody else changes the collaboration.
        person: Who has just joined.
        collaboration: Where.
        party: Whose people they belong to.
    """
    others = select(Invitation).where(
        Invitation.party_id == party.id,
        Invitation.used.is_(None),
        Invitation.revoked.is_(None),
        Invitation.expires > now(),
    )
    for invitation in session.scalars(others.order_by(Invitation.created, Invitation.id)):
        invitation.revoked = now()
        detail = {"invitation": invitation.id}
        events.record(session, collaboration, person, "invitation-ended", detail, about=party)
    gone = select(Event.id).where(
        Event.collaboration_id == collaboration.id,
        Event.party_id == party.id,
        Event.action == GONE,
    )
    if session.scalars(gone.limit(1)).first() is not None:
        events.record(session, collaboration, person, REPLACED, about=party)


def told(session: Session, collaboration: Collaboration) -> tuple[Replaced, ...]:
    """Whose people were replaced, the newest first: everybody in the collaboration is told.

    Args:
        session: Open.
        collaboration: Where.
    """
    found = session.execute(
        select(Event.time, Party.name)
        .join(Party, Party.id == Event.party_id)
        .where(Event.collaboration_id == collaboration.id, Event.action == REPLACED)
        .order_by(Event.number.desc())
    )
    return tuple(Replaced(party=name, time=time) for time, name in found)
