"""What was seen of a source, as records that can be put together from its pieces, in order."""

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairpool.consortium.contents import Content
from fairpool.consortium.faults import Faults
from fairpool.consortium.tables import Place, Source
from fairpool.tables.arrays import FloatArray

MOST_LEVELS = 100
"""A categorical column with more levels than this is more likely an identifier."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and sum of squared deviations of columns, put together without cancellation."""

    count: int = 0
    mean: FloatArray = field(default_factory=lambda: np.zeros(0))
    squares: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, values: FloatArray) -> "Moments":
        """Those of rows [m, k]."""
        if not len(values):
            return cls()
        mean = values.mean(axis=0)
        gaps = values - mean
        return cls(len(values), mean, np.square(gaps, out=gaps).sum(axis=0))

    def merged(self, other: "Moments") -> "Moments":
        """Those of both ones' rows."""
        if not other.count:
            return self
        if not self.count:
            return other
        total = self.count + other.count
        gap = other.mean - self.mean
        squares = self.squares + other.squares + gap**2 * (self.count * other.count / total)
        return Moments(total, self.mean + gap * (other.count / total), squares)

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations [k]."""
        return np.sqrt(self.squares / max(self.count, 1))


@dataclass(frozen=True)
class Extreme:
    """A value and where it is."""

    value: float
    file: Path
    row: int


class Range(NamedTuple):
    """The smallest and the largest value of a column."""

    lowest: Extreme
    highest: Extreme

    def merged(self, other: "Range") -> "Range":
        """The range of both; of equal values, the first is kept."""
        lowest = min(self.lowest, other.lowest, key=lambda extreme: extreme.value)
        highest = max(self.highest, other.highest, key=lambda extreme: extreme.value)
        return Range(lowest, highest)


@dataclass(frozen=True)
class UnknownLevels:
    """Levels of a column that are not among those that the column may have.

    Attributes:
        first: Where the first of them is.
        rows: How many rows have one.
        counts: How many rows each has; of an endless number of levels, those that came first.
    """

    first: Place
    rows: int
    counts: Counter[str]

    def merged(self, other: "UnknownLevels") -> "UnknownLevels":
        """Those of both; the other one's come later."""
        counts = _first_levels(self.counts + other.counts)
        return UnknownLevels(self.first, self.rows + other.rows, counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """What one source holds.

    Attributes:
        source: The files.
        contents: What each file holds, as every later reading must find it; files that could not be
            read are lacking.
        rows: Complete rows, those that will be used.
        dropped: Rows left out because something is missing.
        faults: What is wrong; missing values, too, whether they are allowed or not.
        moments: Of the number columns and then the target, over complete rows.
        levels: Per categorical column, how often each level occurs in complete rows; not many more
            than `MOST_LEVELS`.
        unknown: Per categorical column whose levels are given, those that are not among them.
        extremes: Per number column, the smallest and the largest value.
        counting: Per column that is named like a row number, from which of 0 and 1 it counts the
            rows of every file.
    """

    source: Source
    contents: dict[Path, Content] = field(default_factory=dict)
    rows: int = 0
    dropped: int = 0
    faults: Faults = field(default_factory=Faults)
    moments: Moments = field(default_factory=Moments)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: dict[str, UnknownLevels] = field(default_factory=dict)
    extremes: dict[str, Range] = field(default_factory=dict)
    counting: dict[str, set[int]] = field(default_factory=dict)

    @property
    def missing(self) -> Counter[str]:
        """Missing values per column."""
        return missing_in(self.faults)

    def merged(self, other: "Survey") -> "Survey":
        """This one with what was found further on."""
        faults = Faults()
        faults.merge(self.faults)
        faults.merge(other.faults)
        levels = dict(self.levels)
        for name, counts in other.levels.items():
            levels[name] = _first_levels(levels.get(name, Counter()) + counts)
        unknown = dict(self.unknown)
        for name, more in other.unknown.items():
            nothing = UnknownLevels(more.first, 0, Counter())
            unknown[name] = unknown.get(name, nothing).merged(more)
        extremes = dict(self.extremes)
        for name, ends in other.extremes.items():
            extremes[name] = extremes.get(name, ends).merged(ends)
        counting = dict(self.counting)
        for name, starts in other.counting.items():
            counting[name] = counting.get(name, starts) & starts
        return replace(
            self,
            rows=self.rows + other.rows,
            dropped=self.dropped + other.dropped,
            faults=faults,
            moments=self.moments.merged(other.moments),
            levels=levels,
            unknown=unknown,
            extremes=extremes,
            counting=counting,
        )


def _first_levels(levels: Counter[str]) -> Counter[str]:
    """One level more than is allowed, so that it shows; an identifier would have millions."""
    return Counter(dict(islice(levels.items(), MOST_LEVELS + 1)))


def missing_in(faults: Faults) -> Counter[str]:
    """Missing values per column."""
    counts = Counter[str]()
    for fault in faults.of_kind("missing"):
        counts[fault.column] += fault.count
    return counts
