"""Restoring a backup into an empty folder and an empty database.

A folder that is being restored has a marker until all is done: no service starts with it, and the
next attempt begins anew. The database is written in one transaction.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import create, make_private_folder, sync_folder
from fairpool.errors import DataError
from fairpool.server.backup.archive import KEY, ROWS, Reader, opened_archive
from fairpool.server.backup.rows import refuse_tables, write_lines
from fairpool.server.backup.taking import key_mark
from fairpool.server.settings import Settings
from fairpool.server.starting import RESTORING, prepared
from fairpool.server.store.database import Database, refuse_newer
from fairpool.server.work.upload_key import upload_key


@dataclass(frozen=True, kw_only=True)
class Restored:
    """A service that was restored.

    Attributes:
        made: When its backup was taken.
        has_key: Whether the key of uploads is there; otherwise it must be put there first.
    """

    made: str
    has_key: bool


def restore(path: Path, settings: Settings) -> Restored:
    """Have a service be what it was when a backup was taken.

    Args:
        path: The backup.
        settings: Where to; neither in the folder nor in the database there is anything.
    """
    with opened_archive(path) as reader:
        refuse_newer(reader.manifest.revision, f"{path}: the backup")
        reader.verify()
        _refuse_full(settings)
        _refuse_full_database(settings)
        _refuse_other_key(reader, settings)
        _begin(settings)
        for name in reader.manifest.files:
            if name != ROWS:
                _write(reader, name, settings)
        _write_database(reader, settings)
        (settings.folder / RESTORING).unlink()
        sync_folder(settings.folder)
        made = reader.manifest.made
    has_key = settings.key_file.exists()
    if has_key:
        prepared(settings).close()
    return Restored(made=made, has_key=has_key)


def _refuse_full(settings: Settings) -> None:
    """Refuse a folder in which anything is but the key, or what a killed restore has left."""
    folder = settings.folder
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise DataError(f"{folder}: is no folder; give the --folder of a new service")
    if not folder.is_dir() or (folder / RESTORING).exists():
        return
    there = sorted(path.name for path in folder.iterdir() if path != settings.key_file)
    if there:
        raise DataError(
            f"{folder}: {there[0]!r} is in it, and a backup is restored into an empty folder only;"
            " give another --folder, or move what is there"
        )


def _refuse_full_database(settings: Settings) -> None:
    database = Database(settings.database)
    file = _file_of(database)
    if file is not None and (not file.exists() or file.is_relative_to(settings.folder)):
        return  # it is made, or goes with what a killed restore has left
    try:
        database.refuse_unreachable()
        with database.engine.connect() as connection:
            refuse_tables(database, connection)
    finally:
        database.close()


def _write_database(reader: Reader, settings: Settings) -> None:
    database = Database(settings.database)
    file = _file_of(database)
    if file is not None:
        file.touch(mode=0o600)
    try:
        write_lines(database, reader.lines(), reader.manifest.revision)
    finally:
        database.close()


def _file_of(database: Database) -> Path | None:
    name = database.engine.url.database
    return Path(name) if database.is_sqlite and name else None


def _refuse_other_key(reader: Reader, settings: Settings) -> None:
    if not settings.key_file.exists():
        return
    if key_mark(upload_key(settings)) != reader.manifest.key_mark:
        raise DataError(
            f"{settings.key_file}: is not the key that the uploads of this backup are encrypted"
            " with; put the right one there, from the copy that you kept"
        )


def _begin(settings: Settings) -> None:
    folder = settings.folder
    make_private_folder(folder)
    marker = folder / RESTORING
    if not marker.exists():
        create(marker).close()
        sync_folder(folder)
    for path in folder.iterdir():
        if path not in (marker, settings.key_file):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for place in (settings.collaborations, settings.uploads, settings.work):
        make_private_folder(place)


def _write(reader: Reader, name: str, settings: Settings) -> None:
    path = settings.folder / name
    if name == KEY:
        path = settings.key_file
        if path.exists():
            return  # it is the same one
    make_private_folder(path.parent)
    with create(path) as file:
        file.writelines(reader.pieces(name))
