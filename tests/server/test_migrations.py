"""What a service of any earlier version kept is there in this one, on both kinds of database."""

import json
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, insert, select, text

from fairpool.errors import DataError
from fairpool.server.backup.rows import lines_of, row_of, write_lines
from fairpool.server.consortia import events
from fairpool.server.store.database import MIGRATIONS, Database, revision_of, upgrade
from fairpool.server.store.tables import Base, Collaboration, Job
from tests.server.conftest import fresh_postgres
from tests.support.projects import fairpool

FIRST = Path(__file__).parent / "rows_at_0001.jsonl"
"""A collaboration with a released round and a previewed one, as a service at 0001 kept it."""

REVISIONS = [one.revision for one in ScriptDirectory(str(MIGRATIONS)).walk_revisions()][::-1]

Row = tuple[str, dict[str, Any]]


def rows_of(lines: list[bytes]) -> list[Row]:
    return [(name, values) for name, values in map(json.loads, lines)]


FIRST_ROWS = rows_of(FIRST.read_bytes().splitlines())


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest, tmp_path: Path):
    """A database without a table."""
    address = f"sqlite:///{tmp_path / 'database.sqlite'}"
    if request.param == "postgres":
        address = fresh_postgres(request.getfixturevalue("postgres"))
    database = Database(address)
    yield database
    database.close()


def rows_in(database: Database) -> list[Row]:
    with database.engine.connect() as connection:
        return rows_of([*lines_of(connection)])


def brought_to(database: Database, revision: str) -> None:
    with database.engine.connect() as connection:
        upgrade(connection, revision)
        connection.commit()


def begin_at_first(database: Database) -> None:
    """Have the tables and the data of the first revision."""
    brought_to(database, "0001")
    metadata = MetaData()
    with database.engine.connect() as connection:
        metadata.reflect(connection)
        for name, values in FIRST_ROWS:
            table = metadata.tables[name]
            connection.execute(insert(table).values(**row_of(database, table, values)))
        connection.commit()


def assert_nothing_is_lost(database: Database) -> None:
    """Every value of the first revision is what it was."""
    found = {(name, _key(values)): values for name, values in rows_in(database)}
    for name, values in FIRST_ROWS:
        now = found[name, _key(values)]
        assert {column: now[column] for column in values} == values, name


def _key(values: dict[str, Any]) -> str:
    return str(next(iter(values.values())))


def test_data_of_the_first_revision_survives_every_step_up_to_this_one(empty: Database) -> None:
    begin_at_first(empty)
    for revision in REVISIONS:
        brought_to(empty, revision)
        assert_nothing_is_lost(empty)
    empty.migrate()
    with empty.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    with empty.reading() as session:
        for mapper in Base.registry.mappers:
            session.scalars(select(mapper.class_)).all()  # nothing that this program cannot read
        (collaboration,) = session.scalars(select(Collaboration))
        assert [*events.faults(session, collaboration)] == []
        assert {job.is_final for job in session.scalars(select(Job))} == {False}


def test_data_of_the_first_revision_survives_one_step_from_there(empty: Database) -> None:
    begin_at_first(empty)
    empty.migrate()
    assert_nothing_is_lost(empty)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_backup_of_any_revision_is_restored_as_this_one(empty: Database, revision: str) -> None:
    begin_at_first(empty)
    brought_to(empty, revision)
    lines = [json.dumps(pair).encode() for pair in rows_in(empty)]
    with empty.engine.connect() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        metadata.drop_all(connection)
        connection.commit()
    write_lines(empty, lines, revision)
    assert_nothing_is_lost(empty)
    assert empty.is_current()


def test_a_database_of_a_newer_program_is_refused_and_stays_as_it_is(empty: Database) -> None:
    empty.migrate()
    with empty.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DataError, match=r"made by a newer fairpool: it is at '9999'"):
        empty.migrate()
    with empty.engine.connect() as connection:
        assert revision_of(connection) == "9999"


def test_a_service_with_the_database_of_a_newer_one_does_not_start(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    folder.mkdir(mode=0o700)
    database = Database(f"sqlite:///{folder / 'database.sqlite'}")
    database.migrate()
    with database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    (folder / "database.sqlite").chmod(0o600)
    for command in (["serve", "--port", "0"], ["worker"], ["server", "backup", "--out", "x"]):
        done = fairpool(*command, "--folder", folder, cwd=tmp_path)
        assert done.returncode == 2
        assert "install the newer version again" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()
