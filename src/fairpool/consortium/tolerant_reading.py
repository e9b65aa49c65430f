"""Reading a table that has faults: what can be read is, and what cannot be is noted.

So all that is wrong with a table can be told at once. Tables without a fault are not read here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from fairpool.consortium.faults import Columns, Fault, Faults
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.tables import (
    MISSING,
    Batch,
    Place,
    byte_not_utf8,
    column_types,
    csv_rows,
    is_parquet,
    open_csv,
    unfit_columns,
)
from fairpool.errors import DataError

TOLERANT_ROWS = 1 << 14
TOLERANT_VALUES = 1 << 21
"""So many rows of a CSV file with faults are looked at together; fewer where they are wide."""


def read_tolerantly(
    piece: Piece, columns: Columns, faults: Faults, *, longest: int | None = None
) -> Iterator[Batch]:
    """The rows of a piece that `Reading` refuses, as far as they can be read.

    Columns that are not there, or of another type, are not in the batches. A value that is not a
    number is 0 there, so that it counts neither as missing nor as infinite.

    Args:
        piece: A CSV file, or row groups of a Parquet file.
        columns: What to read of it.
        faults: Takes what could not be read.
        longest: See `Reading`.
    """
    if is_parquet(piece.file):
        yield from _read_parquet(piece, columns, faults, longest=longest)
    else:
        yield from _read_csv(piece.file, columns, faults)


def _read_parquet(
    piece: Piece, columns: Columns, faults: Faults, *, longest: int | None
) -> Iterator[Batch]:
    """The columns that have the right type; Arrow reads them, or none."""
    beginning = Place(piece.file, piece.first)
    types = column_types(columns.numbers, columns.texts)
    unfit = unfit_columns(pa_parquet.read_schema(piece.file), types)
    for name, own_type in unfit.items():
        if own_type is None:
            faults.note(Fault(kind="lacking", column=name, first=beginning))
        else:
            faults.note(Fault(kind="type", column=name, first=beginning, value=own_type))
    reading = Reading(
        piece=piece,
        numbers=[name for name in columns.numbers if name not in unfit],
        texts=[name for name in columns.texts if name not in unfit],
        target=columns.target_name,
        longest=longest,
    )
    try:
        yield from reading
    except DataError as error:
        faults.note(Fault(kind="unreadable", first=beginning, value=str(error)))


class _Row(NamedTuple):
    """A row of a CSV file and where it is."""

    place: Place
    values: list[str]


def _read_csv(file: Path, columns: Columns, faults: Faults) -> Iterator[Batch]:
    """Row by row in Python: slow, and only for files that have a fault."""
    with open_csv(file) as stream:
        lines = csv_rows(stream)
        _, names = next(lines)
        present = {*names}
        numbers = {*columns.numbers}
        texts = {*columns.texts}
        for name in columns.names:
            if name not in present:
                faults.note(Fault(kind="lacking", column=name, first=Place(file, 0)))
        rows = _rows_of(lines, file, width=len(names), faults=faults)
        most = max(1, min(TOLERANT_ROWS, TOLERANT_VALUES // max(len(names), 1)))
        while together := list(islice(rows, most)):
            places = [row.place for row in together]
            reader = _Reader(places, faults)
            table = {}
            for at, name in enumerate(names):
                values = [row.values[at] for row in together]
                if name in numbers:
                    table[name] = pa.array(reader.numbers(name, values), pa.float64())
                elif name in texts:
                    table[name] = pa.array(reader.texts(values), pa.string())
            if table:
                yield Batch(file=file, first=places[0].row, columns=pa.table(table), places=places)


def _rows_of(
    lines: Iterator[tuple[int, list[str]]], file: Path, *, width: int, faults: Faults
) -> Iterator[_Row]:
    """The rows that have as many values as there are columns."""
    number = 0
    try:
        for number, (line, values) in enumerate(lines):
            place = Place(file, number, line)
            if len(values) == width:
                yield _Row(place, values)
            else:
                what = f"{len(values)} values for {width} columns"
                faults.note(Fault(kind="width", first=place, value=what))
    except DataError as error:
        where = Place(file, number)
        faults.note(Fault(kind="unreadable", first=where, value=f"{file}, {error}"))


@dataclass(frozen=True)
class _Reader:
    """Reads columns of some rows, of which it knows the places, and notes what cannot be read."""

    places: Sequence[Place]
    faults: Faults

    def numbers(self, name: str, values: Sequence[str]) -> list[float | None]:
        """Values as numbers; None where one is missing."""
        numbers: list[float | None] = []
        for place, value in zip(self.places, values, strict=True):
            if value in MISSING:
                numbers.append(None)
                continue
            number = _as_number(value)
            if number is None:
                self.faults.note(Fault(kind="number", column=name, first=place, value=value))
                number = 0.0
            numbers.append(number)
        return numbers

    def texts(self, values: Sequence[str]) -> list[str | None]:
        """Values as text; None where one is missing."""
        texts: list[str | None] = []
        for place, value in zip(self.places, values, strict=True):
            byte = None if value.isascii() else byte_not_utf8(value)
            if byte is not None:
                self.faults.note(Fault(kind="encoding", first=place, value=f"byte {byte:#x}"))
                texts.append(value.encode(errors="replace").decode())
            elif value in MISSING:
                texts.append(None)
            else:
                texts.append(value)
        return texts


def _as_number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    # Python reads 1_000 and digits of other scripts as numbers, but Arrow does not.
    if "_" in value or not value.isascii():
        return None
    return number
