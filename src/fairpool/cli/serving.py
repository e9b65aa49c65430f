"""What the commands of the service share: its folder and database, and the extra that it needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fairpool.errors import DataError

if TYPE_CHECKING:
    from fairpool.server.settings import Settings
    from fairpool.server.store.database import Database

EXTRA = "the service needs more packages; install them: pip install 'fairpool[server]'"


@contextmanager
def extra_needed() -> Iterator[None]:
    """Say how to install what is not there, where something is imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        if str(error.name).startswith("fairpool"):
            raise
        raise DataError(EXTRA) from None


@contextmanager
def opened(folder: Path) -> Iterator[tuple["Settings", "Database"]]:
    """The settings and the database of a service that is there already.

    Args:
        folder: Where it keeps everything.
    """
    with extra_needed():
        from fairpool.server.starting import prepared
    with _closed(prepared(_settings_of(folder))) as database:
        yield _settings_of(folder), database


@contextmanager
def opened_as_it_is(folder: Path) -> Iterator[tuple["Settings", "Database"]]:
    """The same, without bringing the tables up to date: whoever runs may be an older program.

    Args:
        folder: Where it keeps everything.
    """
    with extra_needed():
        from fairpool.server.starting import there
    with _closed(there(_settings_of(folder))) as database:
        yield _settings_of(folder), database


@contextmanager
def _closed(database: "Database") -> Iterator["Database"]:
    try:
        yield database
    finally:
        database.close()


def _settings_of(folder: Path) -> "Settings":
    with extra_needed():
        from fairpool.server.settings import Settings
    if not folder.is_dir():
        raise DataError(
            f"{folder}: there is no service; give its --folder, or start one: fairpool serve"
        )
    return Settings.of(folder)
