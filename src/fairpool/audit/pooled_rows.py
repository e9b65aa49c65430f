"""All parties' rows as coordinates, and the grids that they are put into."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.cells import Cells, steps_of
from fairpool.audit.sketches import Sketch, scalings_of
from fairpool.tables.arrays import FloatArray

OFFSETS = 3
"""Every grid begins at so many places: rows on two sides of a border in one share a cell in
another."""


@dataclass(frozen=True, eq=False)
class Rows:
    """All parties' rows.

    Attributes:
        sketch: Their coordinates [k, m].
        owner: Whose they are [m].
        starts: The number of each party's first row [n].
        scalings: The coordinates' standard deviations [k], in one way or two.
    """

    sketch: Sketch
    owner: NDArray[np.intp]
    starts: NDArray[np.intp]
    scalings: tuple[FloatArray, ...]

    @classmethod
    def of(cls, sketches: Sequence[Sketch]) -> "Rows":
        """The parties' rows, one party after the other."""
        sizes = [sketch.shape[1] for sketch in sketches]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        starts = np.cumsum([0, *sizes[:-1]])
        return cls(np.concatenate(sketches, axis=1), owner, starts, scalings_of(sketches))

    @property
    def n(self) -> int:
        """The number of parties."""
        return len(self.starts)

    @cached_property
    def steps(self) -> FloatArray:
        """The typical step between neighbouring values of each coordinate [k]."""
        return steps_of(self.sketch)

    def grids(self, scaling: int) -> Iterator[Cells]:
        """The cells that rows lie in, once for each place where grids begin."""
        # Steps of the golden ratio, so that borders differ from coordinate to coordinate.
        k = len(self.sketch)
        for turn in range(OFFSETS):
            offset = np.modf(turn / OFFSETS + 0.6180339887 * np.arange(1, k + 1))[0]
            yield Cells.of(self.sketch, self.scalings[scaling], offset=offset, steps=self.steps)
