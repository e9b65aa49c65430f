"""How tables become numbers, as JSON, and back."""

from typing import Any

from fairpool.columns import column_of
from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError, shown
from fairpool.stored import text
from fairpool.targets import target_entries, target_of


def encode_encoding(encoding: TableEncoding) -> dict[str, Any]:
    """How tables become numbers, as a JSON object."""
    columns = [column.entries() for column in encoding.columns]
    entries = {"columns": columns, **target_entries(encoding.target)}
    if encoding.ids:
        entries["ids"] = list(encoding.ids)
    return entries


def decode_encoding(description: dict[str, Any]) -> TableEncoding:
    """The encoding that `encode_encoding` described."""
    columns = tuple(column_of(column) for column in description["columns"])
    target = target_of(description)
    ids = description.get("ids", [])
    if not isinstance(ids, list):
        raise RewardFileError(f"{shown(ids)} are no columns")
    encoding = TableEncoding(columns, target, tuple(text(name) for name in ids))
    used: set[str] = set()
    for name in (*encoding.ids, *(column.name for column in columns)):
        if name in used:
            raise RewardFileError(f"it has two columns {shown(name)}")
        used.add(name)
    return encoding
