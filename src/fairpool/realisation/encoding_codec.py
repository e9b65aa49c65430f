"""How tables become numbers, as JSON, and back."""

from typing import Any

from fairpool.encoding import TableEncoding
from fairpool.stored import number, text
from fairpool.tables.arrays import LARGEST, TINY
from fairpool.tables.columns import CategoryColumn, NumberColumn
from fairpool.targets import target_entries, target_of


def encode_encoding(encoding: TableEncoding) -> dict[str, Any]:
    """How tables become numbers, as a JSON object."""
    columns: list[dict[str, Any]] = []
    for column in encoding.columns:
        if isinstance(column, CategoryColumn):
            columns.append({"name": column.name, "levels": list(column.levels)})
        else:
            columns.append({"name": column.name, "mean": column.mean, "scale": column.scale})
    return {"columns": columns, **target_entries(encoding.target)}


def decode_encoding(description: dict[str, Any]) -> TableEncoding:
    """The encoding that `encode_encoding` described."""
    columns: list[NumberColumn | CategoryColumn] = []
    for column in description["columns"]:
        if "levels" in column:
            columns.append(
                CategoryColumn(
                    text(column["name"]), tuple(text(level) for level in column["levels"])
                )
            )
        else:
            columns.append(
                NumberColumn(
                    text(column["name"]),
                    number(column["mean"], "mean", least=-LARGEST, most=LARGEST),
                    number(column["scale"], "scale", least=TINY, most=LARGEST),
                )
            )
    return TableEncoding(tuple(columns), target_of(description))
