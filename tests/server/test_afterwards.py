import pytest

from fairpool.server.store.afterwards import once_committed
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Person


def test_it_is_done_once_and_only_where_the_transaction_is_kept(database: Database) -> None:
    done = []
    with database.transaction() as session:
        once_committed(session, lambda: done.append("kept"))
        with session.begin_nested():
            session.add(Person(email="a@b.org", name="A", password=""))
        assert done == []
    assert done == ["kept"]
    with pytest.raises(KeyError, match="broken"):
        _break(database, done)
    assert done == ["kept"]


def _break(database: Database, done: list[str]) -> None:
    with database.transaction() as session:
        once_committed(session, lambda: done.append("lost"))
        session.flush()
        raise KeyError("broken")
