"""Who guesses waits: after some failures, longer with every further one.

Counted are the failures of an account from one address, which are few, those of an account from
anywhere, and those of an address whatever the account. So whoever guesses at somebody's account
keeps that person from signing in only with many addresses.

An attempt counts as failed when it begins, and is taken back when it succeeds: many at once are as
slow as one after the other. While somebody waits, nothing is looked at, so the right password is
refused as well.
"""

import hashlib
import ipaddress
import math
from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from fairpool.server.refused import TooManyError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Attempts, now

FREE_OF_BOTH = 5
FREE_OF_ADDRESS = 20
FREE_OF_ACCOUNT = 100
"""So many failures have no consequences: of an account from one address, of the address, of the
account from anywhere."""

FIRST_WAIT = timedelta(seconds=15)
LONGEST_WAIT = timedelta(minutes=15)

FORGOTTEN = timedelta(days=1)
"""Failures that lie longer back no longer count."""

_ACCOUNT = "account:"
_FROM = "from:"
_BOTH = "both:"


def of_sign_in(email: str, host: str) -> list[str]:
    """The subjects of who shows a password for an account."""
    both = f"{account(email)} {address(host)}"
    return [_BOTH + _hashed(both), account(email), address(host)]


def account(email: str) -> str:
    """The subject of an account, whether there is one or not."""
    return _ACCOUNT + _hashed(email)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def address(host: str) -> str:
    """The subject of where somebody comes from: of IPv6, the network that one household has."""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return _FROM + host[:60]
    if ip.version == 6:
        return _FROM + str(ipaddress.ip_network((ip, 64), strict=False))
    return _FROM + str(ip)


def begin(database: Database, subjects: list[str]) -> None:
    """Count an attempt as failed, or refuse it because one of its subjects must wait.

    Args:
        database: Where they are counted; whatever follows is in another transaction.
        subjects: Of `of_sign_in`, or others.
    """
    with database.reading() as session:
        # Nothing is written for who waits: guesses of endless addresses leave nothing.
        wanted = select(Attempts.locked_until).where(
            Attempts.subject.in_(subjects), Attempts.locked_until > now()
        )
        ends = [end for end in session.scalars(wanted) if end is not None]
    if ends:
        raise waiting(max(ends) - now())
    with database.transaction() as session:
        session.execute(delete(Attempts).where(Attempts.last < now() - FORGOTTEN))
        attempts = [_locked(session, subject) for subject in sorted(subjects)]
        waits = [one.locked_until - now() for one in attempts if one.locked_until is not None]
        longest = max(waits, default=timedelta(0))
        if longest <= timedelta(0):
            for one in attempts:
                _count(one)
            return
    raise waiting(longest)


def succeeded(session: Session, subjects: list[str]) -> None:
    """Take an attempt back; an account's failures are forgotten, an address's others are not."""
    for subject in sorted(subjects):
        one = _locked(session, subject)
        if not subject.startswith(_FROM):
            session.delete(one)
            continue
        one.failed = max(0, one.failed - 1)
        one.locked_until = None if one.failed < _free(subject) else one.locked_until


def waiting(time: timedelta) -> TooManyError:
    """What is said to who must wait."""
    seconds = max(1, math.ceil(time.total_seconds()))
    told = f"{seconds} seconds" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
    return TooManyError(f"there were too many failed attempts; wait {told}", seconds=seconds)


def _free(subject: str) -> int:
    kind = subject.partition(":")[0] + ":"
    return {_ACCOUNT: FREE_OF_ACCOUNT, _FROM: FREE_OF_ADDRESS, _BOTH: FREE_OF_BOTH}[kind]


def _count(one: Attempts) -> None:
    one.failed += 1
    one.last = now()
    too_many = one.failed - _free(one.subject)
    if too_many >= 0:
        # No more than a few hundred are ever reached, but a power of two grows.
        one.locked_until = now() + min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(too_many, 20))


def _locked(session: Session, subject: str) -> Attempts:
    """The count of a subject, which nobody else changes until the transaction ends."""
    wanted = (
        select(Attempts)
        .where(Attempts.subject == subject)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    found = session.scalars(wanted).one_or_none()
    if found is not None:
        return found
    try:
        with session.begin_nested():
            session.add(Attempts(subject=subject, failed=0, last=now()))
    except IntegrityError:
        pass  # somebody else was first
    return session.scalars(wanted).one()
