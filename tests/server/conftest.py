"""A service for tests: on SQLite, and on a Postgres of the tests' own."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.web.app import create_app
from tests.server.consortium import Service


def postgres_programs() -> Path | None:
    """The folder with initdb and postgres; None: Postgres is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return None if initdb is None else Path(initdb).parent


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a Postgres that is there for this process of tests alone."""
    programs = postgres_programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail("Postgres must be installed where CI runs")
        pytest.skip("Postgres is not installed: apt-get install postgresql")
    # Not among pytest's own folders: those are closed to all others whenever some tests begin, and
    # Postgres, which refuses to be run by root, is another user.
    with TemporaryDirectory(prefix="fairpool-postgres-") as folder:
        yield from _postgres_in(Path(folder), programs)


def _postgres_in(folder: Path, programs: Path) -> Iterator[str]:
    options: dict[str, object] = {}
    if os.getuid() == 0:
        nobody = pwd.getpwnam("postgres" if _is_user("postgres") else "nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        options = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    data = folder / "data"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "fairpool", "-A", "trust", "-E", "UTF8"],
        check=True,
        capture_output=True,
        cwd=folder,
        **options,  # type: ignore[call-overload]
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = ["-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-F"]
    process = subprocess.Popen(
        [programs / "postgres", *start],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,  # type: ignore[call-overload]
    )
    try:
        for _ in range(1200):
            ready = subprocess.run(
                [programs / "pg_isready", "-h", "127.0.0.1", "-p", str(port)],
                check=False,
                capture_output=True,
            )
            if ready.returncode == 0:
                break
            assert process.poll() is None, "Postgres does not start"
            time.sleep(0.1)
        yield f"postgresql+psycopg://fairpool@127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)  # without waiting for connections to end
        process.wait(30)


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database with all tables, of each kind in turn."""
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path / 'database.sqlite'}")
    else:
        database = Database(fresh_postgres(request.getfixturevalue("postgres")))
    database.migrate()
    yield database
    database.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a service on this machine, whose folder is there."""
    (tmp_path / "server").mkdir(mode=0o700)
    return Settings.of(tmp_path / "server", environment={})


@pytest.fixture
def service(settings: Settings, database: Database) -> Service:
    """The whole application, without a socket; on each kind of database in turn."""
    return Service(app=create_app(settings, database), settings=settings, database=database)


@pytest.fixture
def front(settings: Settings) -> Iterator[Service]:
    """The whole application on SQLite: for what no database has a part in."""
    database = Database(settings.database)
    database.migrate()
    yield Service(app=create_app(settings, database), settings=settings, database=database)
    database.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    """The same on SQLite alone, for what is no matter of the database."""
    database = Database(f"sqlite:///{tmp_path / 'database.sqlite'}")
    database.migrate()
    yield database
    database.close()


def fresh_postgres(server: str, like: str = "template1") -> str:
    """The address of a new database of a Postgres, with what another one has."""
    from sqlalchemy import create_engine, text

    from fairpool.server.store.tables import new_identity

    name = "t_" + new_identity().replace("-", "_").lower()
    engine = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'))
    engine.dispose()
    return f"{server}/{name}"
