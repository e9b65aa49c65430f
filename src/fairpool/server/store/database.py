"""A database of the service: SQLite or Postgres, brought up to date, and used in transactions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import Session

from fairpool.errors import DataError, shown

MIGRATIONS = Path(__file__).parent / "migrations"

KEPT_CONNECTIONS = 10
MOST_CONNECTIONS = 40
"""Of a process: as many as its threads can want at a time, or they would wait for one another."""

BUSY_SECONDS = 30
"""So long a writer of SQLite waits for another."""


class Database:
    """Where people, collaborations, rounds and jobs are kept; safe to be used by many threads.

    Args:
        address: SQLAlchemy's; "sqlite:///file" or "postgresql+psycopg://...".
    """

    def __init__(self, address: str) -> None:
        try:
            url = make_url(address)
        except ArgumentError:
            raise DataError(
                f"FAIRPOOL_DATABASE: {shown(address)} is no address of a database; give"
                " postgresql://user:password@host/name, or nothing for SQLite"
            ) from None
        self.is_sqlite = url.get_backend_name() == "sqlite"
        if not self.is_sqlite and url.get_backend_name() != "postgresql":
            raise DataError(
                f"FAIRPOOL_DATABASE: {shown(url.get_backend_name())} is not supported; give"
                " postgresql://user:password@host/name, or nothing for SQLite"
            )
        more: dict[str, Any] = {
            "pool_pre_ping": True,
            # An error would tell them, and the log with it: digests of what lets somebody in.
            "hide_parameters": True,
            "pool_size": KEPT_CONNECTIONS,
            "max_overflow": MOST_CONNECTIONS - KEPT_CONNECTIONS,
        }
        if self.is_sqlite:
            more["connect_args"] = {"timeout": BUSY_SECONDS}
        self.engine: Engine = create_engine(url, **more)
        if self.is_sqlite:
            _make_sqlite_strict(self.engine)

    def open_session(self, *, only_reads: bool = False) -> Session:
        """A session that asks nothing of the database yet; whoever opens it must end it."""
        engine = self.engine.execution_options(only_reads=True) if only_reads else self.engine
        return Session(engine, expire_on_commit=False)

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """A session whose work is kept as a whole, or not at all.

        On SQLite it takes the only right to write at once: two that read first and write afterwards
        would otherwise refuse each other. On Postgres, lock the row that decides
        (`with_for_update`).
        """
        with self.open_session() as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads, and keeps nobody from writing; it keeps nothing."""
        with self.open_session(only_reads=True) as session:
            yield session

    def migrate(self) -> None:
        """Bring the tables up to date; nothing is done where they are."""
        with self._answering(), self.engine.connect() as connection:
            if not self.is_sqlite:
                # Two services that start at once do not migrate at once. The lock ends with the
                # transaction: the connection goes on, and nobody would give it back.
                connection.execute(text("SELECT pg_advisory_xact_lock(7216021)"))
            upgrade(connection)
            connection.commit()

    def refuse_unreachable(self) -> None:
        """Refuse a database that does not answer."""
        with self._answering(), self.engine.connect():
            pass

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Say what to look at where the database does not answer."""
        try:
            yield
        except OperationalError as error:
            raise DataError(
                f"the database {self.engine.url.render_as_string(hide_password=True)} cannot be"
                f" reached ({str(error.orig).splitlines()[0]}); look at FAIRPOOL_DATABASE, and"
                " whether it runs"
            ) from None

    def is_current(self) -> bool:
        """Whether the tables are those of this program."""
        with self.reading() as session:
            return revision_of(session.connection()) == newest_revision()

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def revision_of(connection: Connection) -> str | None:
    """Up to which migration a database was brought; None: it has no tables.

    Args:
        connection: Open.
    """
    return MigrationContext.configure(connection).get_current_revision()


def newest_revision() -> str:
    """The last migration that this program knows."""
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    assert newest is not None
    return newest


def refuse_newer(revision: str | None, what: str) -> None:
    """Refuse what a newer program has made: nobody knows what it means.

    Args:
        revision: Up to which migration it is.
        what: What it is: "the database".
    """
    known = {one.revision for one in ScriptDirectory.from_config(_config()).walk_revisions()}
    if revision is not None and revision not in known:
        raise DataError(
            f"{what} was made by a newer fairpool: it is at {shown(revision)}, and this program"
            f" knows migrations up to {newest_revision()!r}; install the newer version again, or"
            " restore a backup that was taken before"
        )


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring tables up to a migration, in the transaction that is open.

    Args:
        connection: Open.
        revision: Up to which.
    """
    refuse_newer(revision_of(connection), "the database")
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def _make_sqlite_strict(engine: Engine) -> None:
    """Foreign keys hold, what is committed survives a power loss, readers do not wait."""

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begun(connection: Any) -> None:
        only_reads = connection.get_execution_options().get("only_reads", False)
        connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")
