import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.exc import IntegrityError

from fairpool.errors import DataError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Base, Person, now
from tests.server.conftest import fresh_postgres


def test_migrations_lead_to_the_tables_that_the_code_has(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []


def test_migrating_twice_changes_nothing(database: Database) -> None:
    database.migrate()
    with database.transaction() as session:
        assert session.query(Person).count() == 0


def test_a_service_that_runs_keeps_no_worker_from_starting(postgres: str) -> None:
    address = fresh_postgres(postgres)
    running = Database(address)
    running.migrate()
    # Whoever waits here waits for the service to end: for ten seconds, instead of for good.
    worker = Database(f"{address}?options=-c%20lock_timeout%3D10s")
    worker.migrate()
    for one in (worker, running):
        one.close()


def test_times_come_back_as_they_went_in(database: Database) -> None:
    time = now()
    with database.transaction() as session:
        session.add(Person(email="a@b.org", name="A", password="", created=time))
    with database.transaction() as session:
        assert session.query(Person).one().created == time


def test_nobody_has_another_s_address(database: Database) -> None:
    with database.transaction() as session:
        session.add(Person(email="a@b.org", name="A", password=""))
    with pytest.raises(IntegrityError, match="email"), database.transaction() as session:
        session.add(Person(email="a@b.org", name="B", password=""))


def test_who_only_reads_does_not_wait_for_who_writes(database: Database) -> None:
    with database.transaction() as writer:
        writer.add(Person(email="a@b.org", name="A", password=""))
        writer.flush()
        with database.reading() as reader:
            assert reader.query(Person).count() == 0
    with database.reading() as reader:
        assert reader.query(Person).count() == 1
        reader.add(Person(email="b@b.org", name="B", password=""))
    with database.reading() as reader:
        assert reader.query(Person).count() == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nonsense", "no address of a database"),
        ("mysql://a/b", "not supported"),
        ("postgresql+psycopg://fairpool@127.0.0.1:1/none", "cannot be reached"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(address: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Database(address).migrate()


def test_an_error_tells_nothing_of_what_was_to_be_kept(database: Database) -> None:
    """The log has errors as texts."""
    person = {"email": "a@b.org", "name": "A", "password": "$argon2id$of-anna"}
    with database.transaction() as session:
        session.add(Person(**person))
    with database.open_session() as session:
        session.add(Person(**person))
        with pytest.raises(IntegrityError, match=r"(?i)unique") as refused:
            session.flush()
    assert "argon2id" not in str(refused.value)
