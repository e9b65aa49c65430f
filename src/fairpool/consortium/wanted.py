"""From a file's own columns to the collaboration's: names, units, dates as days, constants.

A reading takes the columns that are wanted out of a file as it has them, and these functions make
of them what everything after it sees: float64 or text, null where a value is missing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.columns import Rules
from fairpool.columns.rules import is_image_type
from fairpool.consortium.date_forms import DateForms, misfit_text
from fairpool.errors import DataError, shown
from fairpool.tables.dates import FORMS, days_in, days_of_type, is_date_type, narrowed
from fairpool.tables.delivery import Delivery, OwnColumn
from fairpool.tables.dialect import PLAIN
from fairpool.tables.numerals import number_in, numbers_in
from fairpool.tables.units import Conversion


class MisfitError(DataError):
    """A value of a column that is not what it should be.

    Attributes:
        name: The column.
        row: The row in the table at hand, from 0.
        what: What is wrong, in words.
    """

    def __init__(self, name: str, row: int, what: str) -> None:
        super().__init__(what)
        self.name = name
        self.row = row
        self.what = what


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which columns of the collaboration are wanted of a file, and how the file has them.

    Attributes:
        numbers: The columns to be read as float64.
        texts: The columns to be read as strings.
        dates: The columns to be read as days since 1970-01-01; they may be among the numbers.
        images: Those of the texts that name images or, in Parquet files, hold them.
        delivery: How the file comes.
    """

    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    dates: tuple[str, ...]
    images: tuple[str, ...] = ()
    delivery: Delivery

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns, each once: numbers and dates first, then texts."""
        return tuple(dict.fromkeys((*self.numbers, *self.dates, *self.texts)))

    @cached_property
    def recorded(self) -> tuple[OwnColumn, ...]:
        """The columns that the file has, in the same order."""
        columns = [self.delivery.column(name) for name in self.names]
        return tuple(column for column in columns if column.constant is None)

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """As what each column is seen by everything that follows."""
        texts = {*self.texts}
        types = dict.fromkeys(self.names, pa.float64())
        for name in self.names:
            if name in texts:
                types[name] = pa.string()
        return types

    @cached_property
    def types_in_text(self) -> dict[str, pa.DataType]:
        """As what each column of a text file is read, by the file's own header.

        Numbers that Arrow cannot read, since they have signs between thousands, are read as text.
        """
        direct = not self.delivery.dialect.thousands
        dates = {*self.dates}
        types = {}
        for column in self.recorded:
            types[column.header] = pa.string()
            if self.types[column.name] == pa.float64() and column.name not in dates and direct:
                types[column.header] = pa.float64()
        return types

    @cached_property
    def types_in_parquet(self) -> dict[str, pa.DataType]:
        """What each column of a Parquet file must be at least, by the file's own header."""
        dates = {*self.dates}
        types = {}
        for column in self.recorded:
            types[column.header] = self.types[column.name]
            if column.name in dates:
                types[column.header] = pa.date32()
            elif column.name in self.images:
                types[column.header] = pa.large_binary()
        return types

    def of(self, names: Collection[str]) -> "Wanted":
        """The same, of some columns alone."""
        return replace(
            self,
            numbers=tuple(filter(names.__contains__, self.numbers)),
            texts=tuple(filter(names.__contains__, self.texts)),
            dates=tuple(filter(names.__contains__, self.dates)),
            images=tuple(filter(names.__contains__, self.images)),
        )

    @property
    def recorded_dates(self) -> tuple[str, ...]:
        """The columns of dates that the file has."""
        dates = {*self.dates}
        return tuple(column.name for column in self.recorded if column.name in dates)

    @property
    def is_direct(self) -> bool:
        """Whether columns need only be read, so that a table is what is wanted of it."""
        return not self.delivery.columns and not self.delivery.dialect.thousands and not self.dates

    @property
    def open_dates(self) -> tuple[OwnColumn, ...]:
        """The columns of dates whose form is to be found out."""
        dates = [column for column in self.recorded if column.name in self.dates]
        return tuple(column for column in dates if not column.date_format)

    def canonical(self, own: pa.Table, forms: DateForms | None) -> pa.Table:
        """Rows of a file as everything that follows sees them.

        Args:
            own: The rows, under the file's own headers.
            forms: How its dates are written; None: there are none.

        Raises:
            MisfitError: A date cannot be read.
            pa.ArrowInvalid: A number cannot be read.
        """
        dates = {*self.dates}
        columns = {}
        for name, kind in self.types.items():
            column = self.delivery.column(name)
            if column.constant is not None:
                columns[name] = self._constant(column, own.num_rows)
            elif name in dates:
                columns[name] = _days(own[column.header], name, forms)
            elif kind == pa.float64():
                columns[name] = self._numbers(own[column.header], column)
            elif is_image_type(own[column.header].type):
                columns[name] = own[column.header]
            else:
                columns[name] = own[column.header].cast(pa.string())
        return pa.table(columns)

    def _numbers(self, values: pa.ChunkedArray, column: OwnColumn) -> pa.ChunkedArray:
        if values.type == pa.string():
            values = numbers_in(values, self.delivery.dialect)
        elif values.type != pa.float64():
            # Integers beyond 2**53 are rounded, as those of a CSV file are.
            values = values.cast(pa.float64(), safe=not pa.types.is_integer(values.type))
        return converted(values, column.conversion)

    def _constant(self, column: OwnColumn, rows: int) -> pa.ChunkedArray:
        kind = self.types[column.name]
        value = constant_value(column, kind=kind, is_date=column.name in self.dates)
        return pa.chunked_array([pa.repeat(pa.scalar(value, kind), rows)])


def converted(values: pa.ChunkedArray, conversion: Conversion | None) -> pa.ChunkedArray:
    """Numbers in another unit."""
    if conversion is None:
        return values
    values = pc.multiply(values, conversion.factor)
    if conversion.offset:
        values = pc.add(values, conversion.offset)
    return values


def rules_as_delivered(rules: Mapping[str, Rules], delivery: Delivery) -> Mapping[str, Rules]:
    """Rules whose tokens are numbers of the collaboration's unit, as columns are after reading.

    In a file with inches, 999 stands for a missing value in inches.
    """
    delivered = dict(rules)
    for name, own in rules.items():
        conversion = delivery.column(name).conversion
        if own.tokens and conversion is not None:
            tokens = []
            for token in own.tokens:
                number = number_in(token, PLAIN)
                if number is not None:
                    tokens.append(repr(number * conversion.factor + conversion.offset))
            delivered[name] = replace(own, tokens=tuple(tokens))
    return delivered


def without_tokens(values: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """A typed column with nulls where it has what stands for a missing value."""
    if not tokens:
        return values
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        set_of_tokens = pa.array(list(tokens), values.type)
    elif pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers = [float(token) for token in tokens if _is_float(token)]
        values = values.cast(pa.float64(), safe=False)
        set_of_tokens = pa.array(numbers, pa.float64())
    else:
        return values
    is_token = pc.is_in(values, value_set=set_of_tokens)
    return pc.if_else(is_token, pa.scalar(None, values.type), values)


def _is_float(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def _days(values: pa.ChunkedArray, name: str, forms: DateForms | None) -> pa.ChunkedArray:
    if is_date_type(values.type):
        return days_of_type(values)
    assert forms is not None  # whoever reads dates found out how they are written
    form = forms.of(name)
    is_missing = np.asarray(pc.is_null(values))
    days = days_in(values.cast(pa.string()), form)
    wrong = ~days.fits & ~is_missing
    if wrong.any():
        row = int(np.argmax(wrong))
        raise MisfitError(name, row, misfit_text(str(values[row].as_py()), form))
    return pa.chunked_array([pa.array(days.values, mask=is_missing)])


def constant_value(column: OwnColumn, *, kind: pa.DataType, is_date: bool) -> str | float:
    """The constant of a column, as everything that follows sees it.

    Raises:
        DataError: It is not what the column has.
    """
    constant = column.constant
    assert constant is not None
    if kind == pa.string():
        if isinstance(constant, float) and constant.is_integer():
            return str(int(constant))
        return str(constant)
    if is_date:
        return _constant_date(column.name, str(constant))
    number = number_in(str(constant), PLAIN)
    if number is None or not np.isfinite(number):
        raise DataError(
            f'the constant {shown(constant)} of "{column.name}" is not a number; give one, such as'
            " 0, or make the column a category"
        )
    return float(number)


def constant_problems(wanted: Wanted) -> list[str]:
    """The constants that are not what their columns have."""
    problems: list[str] = []
    for name, kind in wanted.types.items():
        column = wanted.delivery.column(name)
        if column.constant is not None:
            try:
                constant_value(column, kind=kind, is_date=name in wanted.dates)
            except DataError as error:
                problems += error.problems
    return problems


def _constant_date(name: str, constant: str) -> float:
    texts = pa.chunked_array([[constant]])
    forms = narrowed(FORMS, texts)
    days = forms[0].days(texts)
    if not days.fits.all():
        raise DataError(f'the constant of "{name}": {misfit_text(constant, FORMS[0])}')
    if len(forms) > 1:
        raise DataError(f'the constant of "{name}": write {shown(constant)} as year-month-day')
    return float(days.values[0])
