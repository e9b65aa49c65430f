"""Whether a service can do what it is there for, and what it lacks if not."""

import shutil

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.work.alive import is_any_alive


def lacking(settings: Settings, database: Database) -> list[str]:
    """What a service lacks: "database", "migrations", "disk", "worker"; nothing: it is ready.

    Args:
        settings: Of the service.
        database: Of the service.
    """
    found = []
    try:
        if not database.is_current():
            found.append("migrations")
        else:
            with database.reading() as session:
                if not is_any_alive(session, settings):
                    found.append("worker")
    except (DBAPIError, NoConnection):
        found.append("database")
    if not _has_room(settings):
        found.append("disk")
    return found


def _has_room(settings: Settings) -> bool:
    try:
        return shutil.disk_usage(settings.uploads).free > settings.free_bytes
    except OSError:
        return False
