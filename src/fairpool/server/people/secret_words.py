"""What lets somebody in (session, token, invitation): random, shown once, kept as its hash."""

import hashlib
import hmac
import secrets

SECRET_BYTES = 32
"""Of randomness: nobody tries one of 2^256."""


def new_secret() -> str:
    """A secret that nobody guesses, of signs that stand in an address as they are."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest_of(secret: str) -> str:
    """What is kept of a secret, and what it is found by.

    A plain hash is enough, since the secret is random. Whoever measures how long a search for a
    hash takes learns nothing about secrets.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_same(one: str, other: str) -> bool:
    """Whether two secrets, or two digests, are equal, in a time that does not tell where not."""
    return hmac.compare_digest(
        one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    )
