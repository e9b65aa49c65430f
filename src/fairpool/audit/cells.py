"""Rows put into the cells of grids: near copies share a cell, and a cell is found by sorting.

The grids are nested: a cell of one holds eight of the next along each coordinate. A cell's key is
the sum of one hash per coordinate, modulo 2**64, so that leaving a coordinate out is a subtraction.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.sketches import Sketch
from fairpool.tables.arrays import FloatArray

WIDEST = 0.1
"""The width of the widest grid's cells, in standard deviations: rows that differ by jitter of 0.01
in eight coordinates share a cell in half of the cases."""

GRIDS = 6
"""So many grids are tried, each eight times as fine; the finest cells are 3e-6 wide. In fine ones
rows hardly ever agree by chance, however many there are."""

STEP = 3
"""A cell number of the next wider grid has so many bits less."""

FARTHEST = 1 << 50
"""Values farther out than this many of the finest cells count as one."""

MOST_BITS = 55
"""So many at most may a cell number lose, of 63."""

Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class CellKeys:
    """The cells of one grid that rows lie in.

    Attributes:
        parts: Per coordinate, the hash of the rows' cell numbers along it [k, m].
        total: Their sum, modulo 2**64 [m].
    """

    parts: Keys
    total: Keys

    @classmethod
    def of(cls, parts: Keys) -> "CellKeys":
        """The cells with these hashes [k, m]."""
        return cls(parts, parts.sum(axis=0, dtype=np.uint64))

    def without(self, left_out: int | None) -> Keys:
        """The keys of cells by all coordinates but one [m]; None: by all."""
        if left_out is None:
            return self.total
        return np.asarray(self.total - self.parts[left_out])


@dataclass(frozen=True, eq=False)
class Cells:
    """Where rows lie in nested grids.

    Attributes:
        sketch: The rows [k, m].
        widths: The width of the finest cells, per coordinate [k]; 0: a constant, always agreed on.
        offset: Where the grids begin, in shares of the widest cell [k].
        spacing: How many of the finest cells lie between a coordinate's neighbouring values, as the
            power of 2 next above; large where there are few values, as of whole numbers [k].
    """

    sketch: Sketch
    widths: FloatArray
    offset: FloatArray
    spacing: NDArray[np.intp]

    @classmethod
    def of(
        cls, sketch: Sketch, scales: FloatArray, *, offset: FloatArray, steps: FloatArray
    ) -> "Cells":
        """Cells of coordinates with these standard deviations, and steps between values [k]."""
        widths = scales * WIDEST / (1 << STEP * (GRIDS - 1))
        spacing = np.zeros(len(widths), np.intp)
        for place in np.flatnonzero((widths > 0) & (steps > widths)):
            bits = int(np.ceil(np.log2(steps[place] / widths[place])))
            spacing[place] = min(bits, MOST_BITS)
        return cls(sketch, widths, offset, spacing)

    @property
    def varying(self) -> list[int]:
        """The coordinates that are not constant."""
        return [int(place) for place in np.flatnonzero(self.widths)]

    def subset(self, rows: NDArray[np.intp]) -> "Cells":
        """The same cells of some of the rows."""
        return Cells(self.sketch[:, rows], self.widths, self.offset, self.spacing)

    def keys(self, grid: int) -> CellKeys:
        """The cells of a grid, 0 being the widest."""
        bits = STEP * (GRIDS - 1 - grid)
        return self._keys(np.full(len(self.widths), bits))

    def wider_keys(self, grid: int, bits: int) -> CellKeys:
        """The same of cells that are wider by so many bits, or hold as many neighbouring values.

        Values that are whole numbers agree in every grid that is finer than 1; cells have to be so
        wide that neighbouring values share one.
        """
        wider = STEP * (GRIDS - 1 - grid) + bits
        return self._keys(np.maximum(wider, self.spacing + bits))

    def _keys(self, bits: NDArray[np.intp]) -> CellKeys:
        keys = np.zeros(self.sketch.shape, np.uint64)
        for place, width in enumerate(self.widths):
            if width > 0:
                numbers = self._numbers(place, float(width)) >> bits[place]
                keys[place] = _hash(numbers, place)
        return CellKeys.of(keys)

    def _numbers(self, place: int, width: float) -> NDArray[np.int64]:
        """The finest cells' numbers along a coordinate."""
        start = self.offset[place] * (1 << STEP * (GRIDS - 1))
        numbers = np.floor(self.sketch[place] / width + start)
        return np.asarray(np.clip(numbers, -FARTHEST, FARTHEST), np.int64)


def steps_of(sketch: Sketch) -> FloatArray:
    """The typical step between neighbouring values of each coordinate [k]."""
    steps = np.zeros(len(sketch))
    for place, values in enumerate(sketch):
        distinct = np.unique(values).astype(np.float64)
        if len(distinct) > 1:
            steps[place] = np.median(np.diff(distinct))
    return steps


def _hash(numbers: NDArray[np.int64], salt: int) -> Keys:
    """Keys that are as good as random; the finaliser of splitmix64."""
    keys = numbers.view(np.uint64) + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % (1 << 64))
    keys ^= keys >> np.uint64(30)
    keys *= np.uint64(0xBF58476D1CE4E5B9)
    keys ^= keys >> np.uint64(27)
    keys *= np.uint64(0x94D049BB133111EB)
    keys ^= keys >> np.uint64(31)
    return keys
