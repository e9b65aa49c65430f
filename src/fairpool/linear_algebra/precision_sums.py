"""1/2 log|I + sum of P_i|, for many coalitions: first the sums, then stacks of factors.

Paper: App. E.5, for every coalition at once; `WeightSpace` says what P_i is. Where every P_i has a
label row (`fairpool.linear_algebra.label_row`), the coalitions' fits come with them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.coalitions import members
from fairpool.compute.workers import Workers
from fairpool.linear_algebra.label_row import half_log_determinants_and_fits
from fairpool.linear_algebra.log_determinant import half_log_determinants
from fairpool.tables.arrays import FloatArray

TASK_PARTIES = 6
"""A task is one choice for this many parties at most .."""

LEAST_FREE = 10
""".. and all coalitions of this many others at least."""

STACK_BYTES = 1 << 20
"""How much a stack of precisions may take: enough for one call to do much work, little enough for
the cache.
"""


@dataclass(frozen=True, eq=False)
class PrecisionSums:
    """Precisions that add up over a coalition's members.

    Attributes:
        P: One for each party [n, d, d].
        labelled: Whether the last row and column of each are labels, which add up as well. Then
            what is said of a coalition are two numbers: 1/2 log|B| and 1/2 y^T B^-1 y.
    """

    P: FloatArray
    labelled: bool = False

    def measure(self, stack: FloatArray) -> FloatArray:
        """What is said of each of a stack of sums, [s] or [s, 2]; the stack may be overwritten."""
        if self.labelled:
            return half_log_determinants_and_fits(stack)
        return half_log_determinants(stack)

    def values(self, workers: Workers, digest: Callable[[], str]) -> FloatArray:
        """What is said of every coalition [2**n] (or [2**n, 2]); bit i is party i.

        Each one's precision is one addition away from another's. A task takes one choice for the
        last parties, and all for the others.
        """
        n = len(self.P)
        # The same whoever does it, so that sums are rounded in the same way.
        free = min(n, max(n - TASK_PARTIES, LEAST_FREE))
        tasks = [(choice, free) for choice in range(1 << (n - free))]
        parts = workers.map(
            coalition_values, self, tasks, doing="valuing coalitions", digest=digest
        )
        return np.concatenate(parts)

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """What is said of some coalitions [N] (or [N, 2]), given as memberships [N, n].

        Their sums are matrix products, a stack at a time.
        """
        n, d, _ = self.P.shape
        flat = self.P.reshape(n, d * d)
        step = max(STACK_BYTES // _matrix_bytes(d), 1)
        values = [np.empty((0, 2) if self.labelled else 0)]
        for start in range(0, len(S), step):
            sums = S[start : start + step].astype(np.float64) @ flat
            values.append(self.measure(np.eye(d) + sums.reshape(len(sums), d, d)))
        return np.concatenate(values)


def coalition_values(precisions: PrecisionSums, task: tuple[int, int]) -> FloatArray:
    """What is said of all coalitions that agree with one choice for the last parties [2**free].

    Args:
        precisions: The parties' precisions.
        task: The choice, a bitmask of the last parties, and how many parties are free.
    """
    choice, free = task
    P = precisions.P
    d = P.shape[1]
    low = min(free, max(0, int(np.log2(STACK_BYTES / _matrix_bytes(d)))))
    base = np.eye(d) + P[[free + i for i in members(choice)]].sum(axis=0)
    sums = np.zeros((1 << low, d, d))  # over the subsets of the first `low` parties
    for i in range(low):
        np.add(sums[: 1 << i], P[i], out=sums[1 << i : 2 << i])
    stack = np.empty_like(sums)
    v = np.empty((1 << free, 2) if precisions.labelled else 1 << free)

    def visit(parties: int, start: int, base: FloatArray) -> None:
        """All choices for the first so many parties: without the last of them, then with it."""
        if parties == low:
            v[start : start + len(sums)] = precisions.measure(np.add(sums, base, out=stack))
            return
        visit(parties - 1, start, base)
        visit(parties - 1, start + (1 << (parties - 1)), base + P[parties - 1])

    visit(free, 0, base)
    return v


def _matrix_bytes(d: int) -> int:
    """What one matrix of a stack takes, at least one number."""
    return 8 * max(d, 1) ** 2
