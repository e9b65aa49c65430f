"""Everything that a service keeps as it is at one moment, while it goes on.

Nobody works in any collaboration's folder then: whoever computes there is waited for, and whoever
comes meanwhile waits. Uploads are linked in the moment in which the database is looked at, so that
one that is withdrawn afterwards is still there. Requests are answered all the while.
"""

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, text

from fairpool.compute.files import create, make_private_folder
from fairpool.consortium.rounds.context import LOCK_FILE, STATE_FOLDER
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.errors import DataError
from fairpool.ledger.lock import HeldError, exclusive
from fairpool.server.backup.rows import lines_of
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database, refuse_newer, revision_of
from fairpool.server.work.places import DATA_FOLDER
from fairpool.server.work.project import (
    CHECKPOINT_FOLDER,
    PREVIEWS_FOLDER,
    folder_of,
    left_half_written,
)

if sys.platform != "win32":
    import resource

UPKEEP = ".upkeep"
"""The lock of whoever copies or changes all uploads: one at a time."""

STAGING = "backup-"
"""In the folder of work: what a backup has linked until it is written."""

ATTEMPTS = 20
"""So often uploads may be withdrawn between a look at the database and a link to them."""

PAUSE = 0.2


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What there was at one moment.

    Attributes:
        revision: Of the tables.
        rows: The file with all rows.
        uploads: The file of each upload that the rows tell of, by its identity.
        folders: The folder of each collaboration, by its identity; nobody works in them.
    """

    revision: str
    rows: Path
    uploads: dict[str, Path]
    folders: dict[str, Path]


@contextmanager
def one_moment(settings: Settings, database: Database, *, patience: float) -> Iterator[Kept]:
    """Everything as it is at one moment, for as long as this lasts; `upkeep` must be held.

    Args:
        settings: Of a service.
        database: Of that service.
        patience: Seconds that rounds which are being computed are waited for.
    """
    end = time.monotonic() + patience
    with ExitStack() as stack:
        _refuse_unknown(database)
        _allow_many_locks()
        staging = settings.work / f"{STAGING}{secrets.token_hex(8)}"
        make_private_folder(staging)
        stack.callback(shutil.rmtree, staging, ignore_errors=True)
        held: dict[str, Path] = {}
        for attempt in range(ATTEMPTS):
            _hold_new(stack, settings, _collaborations(database), held, end)
            place = staging / str(attempt)
            make_private_folder(place)
            kept = _looked_at(settings, database, place, held)
            if kept is not None:
                yield kept
                return
        raise DataError(
            f"{settings.uploads}: files that the database tells of are not there, or go faster than"
            " they can be linked; run `fairpool server check`, see to what it says, and try again"
        )


@contextmanager
def upkeep(settings: Settings) -> Iterator[None]:
    """While it lasts, nobody else copies or changes all uploads of a service."""
    with exclusive(settings.folder / UPKEEP):
        yield


def _refuse_unknown(database: Database) -> None:
    """Refuse a database without tables, and one whose tables this program does not know."""
    with database.reading() as session:
        revision = revision_of(session.connection())
    if revision is None:
        raise DataError(
            "the database has no tables yet, so that there is nothing to back up; look at --folder"
            " and FAIRPOOL_DATABASE"
        )
    refuse_newer(revision, "the database")


def _allow_many_locks() -> None:
    """Every collaboration's lock is an open file, and there may be thousands."""
    if sys.platform != "win32":
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _collaborations(database: Database) -> set[str]:
    with database.reading() as session:
        return {*session.scalars(text("SELECT id FROM collaborations"))}


def _hold_new(
    stack: ExitStack, settings: Settings, wanted: set[str], held: dict[str, Path], end: float
) -> None:
    """Have nobody work in the folders of these collaborations."""
    for identity in sorted(wanted - held.keys()):
        folder = folder_of(settings, identity)
        make_private_folder(folder)
        while True:
            try:
                stack.enter_context(one_at_a_time(folder))
                break
            except HeldError:
                if time.monotonic() > end:
                    raise DataError(
                        f"{folder}: a round is being computed there, and a backup is taken when it"
                        " is done; try again later, or give more --patience"
                    ) from None
            time.sleep(PAUSE)
        held[identity] = folder


def _looked_at(
    settings: Settings, database: Database, place: Path, held: dict[str, Path]
) -> Kept | None:
    """What there is now; None: something came or went while it was looked at."""
    rows = place / "rows"
    uploads = {}
    with _one_sight(database) as connection:
        revision = revision_of(connection)
        assert revision is not None
        known = {*connection.scalars(text("SELECT id FROM collaborations"))}
        if not known <= held.keys():
            return None
        for identity in connection.scalars(text("SELECT id FROM blobs ORDER BY id")).all():
            uploads[identity] = place / identity
            if not _link(settings.uploads / identity, uploads[identity]):
                return None
        with create(rows) as file:
            file.writelines(lines_of(connection))
    folders = {name: folder for name, folder in held.items() if name in known}
    return Kept(revision=revision, rows=rows, uploads=uploads, folders=folders)


@contextmanager
def _one_sight(database: Database) -> Iterator[Connection]:
    """A connection that sees the database as it is at its first question, whoever writes."""
    engine = database.engine.execution_options(only_reads=True)
    if not database.is_sqlite:
        engine = engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
    with engine.connect() as connection:
        yield connection


def _link(source: Path, target: Path) -> bool:
    """Have a file be there by another name, whatever happens to the first one."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        return False
    except OSError:  # not every disk has links
        try:
            with source.open("rb") as file, create(target) as copy:
                shutil.copyfileobj(file, copy)
        except FileNotFoundError:
            target.unlink(missing_ok=True)
            return False
    return True


def files_of(folder: Path) -> Iterator[Path]:
    """All that belongs to a collaboration, in whose folder nobody works.

    Left out are tables in the clear, and what a killed job left or can make again.

    Args:
        folder: The collaboration's.
    """
    left = {*left_half_written(folder), folder / STATE_FOLDER / LOCK_FILE}
    for place, folders, names in os.walk(folder):
        here = Path(place)
        if here == folder:
            for name in (DATA_FOLDER, CHECKPOINT_FOLDER):
                with suppress(ValueError):
                    folders.remove(name)
        if here == folder / PREVIEWS_FOLDER:
            folders[:] = [name for name in folders if not name.startswith(".")]
        folders.sort()
        for path in (here / name for name in sorted(names)):
            if path.is_symlink() or not path.is_file():
                raise DataError(
                    f"{path}: is no plain file, which nobody but you put there; move it"
                )
            if path not in left:
                yield path
