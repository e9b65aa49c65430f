"""Whether a column holds dates, and in which format."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from fairpool.tables.dates import FORMS

LONGEST_DATE = 40
SHORTEST_DATE = 6
"""Characters of a date, with a time of day at most."""


@dataclass(frozen=True)
class DateGuess:
    """The formats in which every value is a date, as strptime has them; two are a doubt."""

    formats: tuple[str, ...]

    @property
    def ambiguous(self) -> bool:
        """Whether day and month may be exchanged in all of them."""
        return len(self.formats) > 1


def guess_dates(values: Sequence[str]) -> DateGuess | None:
    """The formats that fit every value; None if there is none."""
    # A look at one value spares most columns of texts all those patterns.
    if not values or not _may_be_date(values[0]):
        return None
    column = pa.array(values)
    likely = [form for form in FORMS if form.days(column.slice(0, 1)).fits.all()]
    fitting = [form.format for form in likely if form.days(column).fits.all()]
    if not fitting:
        return None
    return DateGuess(tuple(fitting))


def _may_be_date(value: str) -> bool:
    digits = sum(sign.isdigit() for sign in value)
    return SHORTEST_DATE <= len(value.strip()) <= LONGEST_DATE and digits >= 4
