"""Whoever sends what is in the outbox, beside a worker's other work."""

import threading
import time
import traceback

import structlog
from sqlalchemy.exc import DBAPIError

from fairpool.server.mail import outbox
from fairpool.server.mail.configured import MailServer
from fairpool.server.mail.outbox import MOST_TRIES, Held, MailLostError
from fairpool.server.mail.smtp import NotSentError, send
from fairpool.server.mail.words import words_of
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database

PAUSE = 2.0
"""Seconds between two looks into the outbox."""

PAUSE_OF_ALL = 30.0
"""Seconds in which nothing is sent after a server did not answer at all."""

HOUR = 3600.0
"""Seconds between two looks for what is old."""

LEASES = 5
"""A mail is held for so many times as long as it may take."""

UNEXPECTED = "something went wrong here; whoever runs the service finds it in the log"

log = structlog.get_logger("fairpool.mail")


def keep_sending(settings: Settings, database: Database, stop: threading.Event) -> None:
    """Send what there is, until told to stop; without a server for mail, only forget what is old.

    Args:
        settings: Of the service.
        database: Where the outbox is.
        stop: Set when it is to end.
    """
    forgets = time.monotonic()
    while not stop.is_set():
        pause = PAUSE
        try:
            if time.monotonic() >= forgets:
                outbox.forget_old(database)
                forgets = time.monotonic() + HOUR
            if settings.mail is not None and not send_all(settings, database, stop):
                pause = PAUSE_OF_ALL
        except DBAPIError as error:
            log.warning("the database does not answer", problem=_first_line(error))
        stop.wait(pause)


def send_all(settings: Settings, database: Database, stop: threading.Event | None = None) -> bool:
    """Send all that is due now; whether the server answers.

    Args:
        settings: Of a service with a server for mail.
        database: Where the outbox is.
        stop: Set when it is to end after the mail that is being sent.
    """
    server = settings.mail
    assert server is not None
    outbox.gather(database, server)
    while stop is None or not stop.is_set():
        held = outbox.take(database, LEASES * server.seconds)
        if held is None:
            return True
        try:
            if not _send_one(settings, database, server, held):
                return False
        except MailLostError:
            log.warning("another worker has the mail", mail=held.mail.id)
    return True


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).partition("\n")[0]


def _send_one(settings: Settings, database: Database, server: MailServer, held: Held) -> bool:
    """Send a mail, and say what came of it; whether others may be sent."""
    try:
        is_sent = _hand_over(settings, database, server, held)
    except NotSentError as error:
        # Without the answer of a server, which may have somebody's address in it.
        what = "the server" if error.for_all else "this mail"
        log.warning("mail not sent", mail=held.mail.id, what=what, tries=held.mail.tries)
        if error.is_final:
            outbox.gave_up(database, held, str(error))
        else:
            outbox.postponed(database, held, str(error))
        return not error.for_all
    if is_sent:
        outbox.sent(database, held)
        log.info("mail sent", mail=held.mail.id, tries=held.mail.tries)
    else:
        outbox.dropped(database, held)
    return True


def _hand_over(settings: Settings, database: Database, server: MailServer, held: Held) -> bool:
    """Write a mail, and hand it to the server; whether there was still something to tell."""
    if held.mail.tries > MOST_TRIES:
        raise NotSentError("whoever sent it died, again and again; look at the log", is_final=True)
    try:
        with database.reading() as session:
            words = words_of(session, settings, held.mail)
        if words is None:
            return False
        send(server, words, identity=held.mail.id)
    except (NotSentError, DBAPIError):
        raise
    except Exception as error:  # others are sent nevertheless
        trace = "".join(traceback.format_exception(error))
        log.error("unexpected", mail=held.mail.id, trace=trace)
        raise NotSentError(UNEXPECTED) from None
    return True
