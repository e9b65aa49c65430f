"""The outbox: notices become mails, and a mail is sent by whoever holds it for a while.

As with jobs (`fairpool.server.work.queue`), a mail that is taken is numbered anew, and whatever is
written of it is written under that number alone. Who dies while a server has the mail, and before
that is written, leaves it to be sent once more: under the same Message-ID.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, delete, func, or_, select, text, update
from sqlalchemy.orm import Session
from sqlalchemy.sql import Select

from fairpool.server.mail.configured import MailServer
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Mail, MailChoice, MailState, Notice, Person
from fairpool.server.work.queue import clock

DAY = timedelta(days=1)
KEPT = timedelta(days=7)
"""What could be told nobody for so long is dropped: the page says it. So is what ended."""

FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=4)
MOST_TRIES = 14
"""A mail is tried so often, in a day."""

A_DIGEST = 1
"""Mails a day."""


class MailLostError(Exception):
    """Another worker has the mail by now."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """A mail that somebody holds.

    Attributes:
        mail: It, as it was when it was taken.
        fence: Under which number.
    """

    mail: Mail
    fence: int


def gather(database: Database, server: MailServer) -> int:
    """Put what is to be told into mails, one for each person; how many are new.

    A mail that was not yet sent takes up what comes meanwhile. Whoever had as many as there may be
    in a day is told the rest in one mail, later.

    Args:
        database: Where the outbox is.
        server: Which says how long is waited, and how many there may be.
    """
    with database.reading() as session:
        if not _ripe(session, server):
            return 0
    made = 0
    with database.transaction() as session:
        if not database.is_sqlite:
            # Of two who gather at once, the second would make a second mail.
            session.execute(text("SELECT pg_advisory_xact_lock(7216022)"))
        for person_id, email in _ripe(session, server):
            made += _gather_for(session, server, person_id, email)
    return made


def _ripe(session: Session, server: MailServer) -> list[tuple[str | None, str | None]]:
    """Who is to be told something that has waited for long enough."""
    until = clock(session) - timedelta(seconds=server.window_seconds)
    return [
        (person_id, email)
        for person_id, email in session.execute(
            select(Notice.person_id, Notice.email)
            .where(Notice.mail_id.is_(None))
            .group_by(Notice.person_id, Notice.email)
            .having(func.min(Notice.created) <= until)
        )
    ]


def _gather_for(
    session: Session, server: MailServer, person_id: str | None, email: str | None
) -> int:
    to_tell = Notice.mail_id.is_(None) & _same(Notice.person_id, Notice.email, person_id, email)
    most = _most_a_day(session, server, person_id)
    if most == 0:
        session.execute(delete(Notice).where(to_tell))
        return 0
    own = _same(Mail.person_id, Mail.email, person_id, email)
    waiting = select(Mail).where(own, Mail.state == MailState.WAITING.value)
    mail = session.scalars(waiting.limit(1).with_for_update()).first()
    time = clock(session)
    is_new = mail is None
    if mail is None:
        recent = select(func.count()).where(
            own, Mail.created > time - DAY, Mail.state != MailState.DROPPED.value
        )
        if session.scalars(recent.select_from(Mail)).one() >= most:
            return 0
        mail = Mail(person_id=person_id, email=email, due=time, created=time)
        session.add(mail)
        session.flush()
    session.execute(update(Notice).where(to_tell).values(mail_id=mail.id))
    return int(is_new)


def _same(own_person: Any, own_email: Any, person_id: str | None, email: str | None) -> Any:
    """Whether a row is for somebody: with an account, or for an address."""
    if person_id is not None:
        return own_person == person_id
    return and_(own_person.is_(None), own_email == email)


def _most_a_day(session: Session, server: MailServer, person_id: str | None) -> int:
    if person_id is None:
        return server.most_a_day
    person = session.get(Person, person_id)
    if person is None or person.left is not None or person.mail == MailChoice.OFF.value:
        return 0
    return A_DIGEST if person.mail == MailChoice.DIGEST.value else server.most_a_day


def take(database: Database, lease_seconds: float) -> Held | None:
    """Take the mail that has been due for longest; None: there is none.

    Args:
        database: Where the outbox is.
        lease_seconds: So long it is held.
    """
    with database.reading() as session:
        if session.scalar(_free(session)) is None:
            return None
    with database.transaction() as session:
        mail = session.scalar(_free(session).with_for_update(skip_locked=True))
        if mail is None:
            return None
        mail.state = MailState.SENDING.value
        mail.fence += 1
        mail.tries += 1
        mail.leased_until = clock(session) + timedelta(seconds=lease_seconds)
        return Held(mail=mail, fence=mail.fence)


def _free(session: Session) -> Select[Mail]:
    time = clock(session)
    is_due = and_(Mail.state == MailState.WAITING.value, Mail.due <= time)
    is_left = and_(Mail.state == MailState.SENDING.value, Mail.leased_until < time)
    return select(Mail).where(or_(is_due, is_left)).order_by(Mail.due, Mail.id).limit(1)


def sent(database: Database, held: Held) -> None:
    """The server has it."""
    _end(database, held, MailState.SENT)


def dropped(database: Database, held: Held) -> None:
    """There is nothing to tell any longer."""
    _end(database, held, MailState.DROPPED)


def gave_up(database: Database, held: Held, problem: str) -> None:
    """It is not tried again, for a reason that the operator is shown."""
    _end(database, held, MailState.GIVEN_UP, problem=problem)


def postponed(database: Database, held: Held, problem: str) -> None:
    """It is tried again, after a pause that is longer each time; the last one gives it up."""
    if held.mail.tries >= MOST_TRIES:
        gave_up(database, held, problem)
        return
    with database.transaction() as session:
        due = clock(session) + pause_after(held.mail.tries)
        _write(session, held, MailState.WAITING, due=due, problem=problem)


def pause_after(tries: int) -> timedelta:
    """How long to wait after so many attempts.

    >>> [str(pause_after(tries)) for tries in (1, 2, 8, 9)]
    ['0:01:00', '0:02:00', '2:08:00', '4:00:00']
    """
    pause = FIRST_PAUSE * int(2 ** (tries - 1))
    return min(pause, LONGEST_PAUSE)


def forget_old(database: Database) -> None:
    """Remove what ended long ago, and what could be told nobody for as long."""
    with database.transaction() as session:
        before: datetime = clock(session) - KEPT
        ended = select(Mail.id).where(Mail.ended < before)
        session.execute(delete(Notice).where(Notice.mail_id.in_(ended)))
        session.execute(delete(Mail).where(Mail.ended < before))
        is_old = and_(Notice.mail_id.is_(None), Notice.created < before)
        session.execute(delete(Notice).where(is_old))


def _end(database: Database, held: Held, state: MailState, problem: str | None = None) -> None:
    with database.transaction() as session:
        _write(session, held, state, ended=clock(session), problem=problem)
        session.execute(delete(Notice).where(Notice.mail_id == held.mail.id))


def _write(session: Session, held: Held, state: MailState, **values: Any) -> None:
    written = session.execute(
        update(Mail)
        .where(Mail.id == held.mail.id, Mail.fence == held.fence)
        .where(Mail.state == MailState.SENDING.value)
        .values(state=state.value, leased_until=None, **values)
        .execution_options(synchronize_session=False)
    )
    if written.rowcount != 1:  # type: ignore[attr-defined]  # an update has one
        raise MailLostError(f"mail {held.mail.id} is no longer held under number {held.fence}")
