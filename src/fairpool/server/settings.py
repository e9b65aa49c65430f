"""How a service is set up: where it keeps things, at which address it is, and how much it takes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairpool.errors import DataError, shown

DEFAULT_FOLDER = Path("fairpool-server")
DATABASE_FILE = "database.sqlite"
KEY_FILE = "uploads.key"
"""Of the encryption of uploads: beside the database, never in it, mode 0600."""

MEBIBYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an installation decides; nothing of it is in the database.

    Attributes:
        folder: Where everything is that is not in the database: 0700.
        database: SQLAlchemy's address of it.
        address: Where browsers find the service: "https://pool.example.org".
        key_file: Of uploads.
        upload_bytes: An upload has no more.
        body_bytes: Any other request has no more.
        lease_seconds: So long a worker holds a job without a sign of life.
        session_hours: So long a browser stays signed in without being used.
        invitation_days: So long an invitation can be used.
        check_seconds: So long it may take to look at one upload.
        check_bytes: So much memory it may take; addresses, of which a process has more than it
            uses.
        client_seconds: So long a client may take for the head of a request, and for reading or
            sending what keeps others waiting.
    """

    folder: Path
    database: str
    address: str
    key_file: Path
    upload_bytes: int = 512 * MEBIBYTE
    body_bytes: int = MEBIBYTE
    lease_seconds: float = 30.0
    session_hours: float = 12.0
    invitation_days: int = 14
    check_seconds: float = 900.0
    check_bytes: int = 4096 * MEBIBYTE
    client_seconds: float = 20.0

    @classmethod
    def of(
        cls,
        folder: Path = DEFAULT_FOLDER,
        *,
        address: str = "http://127.0.0.1:8000",
        environment: Mapping[str, str] | None = None,
    ) -> "Settings":
        """The settings of a folder, and of the environment.

        FAIRPOOL_DATABASE is the database's address (default: SQLite in the folder), such as
        postgresql://user:password@host/name; FAIRPOOL_UPLOADS_KEY a file with the key of uploads
        (default: one in the folder); FAIRPOOL_UPLOAD_MEBIBYTES the most of one upload;
        FAIRPOOL_CLIENT_SECONDS how long a slow client is waited for.

        Args:
            folder: Where everything is kept.
            address: Where browsers find the service.
            environment: Default: the process's.
        """
        environment = os.environ if environment is None else environment
        folder = folder.absolute()
        database = environment.get("FAIRPOOL_DATABASE") or f"sqlite:///{folder / DATABASE_FILE}"
        key_file = Path(environment.get("FAIRPOOL_UPLOADS_KEY") or folder / KEY_FILE).absolute()
        most = environment.get("FAIRPOOL_UPLOAD_MEBIBYTES") or "512"
        if not most.isdecimal() or int(most) < 1:
            raise DataError(
                f"FAIRPOOL_UPLOAD_MEBIBYTES: {shown(most)} is no whole number from 1 on; give the"
                " most mebibytes of one upload"
            )
        patience = environment.get("FAIRPOOL_CLIENT_SECONDS") or "20"
        if not patience.isdecimal() or int(patience) < 1:
            raise DataError(
                f"FAIRPOOL_CLIENT_SECONDS: {shown(patience)} is no whole number from 1 on; give how"
                " many seconds a slow client is waited for"
            )
        return cls(
            folder=folder,
            database=_with_driver(database),
            address=address.rstrip("/"),
            key_file=key_file,
            upload_bytes=int(most) * MEBIBYTE,
            client_seconds=float(patience),
        )

    @property
    def is_encrypted_transport(self) -> bool:
        """Whether browsers come by TLS, so that cookies are for TLS alone."""
        return self.address.startswith("https://")

    @property
    def collaborations(self) -> Path:
        """A folder for each collaboration, called by its identity, as the command line has it."""
        return self.folder / "collaborations"

    @property
    def uploads(self) -> Path:
        """Encrypted uploads, called by their identity."""
        return self.folder / "uploads"

    @property
    def work(self) -> Path:
        """What jobs need for a while, tables in the clear among it; emptied by who left it."""
        return self.folder / "work"


def _with_driver(database: str) -> str:
    """An address as people write it, with the driver that is installed."""
    for beginning in ("postgresql://", "postgres://"):
        if database.startswith(beginning):
            return "postgresql+psycopg://" + database.removeprefix(beginning)
    return database
