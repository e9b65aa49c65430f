"""Alembic's entry: the connection is given by `Database.migrate`."""

from typing import Any, Literal

from alembic import context

from fairpool.server.store.tables import Base, Moment


def plain_types(kind: str, thing: Any, _autogenerate_context: Any) -> str | Literal[False]:
    """A step names what the database has, so that it stays what it was when the code changes."""
    if kind == "type" and isinstance(thing, Moment):
        return "sa.DateTime(timezone=True)"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite changes a table by making it anew
    render_item=plain_types,
)
with context.begin_transaction():
    context.run_migrations()
