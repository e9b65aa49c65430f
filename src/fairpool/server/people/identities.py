"""Identities at a provider: signing in with one, and linking one to the account that one has.

An identity is issuer and subject. An account is never found by an e-mail address: whoever has an
account links the identity to it while being signed in. By an address that the provider has
verified, somebody gets what that very address was invited to, and nothing else.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from fairpool.server.people import invitations, joining, sessions
from fairpool.server.people.accounts import Entered, by_email
from fairpool.server.people.identified import Identified
from fairpool.server.refused import NotInvitedError, RefusedError
from fairpool.server.settings import Settings
from fairpool.server.single_sign_on.configured import ProviderSettings
from fairpool.server.store.tables import Identity, Invitation, Person, now

TOKENS_LAST = timedelta(days=30)
"""So long after the last sign-in at the provider the tokens of somebody work who has no other."""


def enter(
    session: Session,
    settings: Settings,
    who: Identified,
    *,
    invitation_id: str | None,
    cookie: str | None,
) -> Entered:
    """Sign somebody in whom the provider knows, with an account that is there or is made.

    Args:
        session: Open.
        settings: With a provider.
        who: As the provider says it.
        invitation_id: Whose link was opened before.
        cookie: What the browser had so far, which is worth nothing afterwards.
    """
    provider = settings.provider
    assert provider is not None
    # Whoever accepts locks invitations before people; so does everybody who does both.
    open_ones = _invitations(session, who, invitation_id)
    identity = _found(session, who)
    if identity is None:
        person = _new_person(session, who, open_ones, provider)
        identity = Identity(person_id=person.id, issuer=who.issuer, subject=who.subject)
        session.add(identity)
    else:
        person = session.get_one(Person, identity.person_id, with_for_update=True)
        if _found(session, who) is not identity or person.left is not None:
            raise RefusedError("this identity was taken from its account meanwhile; begin again")
        for invitation in open_ones:
            _join(session, person, invitation, who)
    identity.seen = now()
    until = now() + timedelta(minutes=provider.minutes)
    opened = sessions.open_session(session, settings, person, instead_of=cookie, until=until)
    return Entered(person=person, opened=opened)


def link(session: Session, person: Person, who: Identified) -> None:
    """Link an identity to an account.

    Args:
        session: Open.
        person: Whose account; signed in, both here and at the provider.
        who: As the provider says it.
    """
    found = session.get_one(Person, person.id, with_for_update=True)
    identity = _found(session, who)
    if found.left is not None or (identity is not None and identity.person_id != person.id):
        raise RefusedError(
            "this identity belongs to another account here; sign in with it, or close that account"
        )
    if identity is not None:
        return
    if of_person(session, person, who.issuer) is not None:
        raise RefusedError(
            "another identity of the same provider is linked to your account; remove it first"
        )
    try:
        with session.begin_nested():
            session.add(
                Identity(person_id=person.id, issuer=who.issuer, subject=who.subject, seen=now())
            )
    except IntegrityError:
        raise RefusedError("this identity was linked meanwhile, elsewhere; try again") from None


def unlink(session: Session, settings: Settings, person: Person) -> None:
    """Take the identity from an account that has a password to sign in with."""
    found = session.get_one(Person, person.id, with_for_update=True)
    if settings.provider is None or not settings.has_passwords or not found.password:
        raise RefusedError("without it you could not sign in any longer; it stays")
    session.execute(
        delete(Identity).where(
            Identity.person_id == person.id, Identity.issuer == settings.provider.issuer
        )
    )


def of_person(session: Session, person: Person, issuer: str) -> Identity | None:
    """A person's identity at a provider; None: none is linked."""
    mine = select(Identity).where(Identity.person_id == person.id, Identity.issuer == issuer)
    return session.scalars(mine).one_or_none()


def is_confirmed(session: Session, settings: Settings, person: Person) -> bool:
    """Whether programs may still act for somebody: a provider may have removed its own people.

    Those who can sign in with a password need nobody's confirmation.
    """
    if settings.has_passwords and person.password:
        return True
    latest = select(func.max(Identity.seen)).where(Identity.person_id == person.id)
    seen = session.scalar(latest)
    if seen is None:
        return settings.has_passwords
    return seen > now() - TOKENS_LAST


def _found(session: Session, who: Identified) -> Identity | None:
    mine = select(Identity).where(Identity.issuer == who.issuer, Identity.subject == who.subject)
    return session.scalars(mine.execution_options(populate_existing=True)).one_or_none()


def _invitations(session: Session, who: Identified, invitation_id: str | None) -> list[Invitation]:
    """What somebody is invited to: by the link that was opened, and by a verified address."""
    is_theirs = Invitation.id == (invitation_id or "")
    if who.email is not None:
        # Without a collaboration, an address is that of an account whose password is forgotten.
        by_address = (Invitation.email == who.email) & Invitation.collaboration_id.is_not(None)
        is_theirs = is_theirs | by_address
    wanted = select(Invitation).where(
        is_theirs,
        Invitation.used.is_(None),
        Invitation.revoked.is_(None),
        Invitation.expires > now(),
    )
    return list(session.scalars(wanted.order_by(Invitation.id).with_for_update()))


def _new_person(
    session: Session, who: Identified, open_ones: list[Invitation], provider: ProviderSettings
) -> Person:
    if who.email is None:
        raise NotInvitedError(
            f"{provider.name} does not say that it has verified your e-mail address, and an"
            " invitation is found by nothing else; ask those who run it, or sign in with a"
            " password and link the identity on your account page"
        )
    if by_email(session, who.email) is not None:
        raise _taken(who, provider)
    if not open_ones:
        raise NotInvitedError(
            f"nobody has invited {who.email}; ask the operator of your collaboration to invite"
            " this address, or open the link that you were sent"
        )
    person = Person(email=who.email, name=who.name, password="")
    try:
        with session.begin_nested():
            session.add(person)
    except IntegrityError:
        raise _taken(who, provider) from None
    refused = [error for one in open_ones if (error := _join(session, person, one, who))]
    if len(refused) == len(open_ones):
        raise refused[0]
    return person


def _taken(who: Identified, provider: ProviderSettings) -> RefusedError:
    return NotInvitedError(
        f"there is an account of {who.email}, to which this identity is not linked; sign in with"
        f" its password, and link {provider.name} on the account page"
    )


def _join(
    session: Session, person: Person, invitation: Invitation, who: Identified
) -> RefusedError | None:
    """Have somebody take what they were invited to; what cannot be taken stays open."""
    try:
        joining.join(session, person, invitations.told(session, invitation), verified=who.email)
    except RefusedError as error:
        return error
    return None
