"""A real server for mail on this machine, which keeps what it is given."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from fairpool.server.mail.configured import MailServer
from fairpool.server.settings import Settings

SENDER = "fairpool@pool.example.org"
PASSWORD = "the password of mail"


@dataclass
class Mailbox:
    """What a server was given.

    Attributes:
        answers: What it answers to some addresses; all others it takes.
        envelopes: Who gets what was given.
        signed_in: Whether a user had signed in for it.
        came: Set once something was given.
        holds: While it is set, the server says nothing to what was given.
        port: Where it listens.
    """

    answers: dict[str, str] = field(default_factory=dict)
    envelopes: list[tuple[str, bytes]] = field(default_factory=list)
    signed_in: list[bool] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)
    holds: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.answers:
            return self.answers[address]
        envelope.rcpt_tos.append(address)
        return "250 yes"

    async def handle_DATA(self, server, session, envelope):
        (to,) = envelope.rcpt_tos
        self.came.set()
        while self.holds.is_set():
            await asyncio.sleep(0.02)
        self.envelopes.append((to, envelope.content))
        self.signed_in.append(bool(session.authenticated))
        return "250 taken"

    @property
    def messages(self) -> list[EmailMessage]:
        return [message_from_bytes(content, policy=default) for _, content in self.envelopes]

    def to(self, address: str) -> list[str]:
        """The plain texts that somebody got."""
        return [
            message.get_body(("plain",)).get_content().replace("\r\n", "\n")
            for message in self.messages
            if message["To"] == address
        ]

    def server(self, **more) -> MailServer:
        """How the service is told of it."""
        first = MailServer(
            host="127.0.0.1",
            port=self.port,
            is_tls=False,
            user="",
            password="",
            sender=SENDER,
            window_seconds=0.0,
            seconds=20.0,
        )
        return replace(first, **more)

    def used_by(self, settings: Settings, **more) -> Settings:
        """A service that sends its mail here."""
        return replace(settings, mail=self.server(**more))


class _AnyPort(Controller):
    """One that listens wherever there is room."""

    def _trigger_server(self):
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mailbox(*, tls: ssl.SSLContext | None = None, **more) -> Iterator[Mailbox]:
    """A server that listens.

    Args:
        tls: With which it speaks TLS from the first byte; None: it does not.
        more: Of aiosmtpd's `SMTP`.
    """
    box = Mailbox()
    controller = _AnyPort(
        box, hostname="127.0.0.1", port=0, ssl_context=tls, ready_timeout=60.0, **more
    )
    controller.start()
    try:
        box.port = controller.port
        yield box
    finally:
        controller.stop()


def let_in(server, session, envelope, mechanism, data) -> AuthResult:
    """Who has the password."""
    return AuthResult(success=data.password == PASSWORD.encode(), handled=False)
