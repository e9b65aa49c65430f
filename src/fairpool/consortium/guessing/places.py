"""Where most values of a column lie: median and quartiles, which few values cannot move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """Where most values lie.

    Attributes:
        low: A quarter of all values are below.
        median: Half of them.
        high: Three quarters of them.
        count: How many values there are.
    """

    low: float
    median: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float] | FloatArray) -> "Quartiles | None":
        """Those of some values; None if there is none that is finite."""
        finite = np.asarray(values, dtype=float)
        finite = finite[np.isfinite(finite)]
        if not len(finite):
            return None
        low, median, high = np.quantile(finite, [0.25, 0.5, 0.75])
        return cls(low=float(low), median=float(median), high=float(high), count=len(finite))

    @classmethod
    def of_columns(cls, values: FloatArray) -> "list[Quartiles | None]":
        """Those of each column of some rows [m, k]; all at once, since there are many."""
        if not np.isfinite(values).all():
            return [cls.of(column) for column in values.T]
        if not len(values):
            return [None] * values.shape[1]
        lows, medians, highs = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        quartiles: list[Quartiles | None] = []
        for low, median, high in zip(lows, medians, highs, strict=True):
            quartiles.append(
                cls(low=float(low), median=float(median), high=float(high), count=len(values))
            )
        return quartiles

    @property
    def spread(self) -> float:
        """Between the quartiles."""
        return self.high - self.low

    def converted(self, factor: float, offset: float) -> "Quartiles":
        """In another unit: factor times the value, plus offset."""
        ends = sorted([factor * self.low + offset, factor * self.high + offset])
        median = factor * self.median + offset
        return Quartiles(low=ends[0], median=median, high=ends[1], count=self.count)
