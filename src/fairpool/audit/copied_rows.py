"""The rows behind a suspicion: which they are, and which of them belong together."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from fairpool.audit.alterations import CLOSE, MOST_PAIRS
from fairpool.audit.cells import STEP, WIDEST, Keys
from fairpool.audit.copy_search import Suspicion
from fairpool.audit.pooled_rows import Rows


@dataclass(frozen=True, kw_only=True, eq=False)
class CopiedRows:
    """Rows of two parties, or of one, that nearly agree.

    Attributes:
        first: Rows of the first party, by number from 0, each once.
        second: Rows of the second.
        pairs: A row of the first and one of the second that nearly agree [s, 2]; of one party, the
            earlier row is first.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    pairs: NDArray[np.intp]

    @property
    def some_pairs(self) -> NDArray[np.intp]:
        """Some of the pairs, spread over all of them: enough to see what was done to rows."""
        some = np.linspace(0, len(self.pairs) - 1, min(MOST_PAIRS, len(self.pairs)))
        return self.pairs[some.astype(np.intp)]

    @property
    def example(self) -> tuple[int, int]:
        """The first pair."""
        return int(self.pairs[0, 0]), int(self.pairs[0, 1])


def copied_rows(rows: Rows, suspicion: Suspicion) -> CopiedRows:
    """The rows behind a suspicion, in all places where grids may begin."""
    mine = np.flatnonzero(np.isin(rows.owner, [suspicion.first, suspicion.second]))
    is_within = suspicion.first == suspicion.second
    is_second = rows.owner[mine] == suspicion.second
    found = []
    for cells in rows.grids(suspicion.scaling):
        keys = cells.subset(mine).keys(suspicion.grid).without(suspicion.left_out)
        neighbours = _within_cells(keys) if is_within else _across_cells(keys, is_second)
        found += [pairs[_are_close(rows, mine[pairs], suspicion)] for pairs in neighbours]
    first, second = np.sort(np.concatenate(found), axis=1).T
    # Both numbers as one, which sorts more quickly than two.
    pairs = mine[np.column_stack(np.divmod(np.unique(first * len(mine) + second), len(mine)))]
    pairs = pairs - rows.starts[[suspicion.first, suspicion.second]]
    first = np.unique(pairs[:, 0])
    second = np.unique(pairs[:, 1])
    if is_within:
        first = second = np.unique(pairs)
    return CopiedRows(first=first, second=second, pairs=pairs)


def _within_cells(keys: Keys) -> Iterator[NDArray[np.intp]]:
    """Each row of a cell with the one before it [s, 2]."""
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    yield np.column_stack([order[same], order[same + 1]])


def _across_cells(keys: Keys, is_second: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """Each row of a cell with one of the other party in it [s, 2]: the k-th with the k-th."""
    order = np.lexsort((is_second, keys))
    sorted_keys = keys[order]
    is_start = np.append(True, sorted_keys[1:] != sorted_keys[:-1])[: len(order)]
    starts = np.flatnonzero(is_start)
    sizes = np.diff(np.append(starts, len(order)))
    cell = np.cumsum(is_start) - 1
    of_second = np.bincount(cell, weights=is_second[order]).astype(np.intp)
    of_first = sizes - of_second
    is_shared = (of_second > 0) & (of_first > 0)
    for own, counts in ((False, of_second), (True, of_first)):
        place = np.flatnonzero((is_second[order] == own) & is_shared[cell])
        there = cell[place]
        rank = place - starts[there] - own * of_first[there]
        other_start = starts[there] + (not own) * of_first[there]
        other = other_start + np.minimum(rank, counts[there] - 1)
        yield np.column_stack([order[place], order[other]])


def _are_close(rows: Rows, pairs: NDArray[np.intp], suspicion: Suspicion) -> NDArray[np.bool_]:
    """Whether two rows differ by little in every coordinate that is to agree."""
    most = min(CLOSE, WIDEST / (1 << STEP * suspicion.grid))
    are_close = np.ones(len(pairs), bool)
    for place, scale in enumerate(rows.scalings[suspicion.scaling]):
        # A column that is constant at each party has no scale, and was not compared.
        if place != suspicion.left_out and scale > 0:
            values = rows.sketch[place].astype(np.float64)
            are_close &= np.abs(values[pairs[:, 0]] - values[pairs[:, 1]]) <= most * scale
    return are_close


def cluster_sizes(pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many rows each group of near copies has, by the pairs that link them [s, 2]."""
    rows, place = np.unique(pairs, return_inverse=True)
    place = place.reshape(-1, 2)
    links = coo_array((np.ones(len(place)), (place[:, 0], place[:, 1])), (len(rows), len(rows)))
    _, group = connected_components(links, directed=False)
    return np.bincount(group)
