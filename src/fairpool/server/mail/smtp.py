"""Handing a mail to a server, and saying in words why it did not take it.

All of it has an end: whoever answers a byte at a time keeps nobody longer than a server that is
dead.
"""

import smtplib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.errors import HeaderParseError
from email.message import EmailMessage

from fairpool.errors import DataError, cut, printable
from fairpool.server.mail.configured import PASSWORD_FILE, SERVER, MailServer
from fairpool.server.mail.message import message_of
from fairpool.server.mail.words import Words

PERMANENT = 500
"""From this answer on, it will be no other one later."""


class NotSentError(DataError):
    """A mail was not taken.

    Attributes:
        is_final: Whether it is in vain to try again: this very address, or mail, is refused.
        for_all: Whether it would have been so with any other mail: the server does not answer.
    """

    def __init__(self, problem: str, *, is_final: bool = False, for_all: bool = False) -> None:
        super().__init__(problem)
        self.is_final = is_final
        self.for_all = for_all


def send(server: MailServer, words: Words, *, identity: str) -> None:
    """Hand a mail to the server.

    Args:
        server: Where to.
        words: What it says, and to whom.
        identity: Of the mail.
    """
    try:
        message = message_of(words, sender=server.sender, identity=identity)
    except (HeaderParseError, ValueError, IndexError):
        raise NotSentError(
            "the address is none that mail can be sent to; have the person take another",
            is_final=True,
        ) from None
    with _connected(server) as connection:
        _hand_over(server, connection, message, words.to)


def _hand_over(
    server: MailServer, connection: smtplib.SMTP, message: EmailMessage, to: str
) -> None:
    try:
        connection.send_message(message, from_addr=server.sender, to_addrs=[to])
    except smtplib.SMTPRecipientsRefused as error:
        code, said = error.recipients[to]
        raise NotSentError(
            f"the mail server refuses the address ({_answer(code, said)}); if it is mistyped, have"
            " the person take another",
            is_final=code >= PERMANENT,
        ) from None
    except smtplib.SMTPNotSupportedError:
        raise NotSentError(
            "the mail server takes no address with signs beyond ASCII; have the person take"
            " another",
            is_final=True,
        ) from None
    except smtplib.SMTPSenderRefused as error:
        raise NotSentError(
            f"the mail server refuses mail from {server.sender}"
            f" ({_answer(error.smtp_code, error.smtp_error)}); look at FAIRPOOL_MAIL_FROM, and at"
            f" the user of {SERVER}",
            for_all=True,
        ) from None
    except smtplib.SMTPDataError as error:
        raise NotSentError(
            f"the mail server refuses the mail ({_answer(error.smtp_code, error.smtp_error)})",
            is_final=error.smtp_code >= PERMANENT,
        ) from None
    except (smtplib.SMTPException, OSError) as error:
        raise _gone(server, error) from None


@contextmanager
def _connected(server: MailServer) -> Iterator[smtplib.SMTP]:
    """A connection to the server, by TLS and signed in where there is a user."""
    context = ssl.create_default_context()
    mine = server.sender.rpartition("@")[2]  # asking for this machine's own name may take long
    connection: smtplib.SMTP
    if server.is_tls:
        connection = smtplib.SMTP_SSL(local_hostname=mine, timeout=server.seconds, context=context)
    else:
        connection = smtplib.SMTP(local_hostname=mine, timeout=server.seconds)
    watch = threading.Timer(server.seconds, _break_off, [connection])
    watch.daemon = True
    watch.start()
    try:
        try:
            _enter(server, connection, context)
        except (smtplib.SMTPException, OSError) as error:
            raise _gone(server, error) from None
        yield connection
        with suppress(smtplib.SMTPException, OSError):  # it has the mail, whatever it says now
            connection.quit()
    finally:
        watch.cancel()
        connection.close()


def _enter(server: MailServer, connection: smtplib.SMTP, context: ssl.SSLContext) -> None:
    connection._host = server.host  # type: ignore[attr-defined]  # whose certificate is asked for
    connection.connect(server.host, server.port)
    connection.ehlo()
    if not server.is_tls:
        if connection.has_extn("starttls"):
            connection.starttls(context=context)
            connection.ehlo()
        elif not server.is_here:
            raise NotSentError(
                f"the mail server {_of(server)} offers no TLS, and whoever is on the way could read"
                f" the password and the mail; give another one: {SERVER}=smtps://...",
                for_all=True,
            )
    if server.user:
        connection.login(server.user, server.password)


def _break_off(connection: smtplib.SMTP) -> None:
    """End a connection that takes too long, whatever waits for it."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _gone(server: MailServer, error: Exception) -> NotSentError:
    """Why nothing can be sent at all, and what to look at."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return NotSentError(
            f"the mail server {_of(server)} does not let this user in"
            f" ({_answer(error.smtp_code, error.smtp_error)}); look at the user in {SERVER}, and at"
            f" the password in {PASSWORD_FILE}",
            for_all=True,
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        return NotSentError(
            f"the certificate of the mail server {_of(server)} is not trusted"
            f" ({error.verify_message}); name the server as its certificate does, and a"
            " certificate of your own house by SSL_CERT_FILE",
            for_all=True,
        )
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return NotSentError(
            f"the mail server {_of(server)} knows no way for a user to sign in; take the user out"
            f" of {SERVER}, or give another port",
            for_all=True,
        )
    said = str(error) or type(error).__name__
    if isinstance(error, smtplib.SMTPResponseException):
        said = _answer(error.smtp_code, error.smtp_error)
    return NotSentError(
        f"the mail server {_of(server)} cannot be used ({cut(printable(said))}); look at {SERVER},"
        " whether the server runs, and whether its port takes TLS at once (smtps://) or not"
        " (smtp://)",
        for_all=True,
    )


def _of(server: MailServer) -> str:
    return f"{server.host}:{server.port}"


def _answer(code: int, said: bytes | str) -> str:
    """What a server answered, in one line."""
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return cut(printable(f"{code} {' '.join(text.split())}"))
