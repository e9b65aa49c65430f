"""How the dates of a file are written, found out from all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from fairpool.errors import shown
from fairpool.tables.dates import FORMS, ISO, DateForm, narrowed
from fairpool.tables.delivery import Delivery


class FirstDate(NamedTuple):
    """The first date of a column: its row in the file, from 0, and what is there."""

    row: int
    value: str


@dataclass(frozen=True, kw_only=True)
class _Search:
    """What is known of a column so far; its first date is None as long as none was seen."""

    forms: tuple[DateForm, ...]
    first: FirstDate | None = None

    def further(self, column: pa.ChunkedArray, start: int) -> "_Search":
        """With the rows of a column from `start` on."""
        forms = narrowed(self.forms, column)
        first = self.first
        if first is None and column.null_count < len(column):
            fits = forms[0].days(column).fits
            if fits.any():
                row = int(np.argmax(fits))
                first = FirstDate(start + row, str(column[row].as_py()))
        return _Search(forms=forms, first=first)

    @property
    def is_decided(self) -> bool:
        return len(self.forms) == 1


class DateForms:
    """How the columns of dates of a file are written.

    It is not frozen: it is told of the file's rows until all forms are known.
    """

    def __init__(self, names: Iterable[str], delivery: Delivery) -> None:
        self._columns: dict[str, _Search] = {}
        for name in names:
            form = delivery.column(name).date_form
            forms = FORMS if form is None else (form,)
            self._columns[name] = _Search(forms=forms)

    def take(self, name: str, column: pa.ChunkedArray, start: int) -> None:
        """Take in the texts of a column, which is a piece of the file's from row `start` on."""
        self._columns[name] = self._columns[name].further(column, start)

    @property
    def undecided(self) -> list[str]:
        """The columns of which more must be seen."""
        return [name for name, search in self._columns.items() if not search.is_decided]

    def of(self, name: str) -> DateForm:
        """How a column is written; what is ambiguous is told by `ambiguous`."""
        search = self._columns[name]
        if search.first is None and not search.is_decided:
            return ISO
        return search.forms[0]

    @property
    def ambiguous(self) -> dict[str, FirstDate]:
        """The columns with dates of which nobody can tell the order, now that all were seen."""
        ambiguous = {}
        for name, search in self._columns.items():
            if search.first is not None and not search.is_decided:
                ambiguous[name] = search.first
        return ambiguous


def misfit_text(value: str, form: DateForm) -> str:
    """That a value is no date, or not written as the others are, and what to do."""
    how = f"as the file's others are ({form.format})"
    if form == ISO:
        how = "such as 2024-12-31"
    return f"{shown(value)} is not a date {how}; correct it, or give date_format in its columns"


def ambiguous_text(value: str) -> str:
    """That the order of day and month is not clear, and what to do."""
    forms = forms_of(value)
    formats = " or ".join(f'"{form.format}"' for form in forms)
    return (
        f"{shown(value)} may have the day or the month first, and no date of the file tells which;"
        f" say date_format = {formats} in its columns"
    )


def forms_of(value: str) -> Sequence[DateForm]:
    """The forms that fit a single date."""
    return narrowed(FORMS, pa.chunked_array([[value]]))
