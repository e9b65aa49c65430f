"""Invitations: a link for one person, once, into a collaboration or as the first operator."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import DataError
from fairpool.server.consortia import events, replacing, rounds
from fairpool.server.consortia.who import Who
from fairpool.server.people.accounts import fit_email
from fairpool.server.people.secret_words import digest_of, is_same, new_secret
from fairpool.server.refused import LinkOverError, NotFoundError, RefusedError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import (
    Collaboration,
    Invitation,
    Party,
    Person,
    Role,
    now,
)

Kind = TypeVar("Kind")

PATH = "/invitations/"
"""Of the page that a link leads to."""


@dataclass(frozen=True, kw_only=True)
class Invited:
    """What an invitation is to, as its page says.

    Attributes:
        invitation: What is kept of it.
        collaboration: Where; None: as the first operator of the service.
        party: For which party's people.
        inviter: Who invites.
    """

    invitation: Invitation
    collaboration: Collaboration | None
    party: Party | None
    inviter: Person | None

    @property
    def role(self) -> Role:
        """As what."""
        return Role(self.invitation.role)

    @property
    def is_reset(self) -> bool:
        """Whether it invites to nothing, but lets one account have another password."""
        return self.invitation.collaboration_id is None and self.invitation.email is not None


def link(settings: Settings, secret: str) -> str:
    """The address that is handed to whoever is invited."""
    return f"{settings.address}{PATH}{secret}"


def first_operator(session: Session, settings: Settings) -> str | None:
    """A new link for the first operator, the earlier ones being over; None: there is somebody."""
    creators = select(Person.id).where(Person.may_create, Person.left.is_(None)).limit(1)
    if session.scalars(creators).first() is not None:
        return None
    earlier = select(Invitation).where(
        Invitation.collaboration_id.is_(None),
        Invitation.email.is_(None),
        Invitation.used.is_(None),
    )
    for invitation in session.scalars(earlier):
        session.delete(invitation)
    _, secret = make(session, settings, role=Role.OPERATOR)
    return link(settings, secret)


def invite(
    session: Session,
    settings: Settings,
    who: Who,
    *,
    role: Role,
    party_id: str | None = None,
    email: str | None = None,
) -> tuple[Invitation, str]:
    """Invite somebody into a collaboration, and have the secret of the link, which is not kept.

    Args:
        session: Open.
        settings: For how long.
        who: Alone. Of a party's people: they invite more of them. An operator: invites the first
            person of a party, operators and auditors.
        role: As what.
        party_id: Whose people they will belong to, where the role is that of a party; of one's own
            party it may be left out.
        email: Only who has this address can accept; None: whoever has the link.
    """
    if who.is_operator:
        party = _party_of_nobody(session, who, role, party_id)
    else:
        party = _own_party(who, role, party_id)
    if party is not None and party.left is not None:
        raise RefusedError(f"{party.name} has left; nobody is invited for it any longer")
    invitation, secret = make(
        session,
        settings,
        role=role,
        collaboration_id=who.collaboration.id,
        party_id=None if party is None else party.id,
        email=fit_email(email) if email else None,
        created_by=who.person.id,
    )
    detail = {"invitation": invitation.id, "role": role.value}
    events.record(session, who.collaboration, who, "invited", detail, about=party)
    return invitation, secret


def _party_of_nobody(session: Session, who: Who, role: Role, party_id: str | None) -> Party | None:
    """The party whose first person an operator invites; None: an operator or an auditor.

    Otherwise an operator could make itself one of a party's people, and act in its name.
    """
    if role is not Role.PARTY:
        if party_id:
            raise DataError(f"party: an {role.value} belongs to no party; leave it out")
        return None
    if not party_id:
        raise DataError("party: say whose people they belong to")
    party = session.get(Party, party_id)
    if party is None or party.collaboration_id != who.collaboration.id:
        raise DataError("party: this collaboration has no such party; choose one of its own")
    if replacing.has_people(session, party):
        raise RefusedError(
            f"{party.name} has people, and an operator invites the first person of a party alone;"
            " ask one of its people, who can invite more"
        )
    return party


def _own_party(who: Who, role: Role, party_id: str | None) -> Party:
    """The party for which somebody of its people invites."""
    party = who.own_party
    if role is not Role.PARTY:
        raise DataError(
            f"role: you invite people of your own party; ask an operator to invite an {role.value},"
            ' or say "party"'
        )
    if party_id and party_id != party.id:
        raise DataError("party: you invite people of your own party alone; leave it out")
    return party


def make(session: Session, settings: Settings, **fields: str | None) -> tuple[Invitation, str]:
    """An invitation with these fields, which nobody was asked about, and the link's secret."""
    secret = new_secret()
    invitation = Invitation(
        digest=digest_of(secret),
        expires=now() + timedelta(days=settings.invitation_days),
        **fields,
    )
    session.add(invitation)
    session.flush()
    return invitation, secret


def open_ones(session: Session, who: Who) -> list[Invitation]:
    """Those that can still be accepted, the newest first: an operator's all, or one's party's."""
    mine = select(Invitation).where(
        Invitation.collaboration_id == who.collaboration.id,
        Invitation.used.is_(None),
        Invitation.revoked.is_(None),
        Invitation.expires > now(),
    )
    if not who.is_operator:
        mine = mine.where(Invitation.party_id == who.own_party.id)
    return list(session.scalars(mine.order_by(Invitation.created.desc(), Invitation.id)))


def revoke(session: Session, who: Who, invitation_id: str) -> None:
    """Take an invitation back, by an operator or for one's own party, alone."""
    invitation = session.get(Invitation, invitation_id)
    if invitation is None or invitation.collaboration_id != who.collaboration.id:
        raise NotFoundError
    if not who.is_operator and invitation.party_id != who.own_party.id:
        raise NotFoundError
    if invitation.used is not None:
        raise RefusedError("this invitation was accepted; remove the person instead")
    if invitation.revoked is None:
        invitation.revoked = now()
        party = None if invitation.party_id is None else session.get(Party, invitation.party_id)
        detail = {"invitation": invitation.id}
        events.record(session, who.collaboration, who, "invitation-revoked", detail, about=party)


def look(session: Session, secret: str, *, alone: bool = False) -> Invited:
    """What a link invites to, while it does.

    Args:
        session: Open.
        secret: Of the link.
        alone: Nobody else accepts it, or changes the collaboration, until the transaction ends.
    """
    digest = digest_of(secret)
    wanted = select(Invitation).where(Invitation.digest == digest)
    if alone:
        found = session.scalars(wanted).one_or_none()
        if found is not None and found.collaboration_id is not None:
            # Otherwise two who have a link each could both be the first of a party.
            rounds.lock(session, found.collaboration_id)
        wanted = wanted.with_for_update().execution_options(populate_existing=True)
    invitation = session.scalars(wanted).one_or_none()
    if invitation is None or not is_same(invitation.digest, digest):
        raise LinkOverError
    if invitation.used or invitation.revoked or invitation.expires <= now():
        raise LinkOverError
    return told(session, invitation)


def told(session: Session, invitation: Invitation) -> Invited:
    """What an invitation is to."""
    return Invited(
        invitation=invitation,
        collaboration=_of(session, Collaboration, invitation.collaboration_id),
        party=_of(session, Party, invitation.party_id),
        inviter=_of(session, Person, invitation.created_by),
    )


def _of(session: Session, kind: type[Kind], identity: str | None) -> Kind | None:
    return None if identity is None else session.get(kind, identity)
