"""Where mail goes out, as the environment says it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fairpool.compute.private_files import private_content
from fairpool.errors import DataError, shown

SERVER = "FAIRPOOL_SMTP"
SENDER = "FAIRPOOL_MAIL_FROM"
PASSWORD = "FAIRPOOL_SMTP_PASSWORD"
PASSWORD_FILE = "FAIRPOOL_SMTP_PASSWORD_FILE"

TLS = "smtps"
PORTS = {TLS: 465, "smtp": 587}

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine: nobody is on the way to it, who could read what goes there without TLS."""

EXAMPLE = "smtps://user@mail.example.org:465"


@dataclass(frozen=True, kw_only=True)
class MailServer:
    """A server that takes mail, and how it is used.

    Attributes:
        host: Its name, which its certificate must have.
        port: Where it listens.
        is_tls: Whether it speaks TLS from the first byte; otherwise it is asked to begin with it.
        user: Who it lets send; empty: it asks nobody.
        password: Of the user.
        sender: The address that mail is from.
        window_seconds: So long it is waited for more to tell before a mail is written.
        most_a_day: Nobody gets more mails within 24 hours.
        seconds: So long all of one mail may take.
    """

    host: str
    port: int
    is_tls: bool
    user: str
    password: str = field(repr=False)
    sender: str
    window_seconds: float = 120.0
    most_a_day: int = 10
    seconds: float = 60.0

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine."""
        return self.host in LOOPBACK


def mail_server(
    environment: Mapping[str, str], *, window_seconds: float, most_a_day: int
) -> MailServer | None:
    """The server that the environment names; None: no mail is sent.

    Args:
        environment: The process's.
        window_seconds: As `MailServer` has it.
        most_a_day: As `MailServer` has it.
    """
    address = environment.get(SERVER, "")
    if not address:
        return None
    parts = urlsplit(address)
    try:
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        port = 0
    if parts.password is not None:
        # Other programs of the machine may see it there, and so may logs; it is not echoed, either.
        raise DataError(
            f"{SERVER}: a password stands in it; take it out, and name a file with it that is for"
            f" you alone (mode 600) by {PASSWORD_FILE}"
        )
    is_more = bool(parts.path.strip("/") or parts.query or parts.fragment)
    if parts.scheme not in PORTS or not parts.hostname or not port or is_more:
        raise DataError(f"{SERVER}: {shown(address)} is no server for mail; give {EXAMPLE}")
    user = unquote(parts.username or "")
    password = _password(environment)
    if bool(user) != bool(password):
        raise DataError(
            f"{SERVER}: a user and a password belong together; give {EXAMPLE}, and the password in"
            f" a file that {PASSWORD_FILE} names, or neither"
        )
    return MailServer(
        host=parts.hostname,
        port=port,
        is_tls=parts.scheme == TLS,
        user=user,
        password=password,
        sender=_sender(environment),
        window_seconds=window_seconds,
        most_a_day=most_a_day,
    )


def _password(environment: Mapping[str, str]) -> str:
    given, file = environment.get(PASSWORD, ""), environment.get(PASSWORD_FILE, "")
    if given and file:
        raise DataError(f"{PASSWORD} and {PASSWORD_FILE}: give one of them")
    if not file:
        return given
    content = private_content(Path(file), "the password for mail")
    return content.decode(errors="replace").strip()


def _sender(environment: Mapping[str, str]) -> str:
    sender = environment.get(SENDER, "").strip()
    name, _, domain = sender.rpartition("@")
    is_plain = sender.isascii() and sender.isprintable() and not set(sender) & set(' <>",;:()[]\\')
    if not name or not domain or "@" in name or not is_plain:
        raise DataError(
            f"{SENDER}: {shown(sender)} is no e-mail address; give the one that mail is from, such"
            " as fairpool@example.org"
        )
    return sender
