"""Reading a table that has faults: what can be read is, and what cannot be is noted, so that all of
it can be told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from fairpool.consortium.faults import Columns, Fault, Faults
from fairpool.consortium.tables import (
    MISSING,
    Batch,
    Place,
    byte_not_utf8,
    csv_rows,
    is_parquet,
    open_csv,
    read_batches,
    unfit_columns,
)
from fairpool.errors import DataError

TOLERANT_ROWS = 1 << 14
"""So many rows of a CSV file with faults are looked at together."""


def read_tolerantly(
    file: Path, columns: Columns, faults: Faults, *, groups: range, first: int
) -> Iterator[Batch]:
    """The rows of a file that `read_batches` refuses, as far as they can be read.

    Columns that are not there, or of another type, are not in the batches. A value that is not a
    number is 0 there, so that it counts neither as missing nor as infinite.

    Args:
        file: A CSV or Parquet file.
        columns: What to read of it.
        faults: Takes what could not be read.
        groups: The row groups of a Parquet file to read.
        first: The number of their first row.
    """
    if not is_parquet(file):
        yield from _read_csv(file, columns, faults)
        return
    types = {name: pa.float64() for name in columns.numbers} | {
        name: pa.string() for name in columns.texts
    }
    unfit = unfit_columns(file, types)
    for name, own_type in unfit.items():
        kind = "lacking" if own_type is None else "type"
        faults.note(Fault(kind, name, Place(file, first), own_type or ""))
    numbers = [name for name in columns.numbers if name not in unfit]
    texts = [name for name in columns.texts if name not in unfit]
    try:
        yield from read_batches(file, numbers, texts, groups=groups, first=first)
    except DataError as error:
        faults.note(Fault("unreadable", "", Place(file, first), str(error)))


def _read_csv(file: Path, columns: Columns, faults: Faults) -> Iterator[Batch]:
    """Row by row in Python: slow, and only for files that have a fault."""
    with open_csv(file) as stream:
        lines = csv_rows(stream)
        _, names = next(lines)
        for name in columns.names:
            if name not in names:
                faults.note(Fault("lacking", name, Place(file, 0)))
        rows = _rows_of(lines, file, len(names), faults=faults)
        while some := list(islice(rows, TOLERANT_ROWS)):
            where = [place for place, _ in some]
            reader = _Reader(file, where, faults)
            table = {}
            for at, name in enumerate(names):
                values = [row[at] for _, row in some]
                if name in columns.numbers:
                    table[name] = pa.array(reader.numbers(name, values), pa.float64())
                elif name in columns.texts:
                    table[name] = pa.array(reader.texts(values), pa.string())
            if table:
                yield Batch(file, where[0][0], pa.table(table), where)


def _rows_of(
    lines: Iterator[tuple[int, list[str]]], file: Path, width: int, *, faults: Faults
) -> Iterator[tuple[tuple[int, int], list[str]]]:
    """The rows that have as many values as there are columns, each with its number and line."""
    number = 0
    try:
        for number, (line, row) in enumerate(lines):
            if len(row) == width:
                yield (number, line), row
            else:
                faults.note(
                    Fault(
                        "width",
                        "",
                        Place(file, number, line),
                        f"{len(row)} values for {width} columns",
                    )
                )
    except DataError as error:
        faults.note(Fault("unreadable", "", Place(file, number), f"{file}, {error}"))


@dataclass(frozen=True)
class _Reader:
    """Reads columns of some rows, of which it knows number and line, and notes what cannot be read."""

    file: Path
    where: Sequence[tuple[int, int]]
    faults: Faults

    def numbers(self, name: str, values: Sequence[str]) -> list[float | None]:
        """Values as numbers; None where one is missing."""
        numbers: list[float | None] = []
        for row, value in enumerate(values):
            number = None if value in MISSING else _as_number(value)
            if number is None and value not in MISSING:
                self.faults.note(Fault("number", name, self._place(row), value))
                number = 0.0
            numbers.append(number)
        return numbers

    def texts(self, values: Sequence[str]) -> list[str | None]:
        """Values as text; None where one is missing."""
        texts: list[str | None] = []
        for row, value in enumerate(values):
            byte = None if value.isascii() else byte_not_utf8(value)
            if byte is not None:
                self.faults.note(Fault("encoding", "", self._place(row), f"byte {byte:#x}"))
            readable = value if byte is None else value.encode(errors="replace").decode()
            texts.append(None if value in MISSING else readable)
        return texts

    def _place(self, row: int) -> Place:
        return Place(self.file, *self.where[row])


def _as_number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if value.isascii() and "_" not in value else None
