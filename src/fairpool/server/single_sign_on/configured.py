"""Which provider people sign in with, as the environment says."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from fairpool.errors import DataError, is_printable, shown

ISSUER = "FAIRPOOL_OIDC_ISSUER"
CLIENT_ID = "FAIRPOOL_OIDC_CLIENT_ID"
CLIENT_SECRET = "FAIRPOOL_OIDC_CLIENT_SECRET"
SECRET_FILE = "FAIRPOOL_OIDC_CLIENT_SECRET_FILE"
NAME = "FAIRPOOL_OIDC_NAME"
MINUTES = "FAIRPOOL_OIDC_MINUTES"
PASSWORDS = "FAIRPOOL_PASSWORDS"

CALLBACK = "/sign-in/provider/callback"
"""Where people come back to: the provider has the service's address with this path, exactly."""

DEFAULT_MINUTES = 60
LONGEST_NAME = 40

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """A provider, and what this service is to it.

    Attributes:
        issuer: Its address, exactly as its tokens say it.
        client_id: What it calls this service.
        client_secret: What shows it that this service asks.
        name: What people call it.
        minutes: So long somebody who came from it stays signed in.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    minutes: int = DEFAULT_MINUTES


def provider_of(environment: Mapping[str, str]) -> ProviderSettings | None:
    """The provider that the environment names; None: people sign in with passwords alone."""
    issuer = environment.get(ISSUER)
    if not issuer:
        for name in (CLIENT_ID, CLIENT_SECRET, SECRET_FILE, NAME, MINUTES):
            if environment.get(name):
                raise DataError(f"{name}: it is set without {ISSUER}; set both, or neither")
        return None
    if not is_safe(issuer) or urlsplit(issuer).query or urlsplit(issuer).fragment:
        raise DataError(
            f"{ISSUER}: {shown(issuer)} is no address of a provider; give one such as"
            " https://login.example.org (http is for this machine alone)"
        )
    client_id = environment.get(CLIENT_ID)
    if not client_id:
        raise DataError(f"{CLIENT_ID}: it is not set; give what the provider calls this service")
    name = environment.get(NAME) or str(urlsplit(issuer).hostname)
    if len(name) > LONGEST_NAME or not is_printable(name):
        raise DataError(
            f"{NAME}: {shown(name)} cannot stand on a button; give 1 to {LONGEST_NAME} characters"
            " that can be read"
        )
    return ProviderSettings(
        issuer=issuer,
        client_id=client_id,
        client_secret=_secret(environment),
        name=name,
        minutes=_minutes(environment),
    )


def has_passwords(environment: Mapping[str, str], provider: ProviderSettings | None) -> bool:
    """Whether people can sign in with passwords."""
    text = environment.get(PASSWORDS) or "on"
    if text not in ("on", "off"):
        raise DataError(f"{PASSWORDS}: {shown(text)} is neither on nor off; give one of them")
    if text == "off" and provider is None:
        raise DataError(f"{PASSWORDS}: off, and no {ISSUER}: nobody could sign in; set that, too")
    return text == "on"


def is_safe(address: str) -> bool:
    """Whether what is sent to an address of a provider is read by nobody on the way."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc or not address.isascii() or not address.isprintable():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)


def _secret(environment: Mapping[str, str]) -> str:
    secret, file = environment.get(CLIENT_SECRET), environment.get(SECRET_FILE)
    if bool(secret) == bool(file):
        raise DataError(
            f"{CLIENT_SECRET}, {SECRET_FILE}: give exactly one of them, as the provider has it"
        )
    if secret:
        return secret
    path = Path(str(file))
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise DataError(f"{SECRET_FILE}: {path}: it cannot be read ({why})") from None
    if os.name != "nt" and mode & 0o077:
        raise DataError(
            f"{SECRET_FILE}: {path}: other users of this machine can read it (mode {mode:o});"
            f" close it: chmod 600 {path}"
        )
    if not text:
        raise DataError(f"{SECRET_FILE}: {path}: it is empty; put the provider's secret into it")
    return text


def _minutes(environment: Mapping[str, str]) -> int:
    text = environment.get(MINUTES) or str(DEFAULT_MINUTES)
    if not text.isdecimal() or not 1 <= int(text) <= 1440:
        raise DataError(
            f"{MINUTES}: {shown(text)} is not from 1 to 1440; give how many minutes somebody stays"
            " signed in before the provider is asked again"
        )
    return int(text)
