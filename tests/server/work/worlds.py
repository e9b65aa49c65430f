"""Everything that a service has kept, put aside, and put back as often as one likes."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine, text, update

from fairpool.compute.files import make_private_folder
from fairpool.server.check import check_service
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Event, Job, JobState, Release, Submission, now
from tests.server.conftest import fresh_postgres


def sqlite_in(folder: Path) -> Database:
    """A database of SQLite in the folder of a service, as the service itself has it."""
    make_private_folder(folder)
    made = Database(f"sqlite:///{folder / 'database.sqlite'}")
    made.migrate()
    return made


@dataclass(frozen=True, kw_only=True)
class World:
    """The folder of a service and its database, both as they were at some moment."""

    folder: Path
    aside: Path
    database: Database
    postgres: str | None = None

    @classmethod
    def put_aside(cls, folder: Path, database: Database) -> "World":
        """Remember everything as it is now."""
        aside = folder.with_name(folder.name + "-aside")
        database.close()
        shutil.copytree(folder, aside)
        copy = None
        if not database.is_sqlite:
            address = database.engine.url.render_as_string(hide_password=False)
            copy = fresh_postgres(address.rpartition("/")[0], like=database.engine.url.database)
        return cls(folder=folder, aside=aside, database=database, postgres=copy)

    def put_back(self) -> None:
        """Have everything as it was."""
        self.database.close()
        shutil.rmtree(self.folder)
        shutil.copytree(self.aside, self.folder)
        if self.postgres is not None:
            _copy_database(self.postgres, self.database)


def _copy_database(source: str, database: Database) -> None:
    """Have a database of Postgres be a copy of another one."""
    server, _, name = source.rpartition("/")
    wanted = database.engine.url.database
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE "{wanted}" WITH (FORCE)'))
        connection.execute(text(f'CREATE DATABASE "{wanted}" TEMPLATE "{name}"'))
    engine.dispose()


def expire_leases(database: Database) -> None:
    """As if so much time had passed that whoever held a job is thought dead."""
    with database.transaction() as session:
        session.execute(
            update(Job)
            .where(Job.state == JobState.RUNNING.value)
            .values(leased_until=now().replace(year=2000))
        )


def told(database: Database, action: str) -> int:
    """How many events there are of a kind."""
    with database.reading() as session:
        return session.query(Event).filter_by(action=action).count()


def releases(database: Database) -> list[str]:
    """The heads of all releases."""
    with database.reading() as session:
        return [release.head for release in session.query(Release)]


def submitted(database: Database) -> list[tuple[str, str]]:
    """Every submission and its state."""
    with database.reading() as session:
        return sorted((one.id, one.state) for one in session.query(Submission))


def wrong(settings, database) -> list[str]:
    """What `fairpool server check` finds."""
    return [one.text for one in check_service(settings, database)]
