"""The cells of a sheet as columns: typed values as they are, texts as a text file's would be."""

from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from fairpool.consortium.date_forms import DateForms, ambiguous_text
from fairpool.consortium.tables import Batch, Place
from fairpool.consortium.wanted import MisfitError, Wanted, constant_value, converted
from fairpool.consortium.workbooks import Cell, Sheet, is_blank, text_of_cell
from fairpool.errors import DataError, shown
from fairpool.tables.dates import days_in
from fairpool.tables.numerals import number_in


class Unread(NamedTuple):
    """A cell that cannot be read, or a column that is not there.

    Attributes:
        column: Its name.
        kind: Of fault: "lacking", "number", "date", or "order" of day and month.
        row: Which row of the sheet.
        value: What stands there; of a column that is not there, its header.
    """

    column: str
    kind: str
    row: int
    value: str


Note = Callable[[Unread], None]
"""Takes what is wrong."""

EPOCH = datetime(1970, 1, 1)
SECONDS_PER_DAY = 86_400


class SheetColumns:
    """The columns of a sheet that are wanted.

    Args:
        sheet: The cells.
        wanted: What is wanted of them.
    """

    def __init__(self, sheet: Sheet, wanted: Wanted) -> None:
        self._wanted = wanted
        self._dialect = wanted.delivery.dialect
        self._tokens = {*self._dialect.missing_tokens}
        # A token that is a number may have been typed as one.
        self._number_tokens = {number_in(token, self._dialect) for token in self._dialect.missing}
        self._at = {header: k for k, header in enumerate(sheet.headers)}
        self._sheet = sheet
        self._numbers = [k for k, row in enumerate(sheet.rows) if not is_blank(row)]

    def table(self, note: Note) -> pa.Table:
        """The rows that are not blank, as everything that follows sees them.

        What cannot be read is told to `note`; where that comes back, a number or a date is 0.
        Columns that are not there are told, too, and left out.
        """
        wanted = self._wanted
        columns = {}
        for name, kind in wanted.types.items():
            own = wanted.delivery.column(name)
            is_date = name in wanted.dates
            if own.constant is not None:
                value = constant_value(own, kind=kind, is_date=is_date)
                columns[name] = pa.repeat(pa.scalar(value, kind), len(self._numbers))
                continue
            if own.header not in self._at:
                note(Unread(column=name, kind="lacking", row=0, value=own.header))
                continue
            cells = self._cells(own.header)
            if is_date:
                columns[name] = self._dates(name, cells, note)
            elif kind == pa.float64():
                numbers = self._number_column(name, cells, note)
                columns[name] = converted(numbers, own.conversion)
            else:
                columns[name] = self._text_column(cells)
        if not columns:
            return pa.table({})
        return pa.table(columns)

    def batches(self, table: pa.Table, file: Path, most: int) -> Iterator[Batch]:
        """A table of all rows that are not blank, in batches."""
        blank_rows = len(self._numbers) < len(self._sheet.rows)
        for start in range(0, table.num_rows, most):
            part = table.slice(start, most)
            numbers = self._numbers[start : start + most]
            places: list[Place] = []
            if blank_rows:
                places = [Place(file, number, dialect=self._dialect) for number in numbers]
            yield Batch(
                file=file, first=numbers[0], columns=part, places=places, dialect=self._dialect
            )

    def refuse(self, unread: Unread) -> None:
        """Refuse what cannot be read; a `Note`."""
        if unread.kind == "lacking":
            raise DataError(f'the sheet has no column "{unread.value}"')
        what = f"{shown(unread.value)} is not a {unread.kind}"
        if unread.kind == "order":
            what = ambiguous_text(unread.value)
        raise MisfitError(unread.column, unread.row, what)

    def _cells(self, header: str) -> list[Cell]:
        at = self._at[header]
        rows = self._sheet.rows
        return [rows[k][at] for k in self._numbers]

    def _is_missing(self, cell: Cell) -> bool:
        if isinstance(cell, str):
            return cell in self._tokens
        return isinstance(cell, int | float) and cell in self._number_tokens

    def _number_column(self, name: str, cells: list[Cell], note: Note) -> pa.ChunkedArray:
        numbers: list[float | None] = []
        for row, cell in zip(self._numbers, cells, strict=True):
            number: float | None = None
            if isinstance(cell, int | float):
                number = float(cell)
            elif isinstance(cell, str):
                number = number_in(cell, self._dialect)
            if self._is_missing(cell):
                number = None
            elif number is None:
                note(Unread(column=name, kind="number", row=row, value=text_of_cell(cell)))
                number = 0.0
            numbers.append(number)
        return pa.chunked_array([pa.array(numbers, pa.float64())])

    def _text_column(self, cells: list[Cell]) -> pa.ChunkedArray:
        texts = [None if self._is_missing(cell) else text_of_cell(cell) for cell in cells]
        return pa.chunked_array([pa.array(texts, pa.string())])

    def _dates(self, name: str, cells: list[Cell], note: Note) -> pa.ChunkedArray:
        """Days, from cells that are dates, and from texts, which all have one form."""
        days = np.zeros(len(cells))
        is_missing = np.zeros(len(cells), dtype=bool)
        texts: list[str | None] = [None] * len(cells)
        for k, cell in enumerate(cells):
            if self._is_missing(cell):
                is_missing[k] = True
            elif isinstance(cell, date):  # a datetime is one, too
                days[k] = _days_of(cell)
            elif isinstance(cell, str):
                texts[k] = cell
            else:
                unread = text_of_cell(cell)
                note(Unread(column=name, kind="date", row=self._numbers[k], value=unread))
        column = pa.chunked_array([pa.array(texts, pa.string())])
        if column.null_count < len(column):
            forms = DateForms([name], self._wanted.delivery)
            forms.take(name, column, 0)
            for first in forms.ambiguous.values():
                row = self._numbers[first.row]
                note(Unread(column=name, kind="order", row=row, value=first.value))
            form = forms.of(name)
            found = days_in(column, form)
            for k, text in enumerate(texts):
                if text is not None and not found.fits[k]:
                    note(Unread(column=name, kind="date", row=self._numbers[k], value=text))
            days = np.where(found.fits, found.values, days)
        return pa.chunked_array([pa.array(days, mask=is_missing)])


def _days_of(cell: date) -> float:
    if not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    gap = cell - EPOCH
    return gap.days + (gap.seconds + gap.microseconds / 1e6) / SECONDS_PER_DAY
