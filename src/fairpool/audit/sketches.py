"""A row as a few numbers: near copies have nearly the same ones.

Near copies are looked for among millions of rows, which do not fit into memory with all columns.
So every column is kept as it is while there are at most seven, and of more columns several are
added up with random weights. What agrees in all columns agrees in all of these coordinates, and a
column that was altered changes one of them. The label is a coordinate of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.tables.arrays import FloatArray

MOST_INPUTS = 7
"""So many coordinates are made of the inputs. With more of them, jitter would carry more rows over
the border of a cell; with fewer, more rows would agree by chance."""

SEED = 13
"""Of the weights: the same in every run. Who knows them gains nothing, since altering two columns
hides a copy as well."""

INNER_HALF = 1.349
"""The interquartile range of a normal variable of standard deviation 1."""

FAR_OUT = 2.0
"""Where a standard deviation is so many times as large as the middle half's, both are tried."""

Numbers = NDArray[np.floating]
ScaleOf = Callable[[Numbers], float]

Sketch = NDArray[np.float32]
"""Rows as coordinates [k, m], the label's last; seven digits tell rows apart."""


@dataclass(frozen=True, eq=False)
class Folding:
    """How inputs become coordinates.

    Attributes:
        weights: Coordinates are X @ weights [p, k - 1].
        members: Per coordinate, the columns in it; the last is the label.
    """

    weights: FloatArray
    members: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, features: Sequence[str], label: str = "y", *, most: int = MOST_INPUTS) -> "Folding":
        """The folding of inputs that belong to these columns.

        Args:
            features: For each input [p], the column that it is from: a category has several.
            label: What the label is called.
            most: How many coordinates are made of the inputs, at most.
        """
        columns = list(dict.fromkeys(features))
        count = min(most, len(columns))
        rng = np.random.default_rng(SEED)
        weights = np.zeros((len(features), count))
        is_alone = len(features) <= most and len(columns) == len(features)
        for place, name in enumerate(features):
            weight = 1.0
            if not is_alone:
                # Neither small, which would hide a column, nor equal, so that sums differ.
                weight = rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.5)
            weights[place, columns.index(name) % count] = weight
        members: list[tuple[str, ...]] = [tuple(columns[k::count]) for k in range(count)]
        return cls(weights, (*members, (label,)))

    def sketch(self, X: FloatArray, y: FloatArray) -> Sketch:
        """Rows as coordinates [k, m]."""
        sketch = np.empty((len(self.members), len(y)), np.float32)
        if len(self.members) > 1:
            sketch[:-1] = (X @ self.weights).T
        sketch[-1] = y
        return sketch


def scalings_of(sketches: Sequence[Sketch]) -> tuple[FloatArray, ...]:
    """What counts as a standard deviation of each coordinate [k], in one way or two; 0: constant.

    From the middle half of the values, so that no few values widen it; and, where values far out
    make the difference, from all of them, since jitter may be measured by that.
    """
    middle = scales_of(sketches, _middle_scale)
    whole = scales_of(sketches, _whole_scale)
    if (whole <= FAR_OUT * middle).all():
        return (middle,)
    return middle, whole


def scales_of(sketches: Sequence[Numbers], scale_of: ScaleOf | None = None) -> FloatArray:
    """The scale of each coordinate [k], as a typical party has it: no single party can widen it.

    Args:
        sketches: Of each party, its rows' coordinates [k, m_i].
        scale_of: The scale of some values; by default, from their middle half.
    """
    scale_of = scale_of or _middle_scale
    scales = np.zeros(len(sketches[0]))
    for place in range(len(scales)):
        own = [scale_of(sketch[place]) for sketch in sketches if sketch.shape[1] > 1]
        varying = [scale for scale in own if scale > 0]
        if varying:
            scales[place] = np.median(varying)
    return scales


def _middle_scale(values: Numbers) -> float:
    low, high = np.quantile(values, [0.25, 0.75])
    if high > low:
        return float(high - low) / INNER_HALF
    return _whole_scale(values)


def _whole_scale(values: Numbers) -> float:
    return float(np.std(values, dtype=np.float64))
