"""Invitations: by operators and by the people of parties; accepted by whoever has the link."""

from datetime import datetime

from fastapi import Response
from pydantic import BaseModel

from fairpool.server.consortia.who import require
from fairpool.server.people import invitations, joining, resetting
from fairpool.server.people.invitations import Invited
from fairpool.server.store.tables import Invitation, Role
from fairpool.server.web.api.account import Account
from fairpool.server.web.api.signing_in import SignedInAs
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.signed_in import (
    CurrentDatabase,
    CurrentPerson,
    CurrentSettings,
    Reading,
    Transaction,
    Visitor,
    set_cookie,
)

router = api_router()

HERE = "/collaborations/{collaboration_id}/invitations"
LINK = "/invitations/{secret}"

INVITING = (Role.OPERATOR, Role.PARTY)
"""Who invites."""


class NewInvitation(Sent):
    """Whom to invite, and as what; without an address, whoever has the link."""

    role: Role
    party_id: str | None = None
    email: str | None = None


class OpenInvitation(BaseModel):
    """An invitation that nobody has accepted yet."""

    id: str
    role: Role
    party_id: str | None
    email: str | None
    created: datetime
    expires: datetime

    @classmethod
    def of(cls, invitation: Invitation) -> "OpenInvitation":
        """As the API tells it."""
        return cls(
            id=invitation.id,
            role=Role(invitation.role),
            party_id=invitation.party_id,
            email=invitation.email,
            created=invitation.created,
            expires=invitation.expires,
        )


class MadeInvitation(BaseModel):
    """A new invitation, and its link, which is shown this once."""

    invitation: OpenInvitation
    link: str


class WhatFor(BaseModel):
    """What a link invites to, or that it lets an account have another password."""

    role: Role
    collaboration: str | None
    party: str | None
    inviter: str | None
    email: str | None
    expires: datetime
    is_reset: bool

    @classmethod
    def of(cls, invited: Invited) -> "WhatFor":
        """As the API tells it."""
        collaboration, party, inviter = invited.collaboration, invited.party, invited.inviter
        return cls(
            role=invited.role,
            collaboration=None if collaboration is None else collaboration.name,
            party=None if party is None else party.name,
            inviter=None if inviter is None else inviter.name,
            email=invited.invitation.email,
            expires=invited.invitation.expires,
            is_reset=invited.is_reset,
        )


class NewAccount(Sent):
    """Who somebody is who has no account yet."""

    name: str
    email: str
    password: str


class AnotherPassword(Sent):
    """What one wants to sign in with from now on."""

    password: str


@router.get(HERE)
def show_invitations(
    collaboration_id: str, person: CurrentPerson, session: Reading
) -> list[OpenInvitation]:
    """Invitations that nobody has accepted yet: for operators all, else those of the own party."""
    who = require(session, person, collaboration_id, *INVITING)
    return [OpenInvitation.of(one) for one in invitations.open_ones(session, who)]


@router.post(HERE, status_code=201)
def invite(
    collaboration_id: str,
    sent: NewInvitation,
    person: CurrentPerson,
    session: Transaction,
    settings: CurrentSettings,
) -> MadeInvitation:
    """Invite somebody: for a party its people do; an operator invites its first person alone.

    An operator invites operators and auditors, too.
    """
    who = require(session, person, collaboration_id, *INVITING, alone=True)
    invitation, secret = invitations.invite(
        session, settings, who, role=sent.role, party_id=sent.party_id, email=sent.email
    )
    return MadeInvitation(
        invitation=OpenInvitation.of(invitation), link=invitations.link(settings, secret)
    )


@router.delete(HERE + "/{invitation_id}", status_code=204)
def revoke_invitation(
    collaboration_id: str, invitation_id: str, person: CurrentPerson, session: Transaction
) -> None:
    """Take an invitation back: an operator any, the people of a party those for it."""
    who = require(session, person, collaboration_id, *INVITING, alone=True)
    invitations.revoke(session, who, invitation_id)


@router.get(LINK)
def show_invitation(secret: str, session: Reading) -> WhatFor:
    """What a link invites to."""
    return WhatFor.of(invitations.look(session, secret))


@router.post(LINK + "/acceptance")
def accept(secret: str, person: CurrentPerson, session: Transaction) -> WhatFor:
    """Accept an invitation with the account one is signed in with."""
    return WhatFor.of(joining.accept(session, person, secret))


@router.post(LINK + "/account", status_code=201)
def accept_as_new(
    secret: str,
    sent: NewAccount,
    response: Response,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
) -> SignedInAs:
    """Accept an invitation with a new account: the answer sets a cookie."""
    entered = joining.accept_as_new(
        database,
        settings,
        secret,
        name=sent.name,
        email=sent.email,
        password=sent.password,
        host=visit.host,
        cookie=visit.cookie,
    )
    set_cookie(response, settings, entered.opened.cookie)
    return SignedInAs(account=Account.of(entered.person), form_token=entered.opened.kept.form_token)


@router.post(LINK + "/password")
def reset_password(
    secret: str,
    sent: AnotherPassword,
    response: Response,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
) -> SignedInAs:
    """Set another password by a link for that; all other browsers are signed out."""
    entered = resetting.reset_password(
        database, settings, secret, password=sent.password, cookie=visit.cookie
    )
    set_cookie(response, settings, entered.opened.cookie)
    return SignedInAs(account=Account.of(entered.person), form_token=entered.opened.kept.form_token)
