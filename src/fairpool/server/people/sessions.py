"""Browsers that are signed in: each has a random cookie, of which the hash is kept."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from fairpool.server.people.secret_words import digest_of, is_same, new_secret
from fairpool.server.settings import Settings
from fairpool.server.store.tables import BrowserSession, Person, now

SEEN_EVERY = timedelta(minutes=5)
"""That a session is used is written down no more often: reading a page should not write."""

LONGEST = 14
"""However much it is used, a session ends after so many times its hours."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A new session: the cookie, which is nowhere else, and what is kept."""

    cookie: str
    kept: BrowserSession


def open_session(
    session: Session,
    settings: Settings,
    person: Person,
    *,
    instead_of: str | None = None,
    until: datetime | None = None,
) -> Opened:
    """A new session of somebody who has just shown who they are.

    Args:
        session: Open.
        settings: For how long.
        person: Who.
        instead_of: The cookie that the browser had so far, which is worth nothing afterwards:
            somebody else may have put it there.
        until: Then it ends, however much it is used: whoever said who this is is asked again.
    """
    if instead_of:
        close(session, digest_of(instead_of))
    cookie = new_secret()
    expires = now() + timedelta(hours=settings.session_hours)
    kept = BrowserSession(
        digest=digest_of(cookie),
        person_id=person.id,
        form_token=new_secret(),
        expires=expires if until is None else min(expires, until),
        until=until,
    )
    session.execute(delete(BrowserSession).where(BrowserSession.expires < now()))
    session.add(kept)
    session.flush()
    return Opened(cookie=cookie, kept=kept)


def find(session: Session, cookie: str) -> tuple[BrowserSession, Person] | None:
    """The session of a cookie, and whose it is; None: there is none, or it is over."""
    digest = digest_of(cookie)
    found = session.execute(
        select(BrowserSession, Person)
        .join(Person, Person.id == BrowserSession.person_id)
        .where(BrowserSession.digest == digest)
    ).one_or_none()
    if found is None:
        return None
    kept, person = found
    if not is_same(kept.digest, digest) or kept.expires <= now() or person.left is not None:
        return None
    return kept, person


def is_open(session: Session, digest: str) -> bool:
    """Whether a session that was found still is one."""
    kept = session.get(BrowserSession, digest)
    return kept is not None and kept.expires > now()


def is_due(kept: BrowserSession) -> bool:
    """Whether it should be written down that a session is used."""
    return now() - kept.seen > SEEN_EVERY


def prolong(session: Session, settings: Settings, digest: str) -> None:
    """Write down that a session is used, so that it does not end."""
    kept = session.get(BrowserSession, digest)
    if kept is None:
        return
    lasting = timedelta(hours=settings.session_hours)
    kept.seen = now()
    kept.expires = min(now() + lasting, kept.created + LONGEST * lasting)
    if kept.until is not None:
        kept.expires = min(kept.expires, kept.until)


def of_person(session: Session, person: Person) -> list[BrowserSession]:
    """All browsers that somebody is signed in with, the one used last first."""
    mine = select(BrowserSession).where(
        BrowserSession.person_id == person.id, BrowserSession.expires > now()
    )
    return list(session.scalars(mine.order_by(BrowserSession.seen.desc())))


def close(session: Session, digest: str) -> None:
    """Sign a browser out; nothing happens where it was not signed in."""
    session.execute(delete(BrowserSession).where(BrowserSession.digest == digest))


def close_all(session: Session, person: Person, *, but: str | None = None) -> int:
    """Sign a person out everywhere, but for the session of a digest; how many there were."""
    others = delete(BrowserSession).where(BrowserSession.person_id == person.id)
    if but is not None:
        others = others.where(BrowserSession.digest != but)
    return len(session.execute(others.returning(BrowserSession.digest)).all())
