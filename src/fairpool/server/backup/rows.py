"""The rows of all tables as lines of JSON: of either kind of database, and for either.

Tables are taken as the database has them, not as this program would: a backup can be taken before
an upgrade by the program that comes after it, and be restored by one that is newer still.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

from sqlalchemy import Column, DateTime, MetaData, Table, insert, inspect, select
from sqlalchemy.engine import Connection

from fairpool.errors import DataError
from fairpool.server.store.database import Database, upgrade

OF_ALEMBIC = "alembic_version"
AT_ONCE = 500
"""Rows that are in memory."""


def lines_of(connection: Connection) -> Iterator[bytes]:
    """A line for every row, in an order in which they can be written again.

    Args:
        connection: Whose transaction sees one moment.
    """
    for table in _tables(connection).values():
        found = connection.execution_options(yield_per=AT_ONCE).execute(
            select(table).order_by(*table.primary_key.columns)
        )
        for row in found.mappings():
            values = {column.name: _told(row[column.name]) for column in table.columns}
            text = json.dumps([table.name, values], ensure_ascii=False, separators=(",", ":"))
            yield text.encode() + b"\n"


def write_lines(database: Database, lines: Iterable[bytes], revision: str) -> None:
    """Make the tables of a migration, write all rows, and bring them up to date: all or nothing.

    Args:
        database: Without a table.
        lines: Of `lines_of`.
        revision: Up to which migration the tables were brought that they are of.
    """
    with database.engine.connect() as connection:
        refuse_tables(database, connection)
        upgrade(connection, revision)
        tables = _tables(connection)
        pairs = (json.loads(line) for line in lines)
        for name, group in groupby(pairs, key=lambda pair: str(pair[0])):
            if name not in tables:
                raise DataError(f"the backup has rows of {name!r}, of which nobody knows a table")
            table = tables[name]
            while some := [values for _, values in islice(group, AT_ONCE)]:
                given = [row_of(database, table, values) for values in some]
                connection.execute(insert(table), given)
        upgrade(connection)
        connection.commit()


def refuse_tables(database: Database, connection: Connection) -> None:
    """Refuse a database in which something is.

    Args:
        database: Any.
        connection: To it.
    """
    if inspect(connection).get_table_names():
        place = database.engine.url.render_as_string(hide_password=True)
        raise DataError(
            f"{place}: this database has tables already; give an empty one by FAIRPOOL_DATABASE, or"
            " leave that out for SQLite in the folder"
        )


def _tables(connection: Connection) -> dict[str, Table]:
    """All tables but alembic's own, those first to which others refer."""
    metadata = MetaData()
    metadata.reflect(connection)
    return {one.name: one for one in metadata.sorted_tables if one.name != OF_ALEMBIC}


def _told(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    # SQLite forgets the zone, which is always this one.
    time = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return time.isoformat()


def row_of(database: Database, table: Table, values: dict[str, Any]) -> dict[str, Any]:
    """A row as a database takes it.

    Args:
        database: Of which kind.
        table: Which table.
        values: As a line has them.
    """
    return {name: _kept(database, table.columns[name], value) for name, value in values.items()}


def _kept(database: Database, column: "Column[Any]", value: Any) -> Any:
    if value is None or not isinstance(column.type, DateTime):
        return value
    time = datetime.fromisoformat(value)
    return time.replace(tzinfo=None) if database.is_sqlite else time
