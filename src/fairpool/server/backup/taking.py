"""Taking a backup: the database, the uploads and the folders of collaborations, in one file."""

import hmac
import os
import secrets
import zipfile
from dataclasses import dataclass
from pathlib import Path

from fairpool.__about__ import __version__
from fairpool.compute.files import create, half_written, sync_folder
from fairpool.errors import DataError
from fairpool.server.backup.archive import (
    COLLABORATIONS,
    KEY,
    ROWS,
    UPLOADS,
    Writer,
    opened_archive,
    pieces_of,
)
from fairpool.server.backup.moment import Kept, files_of, one_moment, upkeep
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import now
from fairpool.server.work.upload_key import upload_key

PATIENCE = 600.0
"""Seconds that rounds which are being computed are waited for."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A backup that was taken.

    Attributes:
        path: The file.
        collaborations: How many are in it.
        uploads: How many are in it.
        bytes: Of the file.
    """

    path: Path
    collaborations: int
    uploads: int
    bytes: int


def back_up(
    settings: Settings,
    database: Database,
    path: Path,
    *,
    with_key: bool = False,
    patience: float = PATIENCE,
) -> Taken:
    """Write a backup, for this user alone: there as a whole or not at all.

    Args:
        settings: Of a service, which may be at work.
        database: Of that service.
        path: A new file.
        with_key: Whether the key of uploads goes with it: whoever has the file then reads every
            table that was sent.
        patience: Seconds that rounds which are being computed are waited for.
    """
    if path.exists() or path.is_symlink():
        raise DataError(f"{path}: is there already, and no backup is written over; give a new name")
    if not path.parent.is_dir():
        raise DataError(f"{path.parent}: there is no such folder; make it, or give another --out")
    key = upload_key(settings)
    with upkeep(settings):
        _remove_left(path)
        kept = _write(settings, database, path, key if with_key else None, patience)
    return Taken(
        path=path,
        collaborations=len(kept.folders),
        uploads=len(kept.uploads),
        bytes=path.stat().st_size,
    )


def _write(
    settings: Settings, database: Database, path: Path, key: bytes | None, patience: float
) -> Kept:
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with create(temporary) as file:
            with (
                zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
                one_moment(settings, database, patience=patience) as kept,
            ):
                _fill(Writer(archive=archive, files={}), kept, settings, key)
            file.flush()
            os.fsync(file.fileno())
        with opened_archive(temporary) as reader:
            reader.verify()
        os.link(temporary, path)  # over nothing that came meanwhile
        sync_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"{path}: the backup cannot be written ({error.strerror or error}); give an --out on a"
            " disk with room, and with links"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
    return kept


def key_mark(key: bytes) -> str:
    """By which a key is known to be the right one; nothing leads back to the key."""
    return hmac.digest(key, b"fairpool backup", "sha256").hex()


def _remove_left(path: Path) -> None:
    """What a killed backup to the same place has left."""
    for one in half_written(path.parent):
        if one.name.startswith(f".{path.name}."):
            one.unlink(missing_ok=True)


def _fill(writer: Writer, kept: Kept, settings: Settings, key: bytes | None) -> None:
    writer.add(ROWS, pieces_of(kept.rows))
    for identity, path in sorted(kept.uploads.items()):
        writer.add(UPLOADS + identity, pieces_of(path))
        os.utime(kept.rows.parent.parent)  # `fairpool server check` removes what is old
    for identity, folder in sorted(kept.folders.items()):
        for path in files_of(folder):
            name = path.relative_to(folder).as_posix()
            writer.add(f"{COLLABORATIONS}{identity}/{name}", pieces_of(path))
    if key is not None:
        writer.add(KEY, [settings.key_file.read_bytes()])
    writer.finish(
        made=now().isoformat(),
        program=__version__,
        revision=kept.revision,
        key_mark=key_mark(upload_key(settings)),
    )
