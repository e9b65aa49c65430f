"""Which parties have rows in which cells, and how many cells they have in common."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from fairpool.audit.cells import Keys
from fairpool.tables.arrays import FloatArray

CROWDED = 8
"""Where more than one row of so many repeats a cell, looking for the others takes longer than it
saves."""


@dataclass(frozen=True, eq=False)
class Occupied:
    """Which party has rows in which cells.

    Attributes:
        cell: The number of the cell, one entry per party with rows in it [e].
        owner: The party [e].
        count: How many rows it has there [e].
        first: One of these rows [e].
        n: The number of parties.
    """

    cell: NDArray[np.intp]
    owner: NDArray[np.intp]
    count: NDArray[np.intp]
    first: NDArray[np.intp]
    n: int

    @classmethod
    def of(cls, keys: Keys, owner: NDArray[np.intp], n: int) -> "Occupied":
        """The cells that rows of these keys lie in [m]."""
        marked = _marked(keys, owner, n)
        order = np.argsort(marked)  # in any order within a cell
        marked = marked[order]
        starts = np.flatnonzero(_is_new(marked))
        count = np.diff(np.append(starts, len(marked)))
        key = marked[starts] >> np.uint64(_bits(n))
        first = order[starts]
        return cls(np.cumsum(_is_new(key)) - 1, owner[first], count, first, n)

    @property
    def cells(self) -> int:
        """How many cells are occupied."""
        return int(self.cell[-1]) + 1 if len(self.cell) else 0

    @cached_property
    def agreeing(self) -> FloatArray:
        """Cells with rows of both of two parties; of one party, cells with several rows [n, n]."""
        shared = self._shared(np.ones(len(self.cell)))
        several = np.bincount(self.owner[self.count > 1], minlength=self.n)
        np.fill_diagonal(shared, several)
        return shared

    def nearly_agreeing(self, wider: Keys) -> FloatArray:
        """Pairs of these cells, of two parties or of one, that lie in a common wider one [n, n].

        Args:
            wider: Of every row, the wider cell that it lies in [m].
        """
        keys = wider[self.first]
        order = np.argsort(keys)
        cell = np.cumsum(_is_new(keys[order])) - 1
        # Of all cells, which may be millions, only those with several entries are looked at.
        several = np.flatnonzero(np.bincount(cell)[cell] > 1)
        cell = cell[several]
        owner = self.owner[order[several]]
        table = coo_array((np.ones(len(cell)), (cell, owner)), (self.cells, self.n)).tocsr()
        pairs = (table.T @ table).toarray()
        own = np.diag(pairs)
        near = np.maximum(pairs - self._shared(np.ones(len(self.cell))), 0.0)
        # u (u - 1) / 2 pairs of u cells, summed: (sum u^2 - sum u) / 2.
        np.fill_diagonal(near, (own - np.bincount(owner, minlength=self.n)) / 2)
        return np.asarray(near)

    def _shared(self, values: FloatArray) -> FloatArray:
        """Sums over cells of products of two parties' values [n, n]."""
        several = np.bincount(self.cell)[self.cell] > 1
        cell = self.cell[several]
        table = csr_array((values[several], (cell, self.owner[several])), (self.cells, self.n))
        return np.asarray((table.T @ table).toarray())

    def votes(self, collapsed: NDArray[np.bool_]) -> FloatArray:
        """Of all pairs of rows in a cell, the shares of each two parties, summed over cells [n, n].

        Every cell with several rows has one vote, so that no crowded cell decides.

        Args:
            collapsed: Parties whose rows in a cell count as one, since they repeat rows [n].
        """
        count = np.where(collapsed[self.owner], 1, self.count).astype(float)
        total = np.bincount(self.cell, weights=count)
        weight = np.zeros(len(total))
        crowded = total > 1
        weight[crowded] = 2.0 / (total[crowded] * (total[crowded] - 1.0))
        root = np.sqrt(weight)[self.cell]
        votes = self._shared(count * root)
        own = np.bincount(self.owner, weights=(count * (count - 1.0)) * root**2, minlength=self.n)
        np.fill_diagonal(votes, own / 2)
        return votes


class Company(NamedTuple):
    """Rows that may share a cell with another, and how many cells all rows lie in."""

    rows: NDArray[np.intp]
    cells: int


def company_of(keys: Keys) -> Company:
    """The rows that share a cell with another; all rows, where most do."""
    ordered = np.sort(keys)
    is_again = ordered[1:] == ordered[:-1]
    again = ordered[1:][is_again]
    cells = len(keys) - len(again)
    if len(again) > len(keys) / CROWDED:
        return Company(np.arange(len(keys)), cells)
    if not len(again):
        return Company(np.empty(0, np.intp), cells)
    place = np.minimum(np.searchsorted(again, keys), len(again) - 1)
    return Company(np.flatnonzero(again[place] == keys), cells)


def _bits(n: int) -> int:
    return max(1, int(n - 1).bit_length())


def _marked(keys: Keys, owner: NDArray[np.intp], n: int) -> Keys:
    """Keys whose last bits are the owner: one sort brings cells together, and owners within."""
    bits = np.uint64(_bits(n))
    return np.asarray((keys >> bits << bits) | owner.astype(np.uint64))


def _is_new(ordered: Keys) -> NDArray[np.bool_]:
    """Which of ordered keys are the first of their kind."""
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return is_new
