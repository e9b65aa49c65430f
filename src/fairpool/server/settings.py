"""How a service is set up: where it keeps things, at which address it is, and how much it takes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairpool.errors import DataError, shown
from fairpool.server.mail.configured import MailServer, mail_server
from fairpool.server.single_sign_on.configured import ProviderSettings, has_passwords, provider_of

DEFAULT_FOLDER = Path("fairpool-server")
DEFAULT_ADDRESS = "http://127.0.0.1:8000"
ADDRESS = "FAIRPOOL_ADDRESS"
"""Where browsers find the service, for who is told it by nobody: workers elsewhere."""

DATABASE_FILE = "database.sqlite"
KEY_FILE = "uploads.key"
"""Of the encryption of uploads: beside the database, never in it, mode 0600."""

MEBIBYTE = 1 << 20

_NUMBERS = {
    "FAIRPOOL_UPLOAD_MEBIBYTES": (512, "the most mebibytes of one upload"),
    "FAIRPOOL_PARTY_MEBIBYTES": (4096, "the most mebibytes of all uploads of a party"),
    "FAIRPOOL_COLLABORATION_MEBIBYTES": (32768, "the most mebibytes of all its parties' uploads"),
    "FAIRPOOL_FREE_MEBIBYTES": (512, "how many mebibytes of the disk uploads leave free"),
    "FAIRPOOL_UPLOADS_PER_HOUR": (60, "how many files a party may send within an hour"),
    "FAIRPOOL_CLIENT_SECONDS": (20, "how many seconds a slow client is waited for"),
    "FAIRPOOL_MAIL_SECONDS": (120, "how many seconds a mail waits for more to tell"),
    "FAIRPOOL_MAILS_A_DAY": (10, "how many mails a person gets within 24 hours"),
}
"""Of the environment: what each is by default, and what it says."""


SHORTEST_METRICS_TOKEN = 20
"""Letters of it: nobody guesses one that was drawn."""


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
        party_bytes: All uploads of a party that are kept, of whatever round, have no more.
        collaboration_bytes: Nor have those of all parties of a collaboration.
        free_bytes: So much of the disk is left to all else than uploads.
        uploads_per_hour: A party sends no more files within an hour.
        uploads_at_once: Nor more than so many at a time.
        waiting_uploads: Nor has it more than so many that are still to be looked at.
        lease_seconds: So long a worker holds a job without a sign of life.
        session_hours: So long a browser stays signed in without being used.
        invitation_days: So long an invitation can be used.
        check_seconds: So long it may take to look at one upload.
        check_bytes: So much memory it may take; addresses, of which a process has more than it
            uses.
        client_seconds: So long a client may take for the head of a request, and for reading or
            sending what keeps others waiting.
        mail: Where mail goes out; None: none is sent.
        metrics_token: Whoever shows it sees the metrics; None: whoever asks from this machine.
        provider: With which people sign in; None: there is none.
        has_passwords: Whether people can sign in with passwords.
    """

    folder: Path
    database: str
    address: str
    key_file: Path
    upload_bytes: int = 512 * MEBIBYTE
    body_bytes: int = MEBIBYTE
    party_bytes: int = 4096 * MEBIBYTE
    collaboration_bytes: int = 32768 * MEBIBYTE
    free_bytes: int = 512 * MEBIBYTE
    uploads_per_hour: int = 60
    uploads_at_once: int = 3
    waiting_uploads: int = 5
    lease_seconds: float = 30.0
    session_hours: float = 12.0
    invitation_days: int = 14
    check_seconds: float = 900.0
    check_bytes: int = 4096 * MEBIBYTE
    client_seconds: float = 20.0
    mail: MailServer | None = None
    metrics_token: str | None = field(default=None, repr=False)
    provider: ProviderSettings | None = None
    has_passwords: bool = True

    @classmethod
    def of(
        cls,
        folder: Path = DEFAULT_FOLDER,
        *,
        address: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> "Settings":
        """The settings of a folder, and of the environment.

        FAIRPOOL_DATABASE is the database's address (default: SQLite in the folder), such as
        postgresql://user:password@host/name; FAIRPOOL_UPLOADS_KEY a file with the key of uploads
        (default: one in the folder); FAIRPOOL_UPLOAD_MEBIBYTES, FAIRPOOL_PARTY_MEBIBYTES and
        FAIRPOOL_COLLABORATION_MEBIBYTES the most of one upload, of a party and of a collaboration;
        FAIRPOOL_FREE_MEBIBYTES what is left of the disk; FAIRPOOL_UPLOADS_PER_HOUR how many a party
        sends; FAIRPOOL_CLIENT_SECONDS how long a slow client is waited for;
        FAIRPOOL_SMTP, FAIRPOOL_SMTP_PASSWORD_FILE (or FAIRPOOL_SMTP_PASSWORD) and
        FAIRPOOL_MAIL_FROM how mail goes out (default: none does), FAIRPOOL_MAIL_SECONDS and
        FAIRPOOL_MAILS_A_DAY how much of it;
        FAIRPOOL_METRICS_TOKEN what whoever wants the metrics shows (default: who is on this machine
        sees them); FAIRPOOL_OIDC_... name the provider of `single_sign_on.configured`.

        Args:
            folder: Where everything is kept.
            address: Where browsers find the service; None: as FAIRPOOL_ADDRESS says.
            environment: Default: the process's.
        """
        environment = os.environ if environment is None else environment
        folder = folder.absolute()
        database = environment.get("FAIRPOOL_DATABASE") or f"sqlite:///{folder / DATABASE_FILE}"
        key_file = Path(environment.get("FAIRPOOL_UPLOADS_KEY") or folder / KEY_FILE).absolute()
        provider = provider_of(environment)
        numbers = {name: _number(environment, name, words) for name, words in _NUMBERS.items()}
        return cls(
            folder=folder,
            database=_with_driver(database),
            address=(address or environment.get(ADDRESS) or DEFAULT_ADDRESS).rstrip("/"),
            key_file=key_file,
            upload_bytes=numbers["FAIRPOOL_UPLOAD_MEBIBYTES"] * MEBIBYTE,
            party_bytes=numbers["FAIRPOOL_PARTY_MEBIBYTES"] * MEBIBYTE,
            collaboration_bytes=numbers["FAIRPOOL_COLLABORATION_MEBIBYTES"] * MEBIBYTE,
            free_bytes=numbers["FAIRPOOL_FREE_MEBIBYTES"] * MEBIBYTE,
            uploads_per_hour=numbers["FAIRPOOL_UPLOADS_PER_HOUR"],
            client_seconds=float(numbers["FAIRPOOL_CLIENT_SECONDS"]),
            mail=mail_server(
                environment,
                window_seconds=float(numbers["FAIRPOOL_MAIL_SECONDS"]),
                most_a_day=numbers["FAIRPOOL_MAILS_A_DAY"],
            ),
            metrics_token=_metrics_token(environment),
            provider=provider,
            has_passwords=has_passwords(environment, provider),
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


def _number(environment: Mapping[str, str], name: str, words: tuple[int, str]) -> int:
    """A whole number of the environment."""
    default, what = words
    text = environment.get(name) or str(default)
    if not text.isdecimal() or int(text) < 1:
        raise DataError(f"{name}: {shown(text)} is no whole number from 1 on; give {what}")
    return int(text)


def _metrics_token(environment: Mapping[str, str]) -> str | None:
    token = environment.get("FAIRPOOL_METRICS_TOKEN") or None
    if token is not None and not (
        len(token) >= SHORTEST_METRICS_TOKEN and token.isascii() and token.isprintable()
    ):
        raise DataError(
            f"FAIRPOOL_METRICS_TOKEN: has {len(token)} letters, or others than ASCII has; give at"
            f" least {SHORTEST_METRICS_TOKEN} that were drawn: openssl rand -hex 20"
        )
    return token


def _with_driver(database: str) -> str:
    """An address as people write it, with the driver that is installed."""
    for beginning in ("postgresql://", "postgres://"):
        if database.startswith(beginning):
            return "postgresql+psycopg://" + database.removeprefix(beginning)
    return database
