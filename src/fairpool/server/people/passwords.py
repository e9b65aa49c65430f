"""Passwords: kept as argon2id; looking at one is the same work where there is no account."""

import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from fairpool.errors import DataError
from fairpool.server.refused import NotAllowedError
from fairpool.server.settings import Settings

SHORTEST = 12
LONGEST = 200
FEWEST_SIGNS = 5
"""A password of fewer different signs is guessed, however long it is."""

MOST_AT_ONCE = 4
"""So many passwords are looked at at a time: each takes 46 MiB."""

_hasher = PasswordHasher(time_cost=2, memory_cost=46 * 1024, parallelism=1)
_room = threading.BoundedSemaphore(MOST_AT_ONCE)

_NOBODY = _hasher.hash("nobody signs in with this")
"""Verified where there is no account, so that nobody learns that from the time it takes."""


def hashed(password: str) -> str:
    """What is kept of a password."""
    with _room:
        return _hasher.hash(_same_signs(password))


def refuse_unfit(password: str, *, email: str, name: str) -> None:
    """Refuse a new password that is guessed soon.

    Args:
        password: As it was typed.
        email: Whose.
        name: Whose.
    """
    password = _same_signs(password)
    if not SHORTEST <= len(password) <= LONGEST:
        raise DataError(
            f"password: it has {len(password)} characters; take {SHORTEST} to {LONGEST}, such as"
            " four words that nobody expects together"
        )
    if len(set(password)) < FEWEST_SIGNS:
        raise DataError(
            f"password: it has fewer than {FEWEST_SIGNS} different characters; take others"
        )
    known = {email.casefold(), email.split("@")[0].casefold() * 2, name.casefold()}
    if password.casefold() in known:
        raise DataError("password: it is your name or e-mail address; take another")


def refuse_if_off(settings: Settings) -> None:
    """Refuse whatever is about passwords, where people sign in at a provider alone."""
    if not settings.has_passwords and settings.provider is not None:
        raise NotAllowedError(
            f"this service has no passwords; sign in with {settings.provider.name}"
        )


def is_right(kept: str | None, password: str) -> bool:
    """Whether a password is the one that is kept.

    Args:
        kept: What is kept of it; None: there is no account, which takes as long.
        password: As it was typed.
    """
    with _room:
        try:
            matches = _hasher.verify(kept or _NOBODY, _same_signs(password[:LONGEST]))
        except (VerificationError, InvalidHashError):
            return False
    return matches and bool(kept)


def is_outdated(kept: str) -> bool:
    """Whether a password was kept by less work than today's."""
    return _hasher.check_needs_rehash(kept)


def _same_signs(password: str) -> str:
    """Keyboards write the same letter in several ways."""
    return unicodedata.normalize("NFC", password)
