"""Who takes part, as far as one sees it; and invitations, for operators and people of parties."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Form
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import FairpoolError
from fairpool.server.consortia import members, replacing
from fairpool.server.consortia.who import Who
from fairpool.server.mail.choice import not_arriving
from fairpool.server.people import invitations
from fairpool.server.store.tables import Event, Invitation, Party, Role
from fairpool.server.web.pages.event_words import lines_of
from fairpool.server.web.pages.frame import Refusal, see_other
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.people_views import (
    Choice,
    FreshLink,
    InvitationLine,
    MemberLine,
    PeopleGroup,
)
from fairpool.server.web.pages.signing_in import HOME
from fairpool.server.web.pages.views import EventLine
from fairpool.server.web.routing import page_router

router = page_router()

OF_PEOPLE = (
    "invited",
    "invitation-ended",
    "invitation-revoked",
    "joined",
    "left",
    "removed",
    replacing.GONE,
    replacing.REPLACED,
)
"""What happens to the people of a party."""

PEOPLE = COLLABORATION + "/people"

INVITING = (Role.OPERATOR, Role.PARTY)
"""Who invites."""

AS_ROLE = {Role.OPERATOR: "an operator", Role.AUDITOR: "an auditor"}


@router.get(PEOPLE)
def show_people(here: CurrentHere) -> HTMLResponse:
    """Who takes part, and links that are out."""
    return _page(here)


@router.post(PEOPLE + "/invite")
def invite_person(
    here: CurrentHere,
    as_whom: Annotated[str, Form(alias="as", max_length=100)] = Role.PARTY.value,
    email: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Make a link for somebody; it is shown in the answer and nowhere else."""
    role, party_id = _wanted(as_whom)
    try:
        with here.changing(*INVITING) as (session, who):
            invitation, secret = invitations.invite(
                session, here.settings, who, role=role, party_id=party_id, email=email.strip()
            )
            whom = _as_what(session, invitation)
            fresh = _fresh(here, who, invitation, secret, whom)
    except FairpoolError as error:
        return _page(here, refusal=Refusal.of(error), email=email, chosen=as_whom)
    return _page(here, fresh=fresh)


@router.post(PEOPLE + "/invitations/{invitation_id}/revoke")
def take_invitation_back(here: CurrentHere, invitation_id: str) -> Response:
    """Take a link back."""
    try:
        with here.changing(*INVITING) as (session, who):
            invitations.revoke(session, who, invitation_id)
    except FairpoolError as error:
        return _page(here, refusal=Refusal.of(error))
    return here.see("/people", "revoked")


@router.post(PEOPLE + "/{member_id}/remove")
def remove_person(here: CurrentHere, member_id: str) -> Response:
    """End somebody's part in the collaboration, or one's own."""
    try:
        with here.changing() as (session, who):
            is_self = member_id == who.membership.id
            members.remove(session, who, member_id)
    except FairpoolError as error:
        return _page(here, refusal=Refusal.of(error))
    return see_other(HOME, "left") if is_self else here.see("/people", "removed")


def _wanted(as_whom: str) -> tuple[Role, str | None]:
    """What the choice means: a role, or a party's identity; without one it is the own party."""
    if as_whom in AS_ROLE:
        return Role(as_whom), None
    if as_whom == Role.PARTY:
        return Role.PARTY, None
    return Role.PARTY, as_whom


def _page(
    here: Here,
    *,
    refusal: Refusal | None = None,
    fresh: FreshLink | None = None,
    email: str = "",
    chosen: str = "",
) -> HTMLResponse:
    with here.reading() as (session, who):
        parties = _parties(session, who)
        groups = _groups(here, session, who, parties)
        links = invitations.open_ones(session, who) if who.role in INVITING else []
        lost = not_arriving(session, [one.email for one in links if one.email])
        return here.page(
            "people",
            who,
            "people",
            refusal,
            link=fresh,
            groups=groups,
            choices=_choices(session, who, parties, chosen),
            happened=_happened(session, who),
            replaced=replacing.told(session, who.collaboration),
            invitations=[
                InvitationLine(
                    as_what=_as_what(session, one),
                    email=one.email,
                    expires=one.expires,
                    revoke=f"{here.address}/people/invitations/{one.id}/revoke",
                    mail_problem=lost.get(one.email or "", ""),
                )
                for one in links
            ],
            email=email,
            sends_mail=here.settings.mail is not None,
        )


def _parties(session: Session, who: Who) -> list[Party]:
    mine = select(Party).where(Party.collaboration_id == who.collaboration.id, Party.left.is_(None))
    return list(session.scalars(mine.order_by(Party.place)))


def _groups(here: Here, session: Session, who: Who, parties: list[Party]) -> list[PeopleGroup]:
    titles = ["Operators", *(party.name for party in parties), "Auditors"]
    if who.party is not None:
        titles = [who.party.name, "Operators", "Auditors"]
    lines: dict[str, list[MemberLine]] = {title: [] for title in titles}
    seen = members.seen_by(session, who)
    lost = not_arriving(session, [one.email for one in seen]) if who.is_operator else {}
    for member in seen:
        title = member.party or ("Operators" if member.role is Role.OPERATOR else "Auditors")
        line = MemberLine(
            name=member.name,
            email=member.email,
            since=member.since,
            is_self=member.is_self,
            remove=f"{here.address}/people/{member.id}/remove",
            mail_problem=lost.get(member.email, ""),
        )
        lines.setdefault(title, []).append(line)
    return [PeopleGroup(title=title, members=tuple(found)) for title, found in lines.items()]


def _choices(session: Session, who: Who, parties: list[Party], chosen: str) -> list[Choice]:
    """As whom somebody can be invited; first of all, for a party that has nobody yet."""
    if not who.is_operator:
        return []
    empty = [party for party in parties if not replacing.has_people(session, party)]
    named = [(party.id, f"For {party.name}") for party in empty]
    named += [(role.value, f"As {words}") for role, words in AS_ROLE.items()]
    return [Choice(value=value, text=text, selected=value == chosen) for value, text in named]


def _happened(session: Session, who: Who) -> tuple[EventLine, ...]:
    """Who was invited, came and went for one's own party: all of it stands in the log."""
    if who.party is None:
        return ()
    mine = select(Event).where(
        Event.collaboration_id == who.collaboration.id,
        Event.party_id == who.party.id,
        Event.action.in_(OF_PEOPLE),
    )
    return lines_of(session, list(session.scalars(mine.order_by(Event.number))))


def _as_what(session: Session, invitation: Invitation) -> str:
    if invitation.party_id is None:
        return f"as {AS_ROLE[Role(invitation.role)]}"
    return f"for {session.get_one(Party, invitation.party_id).name}"


def _fresh(here: Here, who: Who, invitation: Invitation, secret: str, as_what: str) -> FreshLink:
    link = invitations.link(here.settings, secret)
    subject = f"Invitation to {who.collaboration.name}"
    text = (
        f"Hello,\n\nI invite you to take part in “{who.collaboration.name}” {as_what}."
        f" With this link you make your account:\n\n{link}\n\n{who.person.name}\n"
    )
    to = quote(invitation.email or "", safe="@")
    return FreshLink(
        whom=invitation.email or "the person whom it is for",
        as_what=as_what,
        expires=invitation.expires,
        address=link,
        mail=f"mailto:{to}?subject={quote(subject)}&body={quote(text)}",
    )
