"""Fig. 4: how a training set is divided among parties whose data partly overlap."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.errors import DataError
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Partition:
    """Which rows each party has.

    Attributes:
        parties: Row indices, one array per party.
        feature: a, the input feature that the rows were partially sorted by.
        point: d, the row that is at its sorted position.
    """

    parties: tuple[NDArray[np.intp], ...]
    feature: int
    point: int


def partition(X: FloatArray, n: int, *, least: float, rng: np.random.Generator) -> Partition:
    """Divide rows among n parties by the paper's algorithm.

    Paper: Fig. 4, Sec. 5, Partitioning Algorithm: choose an input feature a and a data point d at
    random; sort partially, so that d is at its sorted position by a; divide into consecutive blocks
    of random sizes, each at least a share of all.

    Args:
        X: Inputs [m, p].
        n: How many parties.
        least: The least share of each, 0.1 in the paper (0.05 for ten parties).
        rng: Generator.
    """
    m = len(X)
    smallest = int(np.ceil(least * m))
    if n < 1 or n * smallest > m:
        raise DataError(
            f"{m} rows cannot be divided among {n} parties with at least {least:.0%} each"
        )
    feature = int(rng.integers(X.shape[1]))
    point = int(rng.integers(m))
    order = partially_sorted(X[:, feature], point, rng)
    ends = np.cumsum(block_sizes(m, n, smallest=smallest, rng=rng))
    return Partition(parties=tuple(np.split(order, ends[:-1])), feature=feature, point=point)


def partially_sorted(values: FloatArray, point: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """An order of the rows with `point` at its sorted position.

    Smaller values are before it and larger ones after it, both at random.

    Paper: Fig. 4: "Only data point d will be at its sorted position based on input feature a."
    """
    order = rng.permutation(len(values))
    order = order[order != point]
    # Ties with d fall on either side at random, so that a feature of few values divides as fairly
    # as another.
    tied = values[order] == values[point]
    before = (values[order] < values[point]) | (tied & (rng.uniform(size=len(order)) < 0.5))
    return np.concatenate([order[before], [point], order[~before]]).astype(np.intp)


def block_sizes(m: int, n: int, *, smallest: int, rng: np.random.Generator) -> NDArray[Any]:
    """n random sizes of at least `smallest` that sum to m, every such division equally likely."""
    spare = m - n * smallest
    # The spare rows and n - 1 bars stand in a line: each choice of the bars' places is a division.
    line = spare + n - 1
    bars = np.sort(rng.choice(line, n - 1, replace=False))
    between_bars = np.diff(np.concatenate([[-1], bars, [line]])) - 1
    return between_bars + smallest
