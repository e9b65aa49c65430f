"""Information gain of models with d weights: one d x d precision per party, and they add up.

Paper: App. E.5:  I(theta; D_C) = 1/2 log|I + Sigma_0 Phi_C^T D_C^-1 Phi_C|, Phi the rows' features;
DTC likewise. Differs from the paper: written symmetrically as 1/2 log|I + sum_{i in C} P_i| with
P_i = A_i^T D_i^-1 A_i and A_i = Phi_i L_0, Sigma_0 = L_0 L_0^T, which is equal (|I + L_0 L_0^T G| =
|I + L_0^T G L_0|).
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.coalitions import members
from fairpool.compute.checkpoint import digest_of
from fairpool.compute.workers import Workers, as_workers
from fairpool.information.reward_curve import (
    DenseCurve,
    PencilCurve,
    RewardCurve,
    remaining_precision,
)
from fairpool.linear_algebra.log_determinant import half_log_determinant, half_log_determinants
from fairpool.linear_algebra.rounding import coarse_rounding, fine_rounding
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
class WeightSpace:
    """Each party's precision P_i, what its rows tell about the whitened weights.

    Attributes:
        P: [n, d, d].
        noise: Each party's noise variance [n]; nan where its rows differ.
        unequal: For those parties, their rows over the roots of their noise (A [m_i, d]) and their
            noise variances [m_i].
    """

    P: FloatArray
    noise: FloatArray
    unequal: Mapping[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @cached_property
    def rounding_error(self) -> float:
        """How far rounding may put any coalition's value off, see `linear_algebra.rounding`.

        The parties' own bounds add up to one for every coalition C: (B_C)_ii is at most the sum of
        its members' (B_j)_ii, and (B_C^-1)_ii at most each member's (B_j^-1)_ii.
        """
        coarse = coarse_rounding(float(np.trace(self.P, axis1=1, axis2=2).sum()), self.P.shape[1])
        if coarse is not None:
            return coarse
        return sum(fine_rounding(self._identity + P_i) for P_i in self.P)

    @property
    def _identity(self) -> FloatArray:
        return np.eye(self.P.shape[1])

    def value(self, mask: int) -> float:
        """v_C of one coalition, by one factorisation."""
        return half_log_determinant(self._identity + self.P[list(members(mask))].sum(axis=0))

    def values(self, executor: Workers | Executor | None = None) -> FloatArray:
        """v_C of all 2**n coalitions [2**n].

        Each one's precision is one addition away from another's; then stacks of factorisations.

        Args:
            executor: Who does it: each task takes one choice for the last parties, and all for the
                others.
        """
        workers = as_workers(executor)
        n = len(self.P)
        # The same whoever does it, so that sums are rounded in the same way.
        free = min(n, max(n - TASK_PARTIES, LEAST_FREE))
        tasks = [(choice, free) for choice in range(1 << (n - free))]
        return np.concatenate(
            workers.map(coalition_values, self, tasks, "valuing coalitions", digest=self.digest)
        )

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        return digest_of(self.P)

    @property
    def n(self) -> int:
        """The number of parties."""
        return len(self.P)

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n].

        Sums of precisions by matrix products, then stacks of factorisations.
        """
        d = self.P.shape[1]
        flat = self.P.reshape(self.n, d * d)
        step = max(STACK_BYTES // (8 * max(d, 1) ** 2), 1)
        values = [np.empty(0)]
        for start in range(0, len(S), step):
            sums = S[start : start + step].astype(np.float64) @ flat
            values.append(half_log_determinants(self._identity + sums.reshape(-1, d, d)))
        return np.concatenate(values)

    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]."""
        return self.values_of(~np.eye(self.n, dtype=bool))

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """What it costs to value a coalition of each size: the same."""
        return np.ones(len(sizes))

    @property
    def curve_bytes(self) -> int:
        """What a reward curve holds."""
        return 16 * int(self.P.shape[1]) ** 2

    def reward_curve(self, party: int, noise_variance: float) -> RewardCurve:
        """r_i(tau) for party i: what the others' precisions add to I + P_i.

        Args:
            party: i.
            noise_variance: s2 to measure tau by, where the others' rows do not agree on one.
        """
        R = self._identity + self.P[party]
        others = [j for j in range(len(self.P)) if j != party]
        # A party of infinite noise, or of no rows, has nothing to lose: it does not count.
        levels = np.unique([self.noise[j] for j in others if not np.isinf(self.noise[j])])
        if len(levels) <= 1 and not np.isnan(levels).any():
            noise = float(levels[0]) if len(levels) else noise_variance
            P = self.P[others].sum(axis=0)
            return PencilCurve(P=P, R=R, base=0.0, noise_variance=noise)

        def evaluate(tau: float) -> float:
            return half_log_determinant(
                R + sum(self._remaining(j, tau, noise_variance) for j in others)
            )

        first_bits = sum(self._remaining(j, 1e-9, noise_variance) for j in others) / 1e-9
        slope = 0.5 * float(np.linalg.solve(R, first_bits).trace())
        return DenseCurve(evaluate=evaluate, slope=slope, noise_variance=noise_variance)

    def _remaining(self, j: int, tau: float, noise_variance: float) -> FloatArray:
        """Party j's precision when noise is added to its labels."""
        if j not in self.unequal:
            return np.asarray(remaining_precision(self.noise[j], tau, noise_variance) * self.P[j])
        A, noise = self.unequal[j]
        return (A.T * remaining_precision(noise, tau, noise_variance)) @ A


def coalition_values(space: WeightSpace, task: tuple[int, int]) -> FloatArray:
    """The values of all coalitions that agree with one choice for the last parties [2**free].

    Args:
        space: The parties' precisions.
        task: The choice, a bitmask of the last parties, and how many parties are free.
    """
    choice, free = task
    d = space.P.shape[1]
    low = min(free, max(0, int(np.log2(STACK_BYTES / (8 * max(d, 1) ** 2)))))
    base = np.eye(d) + space.P[[free + i for i in members(choice)]].sum(axis=0)
    sums = np.zeros((1 << low, d, d))  # over the subsets of the first `low` parties
    for i in range(low):
        np.add(sums[: 1 << i], space.P[i], out=sums[1 << i : 2 << i])
    stack = np.empty_like(sums)
    v = np.empty(1 << free)

    def visit(parties: int, start: int, base: FloatArray) -> None:
        """All choices for the first so many parties: without the last of them, then with it."""
        if parties == low:
            v[start : start + len(sums)] = half_log_determinants(np.add(sums, base, out=stack))
            return
        visit(parties - 1, start, base)
        visit(parties - 1, start + (1 << (parties - 1)), base + space.P[parties - 1])

    visit(free, 0, base)
    return v
