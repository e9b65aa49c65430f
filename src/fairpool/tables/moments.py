"""Means and deviations of columns, put together from pieces, and the scaling made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fairpool.tables.arrays import FloatArray


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

    def of_column(self, k: int) -> "Moments":
        """Those of one column."""
        if not self.count:
            return self
        return Moments(self.count, self.mean[[k]], self.squares[[k]])

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations [k]."""
        return np.sqrt(self.squares / max(self.count, 1))


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
        if rounded_scale:
            mean = round(mean / (0.1 * rounded_scale)) * 0.1 * rounded_scale
        means.append(mean)
        scales.append(rounded_scale)
    return Scaling(means, scales)
