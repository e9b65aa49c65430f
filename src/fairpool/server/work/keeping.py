"""Writing to a database that may be gone for a moment."""

import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from fairpool.server.store.database import Database

PAUSE = 0.5
"""Seconds between two attempts."""


def is_gone(error: DBAPIError) -> bool:
    """Whether a database did not answer, or is busy: it may do so later."""
    return error.connection_invalidated or isinstance(error, OperationalError)


def keep(database: Database, write: Callable[[Session], None], *, seconds: float) -> None:
    """Write as a whole; where the database is gone meanwhile, try again for a while.

    It may have kept the first attempt without being able to say so: `write` must not do anything
    twice, as whatever is written under a job's number.

    Args:
        database: Where to.
        write: What writes, in a transaction of its own each time.
        seconds: So long it is tried.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            with database.transaction() as session:
                write(session)
            return
        except DBAPIError as error:
            if not is_gone(error) or time.monotonic() > end:
                raise
        time.sleep(PAUSE)
