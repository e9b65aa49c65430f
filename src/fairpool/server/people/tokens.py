"""Tokens of programs: what they have instead of a password, for a time."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.errors import DataError, shown
from fairpool.server.people.secret_words import digest_of, is_same, new_secret
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import ApiToken, Person, now

BEGINNING = "fp_"
"""Of every token, so that searches for leaked secrets recognise one."""

MOST_DAYS = 366
USED_EVERY = timedelta(minutes=5)
"""That a token is used is written down no more often."""


def make(session: Session, person: Person, *, name: str, days: int) -> tuple[ApiToken, str]:
    """A token of a person, and its text, which is nowhere else.

    Args:
        session: Open.
        person: Whose program it is for.
        name: What it is for, in the person's words.
        days: So long it can be used.
    """
    name = name.strip()
    if not 1 <= len(name) <= 100:
        raise DataError("name: give 1 to 100 characters that say what the token is for")
    if not 1 <= days <= MOST_DAYS:
        raise DataError(f"days: {shown(days)} is not from 1 to {MOST_DAYS}; a token ends")
    secret = BEGINNING + new_secret()
    token = ApiToken(
        digest=digest_of(secret),
        person_id=person.id,
        name=name,
        expires=now() + timedelta(days=days),
    )
    session.add(token)
    session.flush()
    return token, secret


def find(session: Session, secret: str) -> tuple[ApiToken, Person] | None:
    """The token of a text, and whose it is; None: there is none, or it is over."""
    digest = digest_of(secret)
    found = session.execute(
        select(ApiToken, Person)
        .join(Person, Person.id == ApiToken.person_id)
        .where(ApiToken.digest == digest)
    ).one_or_none()
    if found is None:
        return None
    token, person = found
    is_over = token.revoked is not None or token.expires <= now() or person.left is not None
    if is_over or not is_same(token.digest, digest):
        return None
    return token, person


def is_valid(session: Session, token_id: str) -> bool:
    """Whether a token that was found still is one."""
    token = session.get(ApiToken, token_id)
    return token is not None and token.revoked is None and token.expires > now()


def is_due(token: ApiToken) -> bool:
    """Whether it should be written down that a token is used."""
    return token.used is None or now() - token.used > USED_EVERY


def note_use(session: Session, token_id: str) -> None:
    """Write down that a token is used."""
    token = session.get(ApiToken, token_id)
    if token is not None:
        token.used = now()


def of_person(session: Session, person: Person) -> list[ApiToken]:
    """A person's tokens that were not revoked, the newest first."""
    mine = select(ApiToken).where(ApiToken.person_id == person.id, ApiToken.revoked.is_(None))
    return list(session.scalars(mine.order_by(ApiToken.created.desc())))


def revoke(session: Session, person: Person, token_id: str) -> None:
    """End one of a person's own tokens."""
    token = session.get(ApiToken, token_id)
    if token is None or token.person_id != person.id or token.revoked is not None:
        raise NotFoundError
    token.revoked = now()


def revoke_all(session: Session, person: Person) -> None:
    """End all of a person's tokens."""
    for token in of_person(session, person):
        token.revoked = now()
