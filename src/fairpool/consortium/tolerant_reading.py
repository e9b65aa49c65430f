"""Reading a table that has faults: what can be read is, and what cannot be is noted.

So all that is wrong with a table can be told at once. Tables without a fault are not read here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pa_parquet

from fairpool.consortium.date_forms import DateForms
from fairpool.consortium.faults import Columns, Fault, Faults
from fairpool.consortium.image_files import ImageFiles
from fairpool.consortium.parquet_heads import unfit_columns
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.sheet_columns import SheetColumns, Unread
from fairpool.consortium.tables import (
    Batch,
    Place,
    byte_not_utf8,
    csv_rows,
    is_parquet,
    is_workbook,
    open_csv,
)
from fairpool.consortium.wanted import Wanted, constant_value, converted, rules_as_delivered
from fairpool.consortium.workbooks import sheet_of
from fairpool.encoders.pictures import ANY_IMAGE, ImageLimits
from fairpool.encoding import without_tokens
from fairpool.errors import DataError
from fairpool.tables.dates import days_in
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.dialect import Dialect
from fairpool.tables.numerals import number_in

TOLERANT_ROWS = 1 << 14
TOLERANT_VALUES = 1 << 21
"""So many rows of a CSV file with faults are looked at together; fewer where they are wide."""


def read_tolerantly(
    piece: Piece,
    columns: Columns,
    faults: Faults,
    *,
    delivery: Delivery = AS_AGREED,
    longest: Mapping[str, int] | None = None,
    image_limits: ImageLimits = ANY_IMAGE,
    expansion: float | None = None,
) -> Iterator[Batch]:
    """The rows of a piece that `Reading` refuses, as far as they can be read.

    Columns that are not there, or of another type, are not in the batches. A value that is not a
    number is 0 there, so that it counts neither as missing nor as infinite; an image that cannot be
    used is `image_files.NO_IMAGE`.

    Args:
        piece: A CSV file, or row groups of a Parquet file.
        columns: What to read of it.
        faults: Takes what could not be read.
        delivery: How the file comes.
        longest: See `Reading`.
        image_limits: What images may be at most.
        expansion: See `Reading`.
    """
    batches = _without_tokens(
        piece, columns, faults, delivery=delivery, longest=longest, expansion=expansion
    )
    if not columns.images:
        yield from batches
        return

    def note(batch: Batch, row: int, column: str, problem: str) -> None:
        faults.note(Fault(kind="image", column=column, first=batch.place(row), value=problem))

    images = ImageFiles(columns=columns.images, limits=image_limits)
    yield from images.opened(batches, note)


def _without_tokens(
    piece: Piece,
    columns: Columns,
    faults: Faults,
    *,
    delivery: Delivery,
    longest: Mapping[str, int] | None,
    expansion: float | None,
) -> Iterator[Batch]:
    rules = rules_as_delivered(columns.rules, delivery)
    batches = _read(piece, columns, faults, delivery=delivery, longest=longest, expansion=expansion)
    for batch in batches:
        yield replace(batch, columns=without_tokens(batch.columns, rules))


def _read(
    piece: Piece,
    columns: Columns,
    faults: Faults,
    *,
    delivery: Delivery,
    longest: Mapping[str, int] | None,
    expansion: float | None,
) -> Iterator[Batch]:
    wanted = wanted_of(columns, delivery)
    if is_parquet(piece.file):
        reading = _read_parquet(piece, wanted, faults)
        reading.target = columns.target_name
        reading.longest = longest or {}
        reading.free_texts = columns.free_texts
        try:
            yield from reading.unopened()
        except DataError as error:
            beginning = Place(piece.file, piece.first)
            faults.note(Fault(kind="unreadable", first=beginning, value=str(error)))
    elif is_workbook(piece.file):
        yield from _read_sheet(piece.file, wanted, faults)
    else:
        yield from _read_csv(piece.file, wanted, faults, expansion=expansion)


def wanted_of(columns: Columns, delivery: Delivery) -> Wanted:
    """What is wanted of a file that comes in this way."""
    return Wanted(
        numbers=columns.numbers,
        texts=columns.texts,
        dates=columns.dates,
        images=columns.images,
        delivery=delivery,
    )


def _read_parquet(piece: Piece, wanted: Wanted, faults: Faults) -> Reading:
    """A reading of the columns that have the right type; Arrow reads them, or none."""
    beginning = Place(piece.file, piece.first)
    types = wanted.types_in_parquet
    unfit = unfit_columns(pa_parquet.read_schema(piece.file), types)
    fit = [*wanted.names]
    for column in wanted.recorded:
        if column.header not in unfit:
            continue
        fit.remove(column.name)
        own_type = unfit[column.header]
        if own_type is None:
            faults.note(Fault(kind="lacking", column=column.name, first=beginning))
        else:
            faults.note(Fault(kind="type", column=column.name, first=beginning, value=own_type))
    part = wanted.of(fit)
    return Reading(
        piece=piece,
        numbers=part.numbers,
        texts=part.texts,
        dates=part.dates,
        images=part.images,
        delivery=part.delivery,
    )


def _read_sheet(file: Path, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """A workbook; its cells are looked at one by one in any case."""
    dialect = wanted.delivery.dialect

    def note(unread: Unread) -> None:
        place = Place(file, unread.row, dialect=dialect)
        faults.note(Fault(kind=unread.kind, column=unread.column, first=place, value=unread.value))

    columns = SheetColumns(sheet_of(file, dialect), wanted)
    yield from columns.batches(columns.table(note), file, TOLERANT_ROWS)


class _Row(NamedTuple):
    """A row of a CSV file and where it is."""

    place: Place
    values: list[str]


def _read_csv(
    file: Path, wanted: Wanted, faults: Faults, *, expansion: float | None
) -> Iterator[Batch]:
    """Row by row in Python: slow, and only for files that have a fault."""
    delivery = wanted.delivery
    forms = _date_forms(file, wanted, expansion=expansion)
    for name, first in forms.ambiguous.items():
        place = Place(file, first.row, dialect=delivery.dialect)
        faults.note(Fault(kind="order", column=name, first=place, value=first.value))
    with open_csv(file, delivery.dialect, expansion=expansion) as stream:
        lines = csv_rows(stream, delivery.dialect)
        _, headers = next(lines)
        at = {header: k for k, header in enumerate(headers)}
        for column in wanted.recorded:
            if column.header not in at:
                faults.note(Fault(kind="lacking", column=column.name, first=Place(file, 0)))
        rows = _rows_of(lines, file, width=len(headers), faults=faults)
        for together in _in_batches(rows, len(headers)):
            places = [row.place for row in together]
            reader = _Reader(places=places, faults=faults, wanted=wanted, forms=forms)
            table = {}
            for name, kind in wanted.types.items():
                own = delivery.column(name)
                if own.constant is not None:
                    value = constant_value(own, kind=kind, is_date=name in wanted.dates)
                    table[name] = pa.repeat(pa.scalar(value, kind), len(together))
                elif own.header in at:
                    values = [row.values[at[own.header]] for row in together]
                    table[name] = reader.column(name, values)
            if table:
                yield Batch(
                    file=file,
                    first=places[0].row,
                    columns=pa.table(table),
                    places=places,
                    dialect=delivery.dialect,
                )


def _in_batches(rows: Iterator[_Row], width: int) -> Iterator[list[_Row]]:
    most = max(1, min(TOLERANT_ROWS, TOLERANT_VALUES // max(width, 1)))
    while together := list(islice(rows, most)):
        yield together


def _date_forms(file: Path, wanted: Wanted, *, expansion: float | None) -> DateForms:
    """How the file's dates are written, as far as the file can be read."""
    forms = DateForms(wanted.recorded_dates, wanted.delivery)
    if not wanted.open_dates:
        return forms
    dialect = wanted.delivery.dialect
    tokens = {*dialect.missing_tokens}
    with open_csv(file, dialect, expansion=expansion) as stream:
        lines = csv_rows(stream, dialect)
        _, headers = next(lines)
        at = {header: k for k, header in enumerate(headers)}
        rows = _rows_of(lines, file, width=len(headers), faults=Faults())
        for together in _in_batches(rows, len(headers)):
            for column in wanted.open_dates:
                if column.header in at:
                    values = [row.values[at[column.header]] for row in together]
                    texts = [None if value in tokens else _utf8(value) for value in values]
                    texts_read = pa.chunked_array([pa.array(texts, pa.string())])
                    forms.take(column.name, texts_read, together[0].place.row)
    return forms


def _utf8(value: str) -> str:
    return value.encode(errors="replace").decode()


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
        # What is wrong with the file's bytes is told with its name, what is wrong with a line not.
        text = str(error)
        if not text.startswith(str(file)):
            text = f"{file}, {text}"
        faults.note(Fault(kind="unreadable", first=where, value=text))


@dataclass(frozen=True)
class _Reader:
    """Reads columns of some rows, of which it knows the places, and notes what cannot be read."""

    places: Sequence[Place]
    faults: Faults
    wanted: Wanted
    forms: DateForms

    @property
    def _dialect(self) -> Dialect:
        return self.wanted.delivery.dialect

    def column(self, name: str, values: Sequence[str]) -> pa.ChunkedArray:
        """Values of a column as everything that follows sees them."""
        if name in self.wanted.dates:
            return self._dates(name, values)
        if self.wanted.types[name] == pa.string():
            return pa.chunked_array([pa.array(self._texts(values), pa.string())])
        numbers = pa.chunked_array([pa.array(self._numbers(name, values), pa.float64())])
        return converted(numbers, self.wanted.delivery.column(name).conversion)

    def _numbers(self, name: str, values: Sequence[str]) -> list[float | None]:
        """Values as numbers; None where one is missing."""
        tokens = {*self._dialect.missing_tokens}
        numbers: list[float | None] = []
        for place, value in zip(self.places, values, strict=True):
            if value in tokens:
                numbers.append(None)
                continue
            number = number_in(value, self._dialect)
            if number is None:
                self.faults.note(Fault(kind="number", column=name, first=place, value=value))
                number = 0.0
            numbers.append(number)
        return numbers

    def _texts(self, values: Sequence[str]) -> list[str | None]:
        """Values as text; None where one is missing."""
        tokens = {*self._dialect.missing_tokens}
        texts: list[str | None] = []
        for place, value in zip(self.places, values, strict=True):
            byte = None if value.isascii() else byte_not_utf8(value)
            if byte is not None:
                self.faults.note(Fault(kind="encoding", first=place, value=f"byte {byte:#x}"))
                texts.append(_utf8(value))
            elif value in tokens:
                texts.append(None)
            else:
                texts.append(value)
        return texts

    def _dates(self, name: str, values: Sequence[str]) -> pa.ChunkedArray:
        """Values as days; null where one is missing."""
        texts = pa.chunked_array([pa.array(self._texts(values), pa.string())])
        days = days_in(texts, self.forms.of(name))
        is_missing = np.asarray(pc.is_null(texts))
        for row in np.flatnonzero(~days.fits & ~is_missing).tolist():
            fault = Fault(kind="date", column=name, first=self.places[row], value=values[row])
            self.faults.note(fault)
        return pa.chunked_array([pa.array(days.values, mask=is_missing)])
