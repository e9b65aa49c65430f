"""A password that was forgotten: whoever runs the service makes a link with which to set another.

Nobody of a collaboration can, operators least of all: with somebody's account they could accept
terms in their name.
"""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import DataError
from fairpool.server.people import invitations, passwords, sessions, tokens
from fairpool.server.people.accounts import Entered, by_email, fit_email
from fairpool.server.refused import LinkOverError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Invitation, Role, now

LASTS = timedelta(days=1)
"""So long such a link can be used."""


def reset_link(session: Session, settings: Settings, email: str) -> str:
    """A link for one account, with which another password is set, once; earlier ones are over."""
    email = fit_email(email)
    if by_email(session, email) is None:
        raise DataError(f"{email}: there is no such account; look at how it is written")
    earlier = select(Invitation).where(
        Invitation.collaboration_id.is_(None), Invitation.email == email, Invitation.used.is_(None)
    )
    for one in session.scalars(earlier):
        session.delete(one)
    invitation, secret = invitations.make(session, settings, role=Role.OPERATOR, email=email)
    invitation.expires = now() + LASTS
    return invitations.link(settings, secret)


def reset_password(
    database: Database, settings: Settings, secret: str, *, password: str, cookie: str | None
) -> Entered:
    """Set another password by such a link, and be signed in here, and nowhere else; tokens end.

    Args:
        database: No transaction is open: a password takes a while.
        settings: For how long the session is.
        secret: Of the link.
        password: As it was typed.
        cookie: What the browser had so far, which is worth nothing afterwards.
    """
    passwords.refuse_if_off(settings)
    with database.reading() as session:
        email = _account_of(session, secret)
        person = by_email(session, email)
    if person is None:
        raise LinkOverError
    passwords.refuse_unfit(password, email=person.email, name=person.name)
    kept = passwords.hashed(password)
    with database.transaction() as session:
        invitation = invitations.look(session, secret, alone=True).invitation
        found = by_email(session, _account_of(session, secret))
        if found is None:
            raise LinkOverError
        found.password = kept
        invitation.used = now()
        invitation.used_by = found.id
        sessions.close_all(session, found)
        # Whoever lost a password may have lost more; a change of it leaves tokens alone.
        tokens.revoke_all(session, found)
        opened = sessions.open_session(session, settings, found, instead_of=cookie)
        return Entered(person=found, opened=opened)


def _account_of(session: Session, secret: str) -> str:
    """Whose password a link is for; one that is an invitation is no such link."""
    invited = invitations.look(session, secret)
    if not invited.is_reset or invited.invitation.email is None:
        raise LinkOverError
    return invited.invitation.email
