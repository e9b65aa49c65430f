"""Pages are shown from SQLite alone: what they show is asked for by what has tests on both."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fairpool.server.store.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty database with all tables."""
    database = Database(f"sqlite:///{tmp_path / 'database.sqlite'}")
    database.migrate()
    yield database
    database.close()
