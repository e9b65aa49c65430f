"""Accepting an invitation: with the account one has, or with a new one."""

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from fairpool.errors import ConfigurationError, DataError
from fairpool.server.consortia import events, replacing
from fairpool.server.people import invitations, passwords, sessions, throttle
from fairpool.server.people.accounts import Entered, fit_email, fit_name
from fairpool.server.people.invitations import Invited
from fairpool.server.refused import LinkOverError, NotSignedInError, RefusedError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Invitation, Membership, Person, now


def accept(session: Session, person: Person, secret: str) -> Invited:
    """Accept an invitation with the account one has.

    Args:
        session: Open.
        person: Who accepts, signed in.
        secret: Of the link.
    """
    # First the person, then the collaboration: as whoever closes an account does.
    found = session.get_one(Person, person.id, with_for_update=True, populate_existing=True)
    invited = invitations.look(session, secret, alone=True)
    if found.left is not None:
        raise NotSignedInError("this account was closed meanwhile")
    join(session, found, invited)
    return invited


def accept_as_new(
    database: Database,
    settings: Settings,
    secret: str,
    *,
    name: str,
    email: str,
    password: str,
    host: str,
    cookie: str | None,
) -> Entered:
    """Accept an invitation with a new account, and be signed in.

    Args:
        database: No transaction is open: a password takes a while.
        settings: For how long the session is.
        secret: Of the link.
        name: As it was typed.
        email: As it was typed.
        password: As it was typed.
        host: Where it comes from.
        cookie: What the browser had so far, which is worth nothing afterwards.
    """
    passwords.refuse_if_off(settings)
    with database.reading() as session:
        invitations.look(session, secret)
    name, email = _fit(name, email, password)
    # Otherwise whoever has a link could ask for one address after the other who has an account.
    subjects = [throttle.address(host)]
    throttle.begin(database, subjects)
    kept = passwords.hashed(password)
    with database.transaction() as session:
        invited = invitations.look(session, secret, alone=True)
        person = _added(session, Person(email=email, name=name, password=kept))
        join(session, person, invited)
        throttle.succeeded(session, subjects)
        opened = sessions.open_session(session, settings, person, instead_of=cookie)
        return Entered(person=person, opened=opened)


def _added(session: Session, person: Person) -> Person:
    """A new person, if nobody has the address, nor takes it at the same moment."""
    try:
        with session.begin_nested():
            session.add(person)
    except IntegrityError:
        raise RefusedError(
            "there is an account of this e-mail address; sign in with it first, and then open this"
            " link again"
        ) from None
    return person


def _fit(name: str, email: str, password: str) -> tuple[str, str]:
    """Name and address as they are kept, or all that is wrong with the three."""
    problems: list[str] = []
    try:
        name = fit_name(name)
    except DataError as error:
        problems += error.problems
    try:
        email = fit_email(email)
    except DataError as error:
        problems += error.problems
    try:
        passwords.refuse_unfit(password, email=email, name=name)
    except DataError as error:
        problems += error.problems
    if problems:
        raise ConfigurationError(*problems)
    return name, email


def join(
    session: Session, person: Person, invited: Invited, *, verified: str | None = None
) -> None:
    """Make somebody what they were invited as, and the invitation used.

    Args:
        session: Open; the invitation and the person are nobody else's until it ends.
        person: Who.
        invited: As what.
        verified: An address besides the account's, which a provider has verified.
    """
    invitation = invited.invitation
    if invited.is_reset:
        raise LinkOverError
    if invitation.email is not None and invitation.email not in (person.email, verified):
        raise RefusedError(
            "this invitation is for another e-mail address; use the address that it was sent to,"
            " or ask for an invitation without one"
        )
    if invited.collaboration is None:
        person.may_create = True
        _use(invitation, person)
        return
    if invited.party is not None and invited.party.left is not None:
        raise RefusedError(f"{invited.party.name} has left this collaboration meanwhile")
    mine = select(Membership).where(
        Membership.collaboration_id == invited.collaboration.id, Membership.person_id == person.id
    )
    if session.scalars(mine).one_or_none() is not None:
        raise RefusedError(
            "you have a part in this collaboration already, and nobody has two; leave it first, or"
            " pass the link on to whom it is for"
        )
    is_first = invited.party is not None and not replacing.has_people(session, invited.party)
    _use(invitation, person)
    session.add(
        Membership(
            collaboration_id=invited.collaboration.id,
            person_id=person.id,
            role=invited.role,
            party_id=None if invited.party is None else invited.party.id,
        )
    )
    detail = {"invitation": invitation.id, "role": invited.role.value}
    events.record(session, invited.collaboration, person, "joined", detail, about=invited.party)
    if is_first and invited.party is not None:
        session.flush()
        replacing.welcome_first(session, person, invited.collaboration, invited.party)


def _use(invitation: Invitation, person: Person) -> None:
    invitation.used = now()
    invitation.used_by = person.id
