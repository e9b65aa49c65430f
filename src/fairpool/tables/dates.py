"""Dates as numbers: float64 days since 1970-01-01, from the ways in which people write them.

A date such as 1.2.2024 may be in February or in January. So a form is never chosen for a value, but
for a whole column of a file: `narrowed` keeps those that fit all its dates, and where two remain,
nobody can tell, and the operator is asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.errors import shown
from fairpool.tables.arrays import FloatArray

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FULL_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)

DIRECTIVES = {
    "%Y": r"(?P<year>\d{4})",
    "%y": r"(?P<short_year>\d{2})",
    "%m": r"(?P<month>\d{1,2})",
    "%d": r"(?P<day>\d{1,2})",
    "%b": r"(?P<name>[A-Za-z]{3,9})",
    "%B": r"(?P<name>[A-Za-z]{3,9})",
    "%H": r"(?P<hour>\d{1,2})",
    "%M": r"(?P<minute>\d{1,2})",
    "%S": r"(?P<second>\d{1,2})",
    "%f": r"(?P<fraction>\d{1,9})",
    "%z": r"(?P<zone>Z|z|[+-]\d{2}:?\d{2})",
    "%%": "%",
}
"""What a date format may have, as strptime has it, and the pattern of each."""

TIME = (
    r"(?:[T ]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<zone>Z|z|[+-]\d{2}:?\d{2})?)?"
)
"""The time of day that may follow a date."""

LAST_SHORT_YEAR = 68
"""Two digits up to this are years from 2000 on, and beyond it before, as strptime has it."""

SECONDS_PER_DAY = 86_400
LONGEST_FORMAT = 60
LOOKED_AT = 1000
"""So many values are tried with every form, and all others with those that are left."""


class Days(NamedTuple):
    """Dates as numbers.

    Attributes:
        values: Days since 1970-01-01 [m]; 0 where there is no date.
        fits: Whether the value is a date of the form [m]; a missing value is none.
    """

    values: FloatArray
    fits: NDArray[np.bool_]


@dataclass(frozen=True)
class DateForm:
    """A way to write dates.

    Attributes:
        format: As strptime has it.
        with_time: Whether a time of day may follow.
    """

    format: str
    with_time: bool = False

    @cached_property
    def pattern(self) -> str:
        """A date of this form, as a regular expression with a name for each part."""
        parts = [_pattern_of(part) for part in re.split(r"(%.)", self.format)]
        return rf"^\s*{''.join(parts)}{TIME if self.with_time else ''}\s*$"

    def days(self, column: pa.Array | pa.ChunkedArray) -> Days:
        """A column of texts as days; texts that are no such date do not fit."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        parts = _Parts(pc.extract_regex(column, self.pattern))
        fits = ~parts.is_missing
        year = parts.number("year", 1970)
        if "short_year" in parts.names:
            short = parts.number("short_year", 70)
            year = np.where(short > LAST_SHORT_YEAR, 1900 + short, 2000 + short)
        month = parts.number("month", 1)
        if "name" in parts.names:
            month = parts.month_by_name()
        day = parts.number("day", 1)
        fits &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
        month = np.clip(month, 1, 12)
        first = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
        begin = first.astype("datetime64[D]").astype(np.int64)
        end = (first + np.timedelta64(1, "M")).astype("datetime64[D]").astype(np.int64)
        fits &= day <= end - begin
        seconds, is_time = parts.seconds()
        fits &= is_time
        days = (begin + day - 1) + seconds / SECONDS_PER_DAY
        return Days(np.where(fits, days, 0.0), fits)


def _pattern_of(part: str) -> str:
    return DIRECTIVES.get(part, re.escape(part))


class _Parts:
    """The parts of dates that a regular expression took out of texts."""

    def __init__(self, parts: pa.StructArray) -> None:
        self.is_missing = np.asarray(parts.is_null())
        self.names = tuple(field.name for field in parts.type)
        self._columns = dict(zip(self.names, parts.flatten(), strict=True))

    def number(self, name: str, otherwise: int) -> NDArray[np.int64]:
        """A part as whole numbers [m]; another number where there is none."""
        if name not in self._columns:
            return np.full(len(self.is_missing), otherwise, dtype=np.int64)
        texts = pc.if_else(pc.equal(self._columns[name], ""), None, self._columns[name])
        numbers = pc.fill_null(texts.cast(pa.int64()), otherwise)
        return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)

    def month_by_name(self) -> NDArray[np.int64]:
        """Months by their English names [m]; 0 where there is no such month."""
        names = pc.utf8_lower(self._columns["name"])
        place = pc.fill_null(pc.index_in(names, value_set=pa.array([*MONTHS, *FULL_MONTHS])), -1)
        at = np.asarray(place.to_numpy(zero_copy_only=False), dtype=np.int64)
        return np.where(at < 0, 0, at % 12 + 1)

    def seconds(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Seconds since midnight, in UTC where a zone is given [m], and whether there are such."""
        hour = self.number("hour", 0)
        minute = self.number("minute", 0)
        second = self.number("second", 0)
        is_time = (hour <= 23) & (minute <= 59) & (second <= 59)
        seconds = (hour * 3600 + minute * 60 + second).astype(np.float64)
        if "fraction" in self._columns:
            # "5" is half a second: as a decimal fraction, and not as a number of anything.
            fraction = pc.fill_null(self._columns["fraction"], "0")
            digits = pc.binary_join_element_wise("0", fraction, ".")
            seconds += digits.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if "zone" in self._columns:
            ahead, is_zone = _zone_seconds(self._columns["zone"])
            seconds -= ahead
            is_time &= is_zone
        return seconds, is_time


def _zone_seconds(zones: pa.Array) -> tuple[FloatArray, NDArray[np.bool_]]:
    """How far zones are ahead of UTC [m], and whether there are such zones."""
    ahead = np.zeros(len(zones))
    is_zone = np.ones(len(zones), dtype=bool)
    texts = pc.fill_null(zones, "")
    for zone in pc.unique(texts).to_pylist():
        if zone in ("", "Z", "z"):
            continue
        hours = int(zone[1:3])
        minutes = int(zone[-2:])
        rows = np.asarray(pc.equal(texts, zone))
        sign = 1
        if zone[0] == "-":
            sign = -1
        ahead[rows] = sign * (hours * 3600 + minutes * 60)
        is_zone[rows] = hours <= 23 and minutes <= 59
    return ahead, is_zone


ISO = DateForm("%Y-%m-%d", with_time=True)

FORMS = (
    ISO,
    *(
        DateForm(text, with_time=True)
        for text in (
            "%Y/%m/%d",
            "%Y.%m.%d",
            "%Y%m%d",
            "%d.%m.%Y",
            "%m.%d.%Y",
            "%d/%m/%Y",
            "%m/%d/%Y",
            "%d-%m-%Y",
            "%m-%d-%Y",
            "%d %b %Y",
            "%d. %b %Y",
            "%d-%b-%Y",
            "%d/%b/%Y",
            "%b %d, %Y",
            "%b %d %Y",
        )
    ),
)
"""The forms that are recognised without being told."""


@lru_cache
def form_of(text: str) -> DateForm:
    """The form of a format that somebody gave; a ValueError if it is none."""
    if len(text) > LONGEST_FORMAT:
        raise ValueError(f"{shown(text)} is too long for a date format")
    directives = re.findall(r"%.?", text)
    for directive in directives:
        if directive not in DIRECTIVES:
            known = ", ".join(list(DIRECTIVES)[:-1])
            raise ValueError(f"{shown(text)} has {shown(directive)}; a date format has {known}")
    parts = [DIRECTIVES[directive] for directive in directives if directive != "%%"]
    if len({*parts}) < len(parts):
        raise ValueError(f"{shown(text)} has a part twice")
    has_year = "%Y" in directives or "%y" in directives
    has_month = "%m" in directives or "%b" in directives or "%B" in directives
    if not has_year or not has_month or ("%Y" in directives and "%y" in directives):
        raise ValueError(f'{shown(text)} needs a year and a month, such as "%d.%m.%Y"')
    if "%m" in directives and len({"%b", "%B"} & {*directives}):
        raise ValueError(f"{shown(text)} has the month twice")
    return DateForm(text)


def narrowed(forms: Sequence[DateForm], column: pa.ChunkedArray) -> tuple[DateForm, ...]:
    """Of these forms, those that fit all dates of a column; a text that fits none is no date.

    Where the dates contradict each other, the form remains that lasted longest: then the first date
    of another order is the one that does not fit.
    """
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    texts = texts.drop_null()
    if not len(texts) or len(forms) == 1:
        return tuple(forms)
    if ISO in forms and _all_plain_iso(texts):
        return (ISO,)
    beginning = texts.slice(0, LOOKED_AT)
    likely = tuple(form for form in forms if form.days(beginning).fits.any())
    return _lasting_longest(likely or forms, texts)


def _lasting_longest(forms: Sequence[DateForm], texts: pa.Array) -> tuple[DateForm, ...]:
    fits = np.array([form.days(texts).fits for form in forms])  # [form, m]
    is_date = fits.any(axis=0)
    if not is_date.any():
        return tuple(forms)
    unfit = is_date & ~fits
    rows = len(texts)
    first_unfit = np.where(unfit.any(axis=1), np.argmax(unfit, axis=1), rows)
    last = first_unfit.max()
    kept = []
    for form, row in zip(forms, first_unfit.tolist(), strict=True):
        if row == last:
            kept.append(form)
    return tuple(kept)


def _all_plain_iso(texts: pa.Array) -> bool:
    try:
        texts.cast(pa.date32())
    except pa.ArrowInvalid:
        return False
    return True


def days_in(column: pa.ChunkedArray, form: DateForm) -> Days:
    """A column of texts as days; dates such as 2024-12-31, which are most, take no time."""
    if form == ISO:
        for kind in (pa.date32(), pa.timestamp("us")):
            try:
                return _days_of_type(column.cast(kind))
            except pa.ArrowInvalid:
                continue  # a time of day, a zone, or no date
    return form.days(column)


def is_date_type(kind: pa.DataType) -> bool:
    """Whether a typed column has dates."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def days_of_type(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A typed column of dates or times, as days: float64, missing values as nulls."""
    days = _days_of_type(column)
    return pa.chunked_array([pa.array(days.values, mask=~days.fits)])


def _days_of_type(column: pa.ChunkedArray) -> Days:
    is_null = np.asarray(pc.is_null(column))
    kind = column.type
    if pa.types.is_date32(kind):
        numbers = column.cast(pa.int32())
        per_day = 1
    elif pa.types.is_date64(kind):
        numbers = column.cast(pa.int64())
        per_day = 1000 * SECONDS_PER_DAY
    else:
        numbers = column.cast(pa.int64())
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        per_day = per_second * SECONDS_PER_DAY
    whole = np.asarray(pc.fill_null(numbers, 0).to_numpy()).astype(np.int64)
    # Whole days and the rest apart: 64 bits of nanoseconds are more than a float64 holds.
    days, rest = np.divmod(whole, per_day)
    return Days(days + rest / per_day, ~is_null)
