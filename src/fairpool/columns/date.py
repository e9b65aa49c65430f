"""A column of dates: years, and the day of the year as a point on a circle.

A reading gives dates as days since 1970-01-01. Time is one feature that goes on and on; the season
is two, sine and cosine, so that New Year's Eve is next to New Year's Day.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fairpool.columns.filling import (
    indicator,
    median_of,
    refuse_lone_indicator,
    refuse_unknown,
    scaled_by,
    stored_flag,
    with_gaps,
)
from fairpool.columns.kind import ColumnKind, Declared, SeenColumn
from fairpool.columns.rules import (
    NO_RULES,
    Bounds,
    Rules,
    as_numbers,
    checked_fill,
    unusable_numbers,
)
from fairpool.stored import number, text
from fairpool.tables.arrays import FloatArray
from fairpool.tables.columns import standardise_numbers

CALENDAR = Bounds(-719162.0, 2932896.0)
"""Days of the years 1 to 9999."""

DAYS_PER_YEAR = 365.2425
LONGEST_SCALE = 1e7
"""In days; more than the whole calendar."""

KEYS = {"name", "kind", "mean", "scale", "fill", "indicator", "tokens", "range", "outside"}
"""What a reward file may say of it."""


@dataclass(frozen=True)
class DateColumn:
    """A column of dates, in days since 1970-01-01.

    Time is counted in years from the mean and divided by the scale; that both are stored in days
    changes nothing.

    Attributes:
        name: The column.
        mean: In days.
        scale: In days.
        rules: What is done to values first.
        fill: What a missing date is taken to be, where it is imputed.
        indicates: Whether one more feature is 1 where the date is missing.
    """

    name: str
    mean: float
    scale: float
    _: KW_ONLY
    rules: Rules = NO_RULES
    fill: float | None = None
    indicates: bool = False

    kind = "date"

    @property
    def features(self) -> tuple[str, ...]:
        """Time, the season as two coordinates, and whether a date is missing."""
        names = (f"{self.name} (years)", f"{self.name} (season, sin)", f"{self.name} (season, cos)")
        if self.indicates:
            return (*names, indicator(self.name))
        return names

    @property
    def filling(self) -> str:
        """What a missing date is taken to be."""
        return "" if self.fill is None else as_date(self.fill)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [3 or 4, m]."""
        days = as_numbers(column)
        if self.indicates:
            out[3] = np.isnan(days)
        if self.fill is not None:
            days = np.where(np.isnan(days), self.fill, days)
        days = self.rules.transformed(days)
        standardise_numbers(days, self.mean, self.scale, out=out[0])
        angle = 2 * np.pi * share_of_year(days)
        np.sin(angle, out=out[1])
        np.cos(angle, out=out[2])

    def unusable(self, column: pa.ChunkedArray) -> dict[int, str]:
        """Rows whose date is missing, or out of range."""
        days = as_numbers(column)
        return unusable_numbers(self.name, days, self.rules, known=CALENDAR, show=as_date)

    def made_up(self, share: FloatArray) -> pa.Array | None:
        """Dates over the declared range, evenly."""
        if self.rules.bounds is None:
            return None
        values = self.rules.bounds.at(share)
        return with_gaps(values, share) if self.indicates else pa.array(values)

    def entries(self) -> dict[str, Any]:
        """Its kind, name, mean and scale, and what is not as by default."""
        entries: dict[str, Any] = {"name": self.name, "kind": self.kind}
        entries |= {"mean": self.mean, "scale": self.scale}
        if self.fill is not None:
            entries["fill"] = self.fill
        if self.indicates:
            entries["indicator"] = True
        return entries | self.rules.entries()

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> "DateColumn":
        """The column with these entries, all of them checked."""
        refuse_unknown(entries, KEYS)
        refuse_lone_indicator(entries)
        rules = Rules.of_entries(entries)
        fill = None
        if "fill" in entries:
            fill = checked_fill(_day(entries, "fill"), rules)
        return cls(
            name=text(entries["name"]),
            mean=_day(entries, "mean"),
            scale=number(entries["scale"], "scale", least=1e-6, most=LONGEST_SCALE),
            rules=rules,
            fill=fill,
            indicates=stored_flag(entries, "indicator"),
        )

    @classmethod
    def fixed(cls, declared: Declared, seen: SeenColumn) -> "DateColumn":
        """The column with the scaling of its range, or that of public data, or of everybody's."""
        scaled = scaled_by(declared, seen)
        return cls(
            name=declared.name,
            mean=scaled.mean,
            scale=scaled.scale or DAYS_PER_YEAR,
            rules=declared.rules,
            fill=median_of(declared, seen, scaled),
            indicates=declared.rules.imputes and seen.lacks_values,
        )


def as_date(days: float) -> str:
    """A day as people write it; what lies beyond the calendar as a number of days."""
    if not CALENDAR.lowest <= days <= CALENDAR.highest:
        return f"{days:.15g} days after 1970"
    return str(np.datetime64(int(np.floor(days)), "D"))


def _day(entries: dict[str, Any], key: str) -> float:
    # Rounding may have moved one beyond the calendar.
    return number(entries[key], key, least=-LONGEST_SCALE, most=LONGEST_SCALE)


def share_of_year(days: FloatArray) -> FloatArray:
    """How much of its year has passed on each day, from 0 to 1 [m]; NaN where there is none."""
    is_day = ~np.isnan(days)
    inside = np.clip(np.where(is_day, days, 0.0), CALENDAR.lowest, CALENDAR.highest)
    years = np.floor(inside).astype("datetime64[D]").astype("datetime64[Y]")
    start = years.astype("datetime64[D]").astype(np.float64)
    end = (years + np.timedelta64(1, "Y")).astype("datetime64[D]").astype(np.float64)
    return np.where(is_day, (inside - start) / (end - start), np.nan)


DATE = ColumnKind(
    name=DateColumn.kind,
    read_as="date",
    fix=DateColumn.fixed,
    decode=DateColumn.of_entries,
    keys=("range", "outside"),
)
