"""Means and deviations of columns, put together from pieces, and the scaling made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Moments:
    """Counts, means and sums of squared deviations of columns, put together without cancellation.

    Missing values count for nothing, so that columns may have different counts.

    Attributes:
        count: How many values each column has [k].
        mean: Their means [k]; 0 where there are none.
        squares: Their sums of squared deviations [k].
    """

    count: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    mean: FloatArray = field(default_factory=lambda: np.zeros(0))
    squares: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, values: FloatArray) -> "Moments":
        """Those of rows [m, k]; NaN stands for a missing value."""
        if not len(values):
            return cls()
        mean = values.mean(axis=0)
        if np.isnan(mean).any():
            return cls._of_present(values)
        gaps = values - mean
        squares = np.square(gaps, out=gaps).sum(axis=0)
        return cls(np.full(values.shape[1], len(values)), mean, squares)

    @classmethod
    def _of_present(cls, values: FloatArray) -> "Moments":
        """Those of rows of which some values are missing."""
        count = np.zeros(values.shape[1], np.int64)
        mean = np.zeros(values.shape[1])
        squares = np.zeros(values.shape[1])
        for k, column in enumerate(values.T):
            present = column[~np.isnan(column)]
            count[k] = len(present)
            if len(present):
                mean[k] = present.mean()
                squares[k] = np.square(present - mean[k]).sum()
        return cls(count, mean, squares)

    def merged(self, other: "Moments") -> "Moments":
        """Those of both ones' rows."""
        if not len(other.count):
            return self
        if not len(self.count):
            return other
        total = self.count + other.count
        at_least_one = np.maximum(total, 1)
        gap = other.mean - self.mean
        squares = self.squares + other.squares + gap**2 * (self.count * other.count / at_least_one)
        return Moments(total, self.mean + gap * (other.count / at_least_one), squares)

    def of_column(self, k: int) -> "Moments":
        """Those of one column."""
        if not len(self.count):
            return self
        return Moments(self.count[[k]], self.mean[[k]], self.squares[[k]])

    @property
    def total(self) -> int:
        """How many values there are in all columns."""
        return int(self.count.sum())

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations [k]."""
        return np.asarray(np.sqrt(self.squares / np.maximum(self.count, 1)))


class Scaling(NamedTuple):
    """The means and scales of columns."""

    means: list[float]
    scales: list[float]


def scaling_of(parties: Sequence[Moments], public: Moments | None) -> Scaling:
    """The scaling of columns: public data's, or else that of all parties, rounded."""
    if public is not None:
        return Scaling(public.mean.tolist(), public.deviation.tolist())
    pooled = Moments()
    for moments in parties:
        pooled = pooled.merged(moments)
    # They go into every reward file, and from exact sums over all rows a party could subtract its
    # own.
    return _rounded(pooled)


def _rounded(moments: Moments) -> Scaling:
    """Scales to two digits, means to a tenth of them: as good, and no exact sums over rows."""
    means = []
    scales = []
    for mean, scale in zip(moments.mean.tolist(), moments.deviation.tolist(), strict=True):
        rounded_scale = float(f"{scale:.1e}")
        means.append(rounded_to(mean, rounded_scale))
        scales.append(rounded_scale)
    return Scaling(means, scales)


def rounded_to(value: float, scale: float) -> float:
    """A mean or a median, rounded to a tenth of a scale; as it is where the scale is 0."""
    if not scale:
        return value
    return round(value / (0.1 * scale)) * 0.1 * scale
