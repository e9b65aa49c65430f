"""Reading a table that has faults: what can be read is, and what cannot be is noted, so that all of it can be told."""

from collections.abc import Iterator, Sequence
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


def read_tolerantly(file: Path, columns: Columns, faults: Faults, *, groups: range, first: int) -> Iterator[Batch]:
    """The rows of a file that `read_batches` refuses, as far as they can be read.

    Columns that are not there, or of another type, are not in the batches. A value that is not a number is 0 there, so
    that it counts neither as missing nor as infinite.

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
    types = {name: pa.float64() for name in columns.numbers} | {name: pa.string() for name in columns.texts}
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
            places = [place for place, _ in some]
            table = {}
            for at, name in enumerate(names):
                values = [row[at] for _, row in some]
                if name in columns.numbers:
                    table[name] = pa.array(_as_numbers(values, places, name, faults=faults), pa.float64())
                elif name in columns.texts:
                    table[name] = pa.array(_as_texts(values, places, faults), pa.string())
            if table:
                yield Batch(file, places[0].row, pa.table(table), places)


def _rows_of(
    rows: Iterator[tuple[int, list[str]]], file: Path, width: int, *, faults: Faults
) -> Iterator[tuple[Place, list[str]]]:
    """The rows that have as many values as there are columns, and where they are."""
    number = 0
    try:
        for number, (line, row) in enumerate(rows):
            place = Place(file, number, line)
            if len(row) == width:
                yield place, row
            else:
                faults.note(Fault("width", "", place, f"{len(row)} values for {width} columns"))
    except DataError as error:
        faults.note(Fault("unreadable", "", Place(file, number), f"{file}, {error}"))


def _as_numbers(values: Sequence[str], places: Sequence[Place], name: str, *, faults: Faults) -> list[float | None]:
    numbers: list[float | None] = []
    for value, place in zip(values, places, strict=True):
        if value in MISSING:
            numbers.append(None)
        elif _is_number(value):
            numbers.append(float(value))
        else:
            faults.note(Fault("number", name, place, value))
            numbers.append(0.0)
    return numbers


def _as_texts(values: Sequence[str], places: Sequence[Place], faults: Faults) -> list[str | None]:
    texts: list[str | None] = []
    for value, place in zip(values, places, strict=True):
        byte = byte_not_utf8(value)
        if byte is not None:
            faults.note(Fault("encoding", "", place, f"byte {byte:#x}"))
        readable = value if byte is None else value.encode(errors="replace").decode()
        texts.append(None if value in MISSING else readable)
    return texts


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value and value.isascii()
