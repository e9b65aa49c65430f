"""The kinds of input columns that there are, one file each: how values become features."""

from typing import Any

from fairpool.columns.category import CATEGORY, CategoryColumn
from fairpool.columns.column import Column
from fairpool.columns.date import DATE, DateColumn
from fairpool.columns.encoded import EncodedColumn
from fairpool.columns.image import IMAGE, ImageColumn
from fairpool.columns.kind import ColumnKind, Declared, SeenColumn, SeenValues
from fairpool.columns.number import NUMBER, NumberColumn
from fairpool.columns.rules import Bounds, Rules
from fairpool.columns.text import TEXT, TextColumn
from fairpool.errors import RewardFileError, shown
from fairpool.stored import text

COLUMNS: dict[str, ColumnKind] = {
    "number": NUMBER,
    "category": CATEGORY,
    "date": DATE,
    "text": TEXT,
    "image": IMAGE,
}

__all__ = [
    "COLUMNS",
    "Bounds",
    "CategoryColumn",
    "Column",
    "ColumnKind",
    "DateColumn",
    "Declared",
    "EncodedColumn",
    "ImageColumn",
    "NumberColumn",
    "Rules",
    "SeenColumn",
    "SeenValues",
    "TextColumn",
    "column_of",
]


def column_of(entries: Any) -> Column:
    """The column that `Column.entries` described.

    One that names no kind is a category if it has levels, and otherwise a number.
    """
    if not isinstance(entries, dict):
        raise RewardFileError(f"{shown(entries)} is no column")
    default = CategoryColumn.kind if "levels" in entries else NumberColumn.kind
    kind = text(entries.get("kind", default))
    if kind not in COLUMNS:
        raise RewardFileError(f"no column of kind {shown(kind)} is known")
    return COLUMNS[kind].decode(entries)
