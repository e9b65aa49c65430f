"""How a party's own tables come, as JSON, and back."""

from typing import Any

from fairpool.errors import RewardFileError, shown
from fairpool.stored import number, text, whole_number
from fairpool.tables.arrays import LARGEST
from fairpool.tables.delivery import Delivery, OwnColumn
from fairpool.tables.dialect import PLAIN, Dialect, known_encoding

MOST_ENTRIES = 10_000
LONGEST_TEXT = 1000
"""A file that has more columns or tokens, or longer ones, was not written by us."""

DIALECT_KEYS = ("separator", "decimal", "thousands", "encoding", "sheet")
COLUMN_KEYS = ("named", "own_unit", "unit", "date_format")


def encode_delivery(delivery: Delivery) -> dict[str, Any]:
    """How tables come, as a JSON object; what is as usual is left out."""
    dialect = delivery.dialect
    reading: dict[str, Any] = {}
    for key in DIALECT_KEYS:
        if getattr(dialect, key) != getattr(PLAIN, key):
            reading[key] = getattr(dialect, key)
    if dialect.missing:
        reading["missing"] = list(dialect.missing)
    if dialect.header != PLAIN.header:
        reading["header"] = dialect.header
    columns = []
    for column in delivery.columns:
        entries: dict[str, Any] = {"name": column.name}
        for key in COLUMN_KEYS:
            if getattr(column, key):
                entries[key] = getattr(column, key)
        if column.constant is not None:
            entries["constant"] = column.constant
        columns.append(entries)
    return {"reading": reading, "columns": columns}


def decode_delivery(description: Any) -> Delivery:
    """What `encode_delivery` described; anything else is refused."""
    entries = _object(description, ("reading", "columns"))
    dialect = _decode_dialect(entries["reading"])
    columns = [_decode_column(column) for column in _list(entries["columns"])]
    names = {column.name for column in columns}
    if len(names) < len(columns):
        raise RewardFileError("it describes how a column comes twice")
    return Delivery(dialect=dialect, columns=tuple(columns))


def _decode_dialect(description: Any) -> Dialect:
    entries = _object(description, (*DIALECT_KEYS, "missing", "header"))
    settings: dict[str, Any] = {}
    for key in DIALECT_KEYS:
        if key in entries:
            settings[key] = _short(entries[key])
    if "encoding" in settings:
        settings["encoding"] = known_encoding(settings["encoding"])
    if "header" in entries:
        settings["header"] = whole_number(entries["header"], "header")
    tokens = _list(entries.get("missing", []))
    dialect = Dialect(**settings, missing=tuple(_short(token) for token in tokens))
    problems = dialect.problems()
    if problems:
        raise RewardFileError(problems[0])
    return dialect


def _decode_column(description: Any) -> OwnColumn:
    entries = _object(description, ("name", *COLUMN_KEYS, "constant"))
    settings: dict[str, Any] = {}
    for key in COLUMN_KEYS:
        if key in entries:
            settings[key] = _short(entries[key])
    constant = entries.get("constant")
    if isinstance(constant, str):
        constant = _short(constant)
    elif constant is not None:
        constant = number(constant, "constant", least=-LARGEST, most=LARGEST)
    column = OwnColumn(name=_short(entries["name"]), constant=constant, **settings)
    # Both are made as they are asked for, and raise where there is no such unit or format.
    _ = column.conversion
    _ = column.date_form
    return column


def _object(value: Any, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RewardFileError(f"{shown(value)} is not a JSON object")
    unknown = {*value} - {*known}
    if unknown:
        raise RewardFileError(f"it has the unknown entry {shown(sorted(unknown)[0])}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_ENTRIES:
        raise RewardFileError(f"{shown(value)} is not a list of at most {MOST_ENTRIES} entries")
    return value


def _short(value: Any) -> str:
    word = text(value)
    if len(word) > LONGEST_TEXT:
        raise RewardFileError(f"{shown(word)} is longer than {LONGEST_TEXT} characters")
    return word
