"""Where a service is, as somebody copies it out of a browser."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from fairpool.errors import ServiceError, shown

_PATH = re.compile(r"(?:/collaborations/(?P<collaboration>[\w-]{1,100})(?:/.*)?)?/?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a service is.

    Attributes:
        host: Its name or number.
        port: Where it listens.
        is_encrypted: Whether by TLS.
        netloc: Name and port, as they were given.
        collaboration: Whose page it is the address of; None: the service's own.
    """

    host: str
    port: int
    is_encrypted: bool
    netloc: str
    collaboration: str | None

    def __str__(self) -> str:
        return f"http{'s' if self.is_encrypted else ''}://{self.netloc}"

    @classmethod
    def of(cls, text: str) -> "Address":
        """The address that a text is; refused where a token could be read on the way.

        Args:
            text: Such as "https://pool.example.org", or the address of a collaboration's page.
        """
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise ServiceError(_no_address(text)) from None
        path = _PATH.fullmatch(parts.path)
        is_plain = text.isascii() and text.isprintable() and " " not in text
        if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
            raise ServiceError(_no_address(text))
        if "@" in parts.netloc:
            # Not shown: whoever writes a name there may write a password beside it.
            raise ServiceError(
                "the address of the service has a name or a password before the @; leave both out:"
                " a token says who you are"
            )
        if path is None:
            raise ServiceError(_no_address(text))
        is_encrypted = parts.scheme == "https"
        if not is_encrypted and not _is_this_machine(parts.hostname):
            raise ServiceError(
                f"{shown(text)} is not https: whoever is on the way could read your token and use"
                " it; give the service's address with https://"
            )
        return cls(
            host=parts.hostname,
            port=port or (443 if is_encrypted else 80),
            is_encrypted=is_encrypted,
            netloc=parts.netloc,
            collaboration=path["collaboration"],
        )


def _no_address(text: str) -> str:
    return (
        f"{shown(text)} is no address of a service; give one such as https://pool.example.org, or"
        " that of a collaboration's page there"
    )


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
