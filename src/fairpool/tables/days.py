"""Columns of dates that come in a table instead of a file: typed, as texts, or as days already."""

import pyarrow as pa
import pyarrow.compute as pc

from fairpool.errors import DataError, shown
from fairpool.tables.dates import FORMS, days_in, days_of_type, is_date_type, narrowed


def days_of(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column as days since 1970-01-01; one of numbers is taken to have days.

    Args:
        column: Dates, times, texts or numbers.
        name: What errors call it.
    """
    if is_date_type(column.type):
        return days_of_type(column)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    texts = column.cast(pa.string())
    forms = narrowed(FORMS, texts)
    days = days_in(texts, forms[0])
    is_missing = pc.is_null(texts).to_numpy()
    wrong = ~days.fits & ~is_missing
    for row in wrong.nonzero()[0]:
        raise DataError(
            f'column "{name}", row {row} (counting from 0): {shown(texts[row].as_py())} is not a'
            " date; correct it"
        )
    if len(forms) > 1 and not is_missing.all():
        first = texts.drop_null()[0].as_py()
        raise DataError(
            f'column "{name}": {shown(first)} may have the day or the month first; give dates'
            " instead of texts, or year-month-day"
        )
    return pa.chunked_array([pa.array(days.values, mask=is_missing)])
