"""Accounts: signing in, names, passwords, and leaving."""

import re
from dataclasses import dataclass

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from fairpool.errors import DataError, is_printable, shown
from fairpool.server.people import passwords, sessions, throttle, tokens
from fairpool.server.people.sessions import Opened
from fairpool.server.refused import RefusedError, WrongPasswordError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Identity, Person, now

LONGEST_NAME = 100
LONGEST_EMAIL = 254

_EMAIL = re.compile(r"[^@\s<>\"',;]+@[^@\s<>\"',;]+")


@dataclass(frozen=True, kw_only=True)
class Entered:
    """Somebody has just signed in."""

    person: Person
    opened: Opened


def fit_email(text: str) -> str:
    """An e-mail address as it is kept: in small letters."""
    email = text.strip().lower()
    is_fit = len(email) <= LONGEST_EMAIL and is_printable(email)
    if not is_fit or not _EMAIL.fullmatch(email):
        raise DataError(
            f"email: {shown(text)} is no e-mail address; give one such as anna@example.org"
        )
    return email


def fit_name(text: str) -> str:
    """A person's name as it is kept."""
    name = " ".join(text.split())
    if not 1 <= len(name) <= LONGEST_NAME or not is_printable(name):
        raise DataError(
            f"name: {shown(text)} is no name; give 1 to {LONGEST_NAME} characters that can be read"
        )
    return name


def by_email(session: Session, email: str) -> Person | None:
    """Whose account an address is; None: nobody's."""
    return session.scalars(select(Person).where(Person.email == email)).one_or_none()


def sign_in(
    database: Database,
    settings: Settings,
    *,
    email: str,
    password: str,
    host: str,
    cookie: str | None,
) -> Entered:
    """Sign somebody in, in a new session.

    Args:
        database: No transaction is open: a password takes a while.
        settings: For how long.
        email: As it was typed.
        password: As it was typed.
        host: Where it comes from.
        cookie: What the browser had so far, which is worth nothing afterwards.
    """
    passwords.refuse_if_off(settings)
    email = email.strip().lower()
    subjects = throttle.of_sign_in(email, host)
    throttle.begin(database, subjects)
    with database.reading() as session:
        person = by_email(session, email)
    if not passwords.is_right(None if person is None else person.password, password):
        raise WrongPasswordError
    assert person is not None
    kept = person.password
    if passwords.is_outdated(kept):
        kept = passwords.hashed(password)
    with database.transaction() as session:
        found = session.get(Person, person.id, with_for_update=True)
        if found is None or found.left is not None or found.password != person.password:
            raise WrongPasswordError
        found.password = kept
        throttle.succeeded(session, subjects)
        opened = sessions.open_session(session, settings, found, instead_of=cookie)
        return Entered(person=found, opened=opened)


def rename(session: Session, person: Person, name: str) -> Person:
    """Call oneself otherwise; what was signed keeps the name it has."""
    found = session.get_one(Person, person.id)
    found.name = fit_name(name)
    return found


def change_password(
    database: Database, settings: Settings, person: Person, *, old: str, new: str, host: str
) -> Opened:
    """Have another password, and be signed out everywhere but here, where the session is new.

    Tokens stay: they are ended one by one.
    """
    passwords.refuse_if_off(settings)
    show_password(database, person, password=old, host=host)
    if old == new:
        raise DataError("password: the new one is the old one; take another")
    passwords.refuse_unfit(new, email=person.email, name=person.name)
    kept = passwords.hashed(new)
    with database.transaction() as session:
        found = session.get_one(Person, person.id, with_for_update=True)
        if found.password != person.password or found.left is not None:
            raise RefusedError("the password was changed meanwhile, elsewhere; sign in again")
        found.password = kept
        sessions.close_all(session, found)
        return sessions.open_session(session, settings, found)


def show_password(database: Database, person: Person, *, password: str, host: str) -> None:
    """Have somebody who is signed in show once more who they are, before the account changes."""
    subjects = throttle.of_sign_in(person.email, host)
    throttle.begin(database, subjects)
    if not passwords.is_right(person.password, password):
        raise WrongPasswordError("the password that you have is another one; type it again")
    with database.transaction() as session:
        throttle.succeeded(session, subjects)


def close_account(session: Session, person: Person) -> None:
    """Have no account any longer, after `members.leave_everywhere`.

    The name stays where something was signed or done; the address can be used anew.
    """
    found = session.get_one(Person, person.id, with_for_update=True)
    sessions.close_all(session, found)
    tokens.revoke_all(session, found)
    session.execute(delete(Identity).where(Identity.person_id == found.id))
    found.email = f"left:{found.id}"
    found.password = ""
    found.may_create = False
    found.left = now()
