"""Rows of a source as few numbers, kept while it is read, so that near copies can be found."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.sketches import Folding, Sketch
from fairpool.consortium.surveys import scrambled
from fairpool.encoding import TableEncoding
from fairpool.tables.arrays import FloatArray

MOST_SKETCHED = 2_000_000
"""How many rows, of all parties together, are compared to find near copies; of more, a random share
stands for all. Each takes 40 bytes until then, and 200 more at most while they are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sketching:
    """How rows become few numbers.

    Attributes:
        folding: How inputs become coordinates. They are taken as the model sees them, so that no
            unit matters, and a category is one column.
        share: The share of rows that are kept.
    """

    folding: Folding
    share: float

    @classmethod
    def of(cls, encoding: TableEncoding, rows: int) -> "Sketching":
        """That of an encoding's inputs, for so many rows of all parties together."""
        columns = []
        for column in encoding.columns:
            columns += [column.name] * len(column.features)
        folding = Folding.of(columns, label=encoding.target.name)
        return cls(folding=folding, share=share_within(MOST_SKETCHED, rows))


def share_within(most: int, rows: int) -> float:
    """The share of so many rows that is at most so many.

    All of them, a half, a quarter, ..: it stays the same from round to round as rows come and go.
    """
    share = 1.0
    while share * rows > most:
        share /= 2
    return share


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceSketch:
    """Rows of a source, as few numbers.

    Attributes:
        coordinates: Of the rows [k, s].
        numbers: Which rows they are, counted from 0 among the complete ones [s].
    """

    coordinates: Sketch
    numbers: NDArray[np.int64]


@dataclass(eq=False)
class SketchCollector:
    """Sketches of one batch after the other; not frozen, since it collects them."""

    sketching: Sketching | None
    _parts: list[SourceSketch] = field(default_factory=list)
    _rows: int = 0

    def take(self, X: FloatArray, y: FloatArray) -> None:
        """Keep the sketch of a batch, X [m, p] and y [m], or of a share of it."""
        numbers = np.arange(self._rows, self._rows + len(y))
        self._rows += len(y)
        if self.sketching is None:
            return
        if self.sketching.share < 1:
            # Near copies have other keys, so that rows are chosen by chance, not by what they are.
            chosen = scrambled(numbers) < self.sketching.share * 2.0**64
            X, y, numbers = X[chosen], y[chosen], numbers[chosen]
        coordinates = self.sketching.folding.sketch(X, y)
        self._parts.append(SourceSketch(coordinates=coordinates, numbers=numbers))

    def collected(self) -> SourceSketch | None:
        """All of them, if any are wanted."""
        if self.sketching is None:
            return None
        k = len(self.sketching.folding.members)
        nothing = SourceSketch(coordinates=np.empty((k, 0), np.float32), numbers=np.arange(0))
        parts = [nothing, *self._parts]
        return SourceSketch(
            coordinates=np.concatenate([part.coordinates for part in parts], axis=1),
            numbers=np.concatenate([part.numbers for part in parts]),
        )
