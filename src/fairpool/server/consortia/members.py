"""Who has a part in a collaboration, who sees whom, and how people go."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia import events, replacing
from fairpool.server.consortia.who import Who, everywhere, require
from fairpool.server.people.accounts import close_account
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.tables import Invitation, Membership, Party, Person, Role, now


@dataclass(frozen=True, kw_only=True)
class Member:
    """Somebody who has a part in a collaboration.

    Attributes:
        id: Of the membership.
        name: The person's.
        email: The person's.
        role: What they are.
        party: Whose people they belong to.
        since: When they joined.
        is_self: Whether it is who asks.
    """

    id: str
    name: str
    email: str
    role: Role
    party: str | None
    since: datetime
    is_self: bool


def seen_by(session: Session, who: Who) -> list[Member]:
    """Who somebody sees: operators see all; others see operators, auditors and their own people.

    That a party sees its own people is what shows it an invitation that it did not expect.
    """
    found = session.execute(
        select(Membership, Person, Party)
        .join(Person, Person.id == Membership.person_id)
        .outerjoin(Party, Party.id == Membership.party_id)
        .where(Membership.collaboration_id == who.collaboration.id)
        .order_by(Membership.since, Membership.id)
    )
    own = None if who.party is None else who.party.id
    return [
        Member(
            id=membership.id,
            name=person.name,
            email=person.email,
            role=Role(membership.role),
            party=None if party is None else party.name,
            since=membership.since,
            is_self=person.id == who.person.id,
        )
        for membership, person, party in found
        if who.is_operator or membership.party_id is None or membership.party_id == own
    ]


def remove(session: Session, who: Who, membership_id: str) -> None:
    """End a part in a collaboration: one's own, or by an operator anybody's; and open invitations.

    Args:
        session: Open.
        who: Who does it, alone.
        membership_id: Whose part.
    """
    membership = session.get(Membership, membership_id, with_for_update=True)
    if membership is None or membership.collaboration_id != who.collaboration.id:
        raise NotFoundError
    is_self = membership.person_id == who.person.id
    if not is_self and not who.is_operator:
        raise NotFoundError
    if Role(membership.role) is Role.OPERATOR:
        operators = select(Membership.id).where(
            Membership.collaboration_id == who.collaboration.id, Membership.role == Role.OPERATOR
        )
        if len(session.scalars(operators).all()) == 1:
            raise RefusedError(
                f"{who.collaboration.name}: it has no other operator; invite one first"
            )
    party = None if membership.party_id is None else session.get(Party, membership.party_id)
    _end_invitations(session, membership)
    detail = {"person": membership.person_id, "role": membership.role}
    action = "left" if is_self else "removed"
    session.delete(membership)
    session.flush()
    events.record(session, who.collaboration, who, action, detail, about=party)
    if party is not None:
        replacing.end_where_nobody_is_left(session, who, party)


def _end_invitations(session: Session, membership: Membership) -> None:
    """End the links that somebody made and nobody used: whoever goes comes back by none of them."""
    mine = select(Invitation).where(
        Invitation.collaboration_id == membership.collaboration_id,
        Invitation.created_by == membership.person_id,
        Invitation.used.is_(None),
        Invitation.revoked.is_(None),
    )
    for invitation in session.scalars(mine.with_for_update()):
        invitation.revoked = now()


def leave_service(session: Session, person: Person) -> None:
    """End all of a person's parts, and the account; what was signed stays, with the name."""
    # Whoever accepts an invitation at this moment has it before, or not at all.
    session.get_one(Person, person.id, with_for_update=True)
    for part in sorted(everywhere(session, person), key=lambda part: part.collaboration.id):
        who = require(session, person, part.collaboration.id, alone=True)
        remove(session, who, who.membership.id)
    close_account(session, person)
