"""What was seen of a source, as records that can be put together from its pieces, in order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.consortium.contents import Content
from fairpool.consortium.faults import Faults
from fairpool.consortium.tables import Place, Source
from fairpool.exchange.arrival import Arrived
from fairpool.tables.arrays import LARGEST, FloatArray
from fairpool.tables.moments import Moments

MOST_LEVELS = 100
"""A categorical column with more levels than this is more likely an identifier."""


SAMPLED_ROWS = 2000
SAMPLED_VALUES = 1 << 18
"""Of a source, so many rows are kept to see where most values are; fewer of very wide tables."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """A fair sample of rows of numbers, the same in whatever order pieces are put together.

    Rows with the smallest keys are kept, and a row's key is its scrambled number. Means and
    deviations are exact, but one value can move them anywhere; medians need rows.

    Attributes:
        keys: Of the rows [s].
        values: Of the columns that are read as numbers [s, k], in their own units.
    """

    keys: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    values: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def of(cls, columns: FloatArray, row_numbers: NDArray[np.int64]) -> "RowSample":
        """Of columns [k, m] with these rows' numbers [m]."""
        keys = scrambled(row_numbers)
        chosen = _smallest(keys, len(columns))
        return cls(keys[chosen], columns[:, chosen].T)

    @classmethod
    def of_all(
        cls, columns: Mapping[str, FloatArray], names: Sequence[str], row_numbers: NDArray[np.int64]
    ) -> "RowSample":
        """Of some columns, whatever they lack; those of `names` that are not there have no number.

        Args:
            columns: The values of each column [m].
            names: The columns of the sample, in order.
            row_numbers: Of the rows [m].
        """
        keys = scrambled(row_numbers)
        chosen = _smallest(keys, len(names))
        values = np.full((len(chosen), len(names)), np.nan)
        for k, name in enumerate(names):
            if name in columns:
                values[:, k] = columns[name][chosen]
        values[np.abs(values) > LARGEST] = np.nan
        return cls(keys[chosen], values)

    def merged(self, other: "RowSample") -> "RowSample":
        """That of both ones' rows."""
        if not len(other.keys):
            return self
        if not len(self.keys):
            return other
        keys = np.concatenate([self.keys, other.keys])
        values = np.concatenate([self.values, other.values])
        chosen = _smallest(keys, values.shape[1])
        return RowSample(keys[chosen], values[chosen])


def _smallest(keys: NDArray[np.uint64], columns: int) -> NDArray[np.intp]:
    """The rows of the smallest keys, in their order, as many as are kept."""
    most = max(1, min(SAMPLED_ROWS, SAMPLED_VALUES // max(columns, 1)))
    if len(keys) <= most:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, most)[:most])


def scrambled(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Keys that are as good as random; the finaliser of splitmix64."""
    keys = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    keys ^= keys >> np.uint64(30)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    keys ^= keys >> np.uint64(31)
    return keys


@dataclass(frozen=True, kw_only=True, eq=False)
class Present:
    """What all rows have, the incomplete ones among them: for people to look at.

    Attributes:
        sample: Some rows of the columns that are read as numbers; NaN where one is missing, or
            beyond what a number may be.
        levels: Per column that is read as text, how often each level occurs.
    """

    sample: RowSample = field(default_factory=RowSample)
    levels: dict[str, Counter[str]] = field(default_factory=dict)

    def merged(self, other: "Present") -> "Present":
        """That of both ones' rows."""
        return Present(
            sample=self.sample.merged(other.sample),
            levels=_merged_levels(self.levels, other.levels),
        )


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
        imputed: Per column, how many missing values of complete rows are imputed.
        clipped: Per column, how many values lie outside of its range, and are clipped.
        faults: What is wrong; missing values, too, whether they are allowed or not.
        moments: Of the columns that are read as numbers, over what is present in complete rows; of
            a column of which logarithms are taken, theirs.
        sample: Some complete rows of the same numbers; NaN where one is missing.
        present: What all rows have, of the same numbers and of texts.
        levels: Per column that is read as text, how often each level occurs in complete rows; not
            many more than `MOST_LEVELS`.
        unknown: Per categorical column whose levels are given, those that are not among them.
        extremes: Per number column, the smallest and the largest of the same numbers.
        counting: Per column that is named like a row number, from which of 0 and 1 it counts the
            rows of every file.
        arrived: What came as sums instead of rows, of which nothing else here can be known.
    """

    source: Source
    contents: dict[Path, Content] = field(default_factory=dict)
    rows: int = 0
    dropped: int = 0
    imputed: Counter[str] = field(default_factory=Counter)
    clipped: Counter[str] = field(default_factory=Counter)
    faults: Faults = field(default_factory=Faults)
    moments: Moments = field(default_factory=Moments)
    sample: RowSample = field(default_factory=RowSample)
    present: Present = field(default_factory=Present)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: dict[str, UnknownLevels] = field(default_factory=dict)
    extremes: dict[str, Range] = field(default_factory=dict)
    counting: dict[str, set[int]] = field(default_factory=dict)
    arrived: tuple[Arrived, ...] = ()

    @property
    def is_hidden(self) -> bool:
        """Whether all of it came as sums with noise, so that nothing made of it shows a row."""
        return bool(self.arrived) and all(one.manifest.is_hidden for one in self.arrived)

    @property
    def has_noise(self) -> bool:
        """Whether some of it came as sums with noise, which the number of rows has as well."""
        return any(one.manifest.privacy is not None for one in self.arrived)

    @property
    def missing(self) -> Counter[str]:
        """Missing values per column."""
        return missing_in(self.faults)

    def merged(self, other: "Survey") -> "Survey":
        """This one with what was found further on."""
        faults = Faults()
        faults.merge(self.faults)
        faults.merge(other.faults)
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
            imputed=self.imputed + other.imputed,
            clipped=self.clipped + other.clipped,
            faults=faults,
            moments=self.moments.merged(other.moments),
            sample=self.sample.merged(other.sample),
            present=self.present.merged(other.present),
            levels=_merged_levels(self.levels, other.levels),
            unknown=unknown,
            extremes=extremes,
            counting=counting,
        )


def _merged_levels(
    first: dict[str, Counter[str]], more: dict[str, Counter[str]]
) -> dict[str, Counter[str]]:
    levels = dict(first)
    for name, counts in more.items():
        levels[name] = _first_levels(levels.get(name, Counter()) + counts)
    return levels


def _first_levels(levels: Counter[str]) -> Counter[str]:
    """One level more than is allowed, so that it shows; an identifier would have millions."""
    return Counter(dict(islice(levels.items(), MOST_LEVELS + 1)))


def missing_in(faults: Faults) -> Counter[str]:
    """Missing values per column."""
    counts = Counter[str]()
    for fault in faults.of_kind("missing"):
        counts[fault.column] += fault.count
    return counts
