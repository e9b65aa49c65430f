"""Who agrees with whom, as sums over coalitions: phi''_i = sum over C of c_i(C) l(C).

The Shapley value of the evidence game is a sum of Shapley interaction indices of the log evidence:

    phi''_i = sum over j of I_ij,   I_ij = sum over S without i and j of w_s D_ij(S),
    D_ij(S) = l(S + i + j) - l(S + i) - l(S + j) + l(S),   w_s = s! (n - 2 - s)! / (n - 1)!

since in j's own term, l(C + j) - l(C - j) - l(j), j is a null player, and what i adds to it is
D_ij. Up to 12 parties all coalitions are summed over. Beyond, some orders in which the parties
could join are: with S those before i, and j any that comes later, each order has one D_ij(S) for
every pair, and S is smaller than it should be on average, which weights make good. What is tested
is then the sum that is drawn, of the labels as of simulated ones, so that the test holds as well.
"""

from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairpool.coalitions import sizes
from fairpool.tables.arrays import FloatArray

ALL_COALITIONS = 12
"""Up to this many parties, all coalitions are looked at."""

EVALUATIONS = 1500
"""About so many coalitions are looked at where there are too many to look at all."""

FEWEST_ORDERS = 2
"""So many orders are drawn at least; each is also taken backwards."""

MOST_LATER = 50
"""Of the parties that come later, so many are looked at, at each place of an order."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementWeights:
    """Some coalitions, and how much each counts.

    Attributes:
        S: Memberships [N, n].
        of_pairs: How much each coalition counts for I_ij, of each pair i < j [n (n - 1) / 2, N].
        of_parties: The same for phi''_i [n, N].
    """

    S: NDArray[np.bool_]
    of_pairs: Any
    of_parties: Any

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> "AgreementWeights":
        """For n parties, two at least: exactly, or by a sample of orders."""
        if n <= ALL_COALITIONS:
            S = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(bool)
            of_pairs: Any = _exact(S)
        else:
            along = _AlongOrders(n=n)
            for order in _orders(n, rng):
                along.add(order, rng)
            S, of_pairs = along.finished()
        first, second = np.triu_indices(n, 1)
        pairs = np.arange(len(first))
        ones = np.ones(2 * len(pairs))
        places = (np.concatenate([first, second]), np.concatenate([pairs, pairs]))
        in_pairs = csr_array((ones, places), shape=(n, len(pairs)))
        return cls(S=S, of_pairs=of_pairs, of_parties=in_pairs @ of_pairs)

    @property
    def counts_all(self) -> bool:
        """Whether these are all coalitions, in the order of their bitmasks."""
        coalitions, n = self.S.shape
        return bool(n <= ALL_COALITIONS and coalitions == 1 << n)

    def pairs(self, log_evidence: FloatArray) -> FloatArray:
        """I_ij [n, n], 0 on the diagonal, from l of the coalitions [N]."""
        n = self.S.shape[1]
        matrix = np.zeros((n, n))
        matrix[np.triu_indices(n, 1)] = self.of_pairs @ log_evidence
        return matrix + matrix.T


def _exact(S: NDArray[np.bool_]) -> FloatArray:
    """The weights of all coalitions for every pair."""
    n = S.shape[1]
    weight = np.zeros(n + 1)  # of S, by its size; a pair leaves n - 2 others
    for s in range(n - 1):
        weight[s] = 1 / ((n - 1) * comb(n - 2, s))
    size = sizes(n).astype(int)
    of_pairs = np.empty((n * (n - 1) // 2, len(S)))
    for pair, (i, j) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        inside = S[:, i].astype(int) + S[:, j]
        sign = np.where(inside == 1, -1, 1)
        of_pairs[pair] = sign * weight[size - inside]
    return of_pairs


def _orders(n: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Orders of n parties, and the same backwards."""
    coalitions = n * min(n / 2, MOST_LATER)
    count = max(int(EVALUATIONS / coalitions / 2), FEWEST_ORDERS)
    drawn = [rng.permutation(n) for _ in range(count)]
    return [*drawn, *(order[::-1] for order in drawn)]


@dataclass(kw_only=True)
class _AlongOrders:
    """The coalitions along some orders. It is not frozen: it is added to, and finished once.

    Attributes:
        n: The number of parties.
        places: Where in the list each coalition is.
        entries: Pair, place of a coalition, and weight.
        orders: How many were added.
    """

    n: int
    places: dict[bytes, int] = field(default_factory=dict)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    orders: list[NDArray[np.intp]] = field(default_factory=list)

    def add(self, order: NDArray[np.intp], rng: np.random.Generator) -> None:
        """One D_ij(S) for every i of the order, S those before it, and each of some j after it."""
        self.orders.append(order)
        n = self.n
        before = np.zeros(n, dtype=bool)
        for s, i in enumerate(order[:-1]):
            later = order[s + 1 :]
            if len(later) > MOST_LATER:
                later = rng.choice(later, MOST_LATER, replace=False)
            # A pair's first party has s before it in n - 1 - s of n (n - 1) / 2 places, and the
            # pair is among those looked at in len(later) of n - 1 - s cases.
            weight = n / (2 * len(later))
            with_i = _joined(before, i)
            for j in later:
                pair = _pair(n, i, j)
                self.entries.append((pair, self._place(_joined(with_i, j)), weight))
                self.entries.append((pair, self._place(_joined(before, j)), -weight))
                self.entries.append((pair, self._place(with_i), -weight))
                self.entries.append((pair, self._place(before), weight))
            before = with_i

    def _place(self, membership: NDArray[np.bool_]) -> int:
        return self.places.setdefault(membership.tobytes(), len(self.places))

    def finished(self) -> tuple[NDArray[np.bool_], csr_array]:
        """The coalitions [N, n], and their weights for every pair, averaged over the orders."""
        S = np.array([np.frombuffer(key, dtype=bool) for key in self.places])
        pair, place, weight = (np.array(column) for column in zip(*self.entries, strict=True))
        shape = (self.n * (self.n - 1) // 2, len(S))
        return S, csr_array((weight / len(self.orders), (pair, place)), shape=shape)


def _joined(membership: NDArray[np.bool_], party: int) -> NDArray[np.bool_]:
    joined = membership.copy()
    joined[party] = True
    return joined


def _pair(n: int, i: int, j: int) -> int:
    """The place of a pair among those of `numpy.triu_indices`."""
    low, high = min(i, j), max(i, j)
    return int(low * (2 * n - low - 1) // 2 + high - low - 1)
