"""What a mail says: written when it is sent, of what is still so then.

It has no value, nothing that was found, no name but those of the collaboration and of one's own
party, and nothing that lets anybody in: whoever reads it on its way learns that something is to be
done, and where. The link of an invitation is none of it, either: whoever has that joins, and it is
kept nowhere but as a hash. Its maker hands it out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import printable
from fairpool.server.consortia import checklist
from fairpool.server.consortia.checklist import Code
from fairpool.server.settings import Settings
from fairpool.server.store.tables import (
    About,
    Collaboration,
    Invitation,
    Mail,
    MailChoice,
    Membership,
    Notice,
    Party,
    Person,
    Role,
    now,
)

OF_PARTY = {
    Code.ACCEPT: "Read the terms, and accept them if they are right.",
    Code.SEND: "Your data are wanted.",
    Code.CORRECT: "There is a problem with what was sent: look at it, and send it again.",
    Code.SUBMIT: "What was sent was looked at: submit it, so that it takes part.",
}
OF_OPERATOR = {
    Code.LEAVE_OUT: "A party has left: propose terms without it.",
    Code.CLOSE: "Everybody is ready: close the round.",
    Code.COMPUTE: "The round is closed, and nothing of it is computed: have it computed.",
    Code.RELEASE: "A preview is ready: look at it, and release it if it is right.",
}
"""What is told of the next thing to do; of others nothing: there is nothing to be done but wait."""

RELEASED = "Round {round} was released: your letter, and a new model if there is one, are there."
FOR_AUDITORS = "Round {round} was released: you can compute it anew."
FOUND = (
    "The checks of round {round} found something about your labels. That is no verdict: your"
    " letter says what it is, and how to answer."
)
INVITED = (
    "You are invited to take part. Whoever invites you has a link for you, which is in no mail of"
    " this service: who has it takes your place. If it does not come, ask them for it."
)

ONE = "fairpool at {host}: something for you"
SEVERAL = "fairpool at {host}: {count} things for you"
"""Nothing that anybody has typed stands in what is above a mail."""

ACCOUNT = "/account"


@dataclass(frozen=True, kw_only=True)
class Said:
    """One thing that a mail says.

    Attributes:
        where: In which collaboration, and for which party.
        text: What is to be done, or was.
        link: Where; empty: nowhere in particular.
    """

    where: str
    text: str
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class Words:
    """A whole mail.

    Attributes:
        to: An address.
        subject: Above it.
        said: All that it says, the oldest first.
        service: Who writes.
        stop: How to have it stop.
        stop_link: Where; empty: nowhere.
    """

    to: str
    subject: str
    said: tuple[Said, ...]
    service: str
    stop: str
    stop_link: str = ""


def words_of(session: Session, settings: Settings, mail: Mail) -> Words | None:
    """What a mail is to say now; None: nothing, or nobody wants to hear it.

    Args:
        session: Open.
        settings: Of the service.
        mail: Which.
    """
    person = None if mail.person_id is None else session.get(Person, mail.person_id)
    if mail.person_id is not None and not _wants(person):
        return None
    mine = select(Notice).where(Notice.mail_id == mail.id).order_by(Notice.created, Notice.id)
    said: dict[Said, None] = {}
    for notice in session.scalars(mine):
        for one in _said(session, settings, notice, person):
            said[one] = None
    if not said:
        return None
    return _whole(settings, tuple(said), person, mail.email)


def _wants(person: Person | None) -> bool:
    return person is not None and person.left is None and person.mail != MailChoice.OFF.value


def _whole(
    settings: Settings, said: tuple[Said, ...], person: Person | None, email: str | None
) -> Words:
    host = urlsplit(settings.address).netloc
    subject = (ONE if len(said) == 1 else SEVERAL).format(host=host, count=len(said))
    stop, stop_link = "You hear of each invitation once. Take no notice, and it ends unused.", ""
    if person is not None:
        stop = "Have it write once a day at most, or never:"
        stop_link = f"{settings.address}{ACCOUNT}"
    to = email if person is None else person.email
    assert to is not None
    return Words(
        to=to,
        subject=subject,
        said=said,
        service=f"This is from the fairpool service at {settings.address}.",
        stop=stop,
        stop_link=stop_link,
    )


def _said(
    session: Session, settings: Settings, notice: Notice, person: Person | None
) -> Iterator[Said]:
    """What is still so of a notice, for whom it is."""
    collaboration = session.get_one(Collaboration, notice.collaboration_id)
    name = f"“{printable(collaboration.name)}”"
    if notice.about == About.INVITED.value:
        invitation = session.get(Invitation, notice.invitation_id)
        if invitation is not None and _is_open(invitation):
            yield Said(where=name, text=INVITED)
        return
    part = None if person is None else _part(session, collaboration, person)
    if part is None:
        return
    party = None if part.party_id is None else session.get_one(Party, part.party_id)
    where = name if party is None else f"{name}, for {printable(party.name)}"
    text = _text(session, notice, part)
    if text is not None:
        link = f"{settings.address}/collaborations/{collaboration.id}"
        yield Said(where=where, text=text, link=link)


def _part(session: Session, collaboration: Collaboration, person: Person) -> Membership | None:
    mine = select(Membership).where(
        Membership.collaboration_id == collaboration.id, Membership.person_id == person.id
    )
    return session.scalars(mine).one_or_none()


def _is_open(invitation: Invitation) -> bool:
    is_over = invitation.used is not None or invitation.revoked is not None
    return not is_over and invitation.expires > now()


def _text(session: Session, notice: Notice, part: Membership) -> str | None:
    is_party = part.party_id is not None
    match About(notice.about):
        case About.RELEASED:
            return (RELEASED if is_party else FOR_AUDITORS).format(round=notice.round)
        case About.FOUND:
            return FOUND.format(round=notice.round)
    if part.role == Role.AUDITOR.value:
        return None
    collaboration = session.get_one(Collaboration, part.collaboration_id)
    task = checklist.of(session, collaboration).next_of(part.party_id)
    if task is None:
        return None
    return (OF_PARTY if is_party else OF_OPERATOR).get(task.code)
