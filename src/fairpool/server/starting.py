"""What must be there before a service or a worker begins: folder, key, database."""

import os
import stat
from pathlib import Path
from urllib.parse import urlsplit

from fairpool.compute.files import make_private_folder
from fairpool.errors import DataError, shown
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.work.upload_key import upload_key

RESTORING = ".restoring"
"""Lies in a folder for as long as a backup is being restored there."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine, for itself alone."""


def prepared(settings: Settings) -> Database:
    """The database of a service, with all tables; its folder and key are made where lacking.

    Args:
        settings: Where they are.
    """
    database = there(settings)
    database.migrate()
    return database


def there(settings: Settings) -> Database:
    """The same, with the tables as they are.

    Args:
        settings: Where they are.
    """
    _refuse_half_restored(settings)
    for folder in (settings.folder, settings.collaborations, settings.uploads, settings.work):
        make_private_folder(folder)
    _refuse_open(settings)
    upload_key(settings)
    database = Database(settings.database)
    if database.is_sqlite and database.engine.url.database:
        # SQLite would make it, and the files beside it, as readable as any other.
        Path(database.engine.url.database).touch(mode=0o600)
    database.refuse_unreachable()
    return database


def _refuse_half_restored(settings: Settings) -> None:
    if (settings.folder / RESTORING).exists():
        raise DataError(
            f"{settings.folder}: a backup is being restored there, or that was cut off; restore it"
            f" anew: fairpool server restore FILE --folder {settings.folder}"
        )


def _refuse_open(settings: Settings) -> None:
    """Whoever can look into the folder sees everybody's tables while they are worked on."""
    if os.name == "nt":
        return
    mode = stat.S_IMODE(settings.folder.stat().st_mode)
    if mode & 0o077:
        raise DataError(
            f"{settings.folder}: other users of this machine can look into it (mode {mode:o});"
            f" close it: chmod 700 {settings.folder}"
        )


def fit_address(address: str, *, host: str, is_insecure: bool) -> str:
    """Where browsers find a service, if what they send can be read by nobody on the way.

    Args:
        address: As the operator gives it.
        host: Where the service listens.
        is_insecure: The operator knows, and wants it nevertheless.
    """
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = -1
    is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and port != -1
    if not is_whole or parts.path.strip("/") or parts.query or parts.fragment or "@" in address:
        raise DataError(
            f"--address: {shown(address)} is no address of a service; give one such as"
            " https://pool.example.org, without a path"
        )
    is_here = host in LOOPBACK and parts.hostname in LOOPBACK
    if parts.scheme == "http" and not is_here and not is_insecure:
        raise DataError(
            f"--host {host}: whoever is on the way could read passwords and tables, since"
            f" {shown(address)} is not https; put a proxy with TLS before it and give"
            " --address https://..., or say --insecure where nobody else is on the network"
        )
    return address.rstrip("/")
