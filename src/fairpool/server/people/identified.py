"""Who a provider says somebody is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairpool.errors import DataError
from fairpool.server.people.accounts import fit_email, fit_name


@dataclass(frozen=True, kw_only=True)
class Identified:
    """Somebody whom a provider knows.

    Attributes:
        issuer: The provider.
        subject: Who it is there, for good; names and addresses change, and may be given to others.
        email: An address that the provider has verified; None: there is none.
        name: As the provider has it, or what the address begins with.
    """

    issuer: str
    subject: str
    email: str | None
    name: str

    @classmethod
    def of_claims(cls, issuer: str, subject: str, claims: Mapping[str, Any]) -> "Identified":
        """What is believed of a provider's claims about somebody."""
        email = _verified(claims)
        name = claims.get("name")
        for text in (name, (email or "").split("@")[0]):
            try:
                return cls(issuer=issuer, subject=subject, email=email, name=fit_name(_text(text)))
            except DataError:
                continue
        return cls(issuer=issuer, subject=subject, email=email, name="Somebody")


def _verified(claims: Mapping[str, Any]) -> str | None:
    # The word "true" is not true: whoever writes one may write the other for something else.
    if claims.get("email_verified") is not True:
        return None
    text = _text(claims.get("email"))
    # In small letters, some signs become those of somebody else's address.
    if not text.isascii() or not text.isprintable() or text != text.strip():
        return None
    try:
        return fit_email(text)
    except DataError:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
