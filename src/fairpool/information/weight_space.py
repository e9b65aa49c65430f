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
from fairpool.linear_algebra.log_determinant import half_log_determinant
from fairpool.linear_algebra.precision_sums import PrecisionSums
from fairpool.linear_algebra.rounding import coarse_rounding, fine_rounding
from fairpool.linear_algebra.solving import solve
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.tables.arrays import FloatArray

MOST_DRAWS = 2000
"""Of more rows that could come, so many are drawn, and each stands for several: that overstates by
how much draws differ, and costs little.
"""


@dataclass(frozen=True, eq=False)
class WeightSpace:
    """Each party's precision P_i, what its rows tell about the whitened weights.

    Attributes:
        P: [n, d, d].
        noise: Each party's noise variance [n]; nan where its rows differ.
        unequal: For those parties, their rows over the roots of their noise (A [m_i, d]) and their
            noise variances [m_i]; or, of few levels of noise, A^T A of each [l, d, d] and these
            levels [l].
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

    @cached_property
    def _sums(self) -> PrecisionSums:
        # Kept, since workers recognise what they hold already by its identity.
        return PrecisionSums(self.P)

    @property
    def _identity(self) -> FloatArray:
        return np.eye(self.P.shape[1])

    def value(self, mask: int) -> float:
        """v_C of one coalition, by one factorisation."""
        return half_log_determinant(self._identity + self.P[list(members(mask))].sum(axis=0))

    def values(self, executor: Workers | Executor | None = None) -> FloatArray:
        """v_C of all 2**n coalitions [2**n].

        Args:
            executor: Who does it: each task takes one choice for the last parties, and all for the
                others.
        """
        return self._sums.values(as_workers(executor), self.digest)

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        return digest_of(self.P)

    @property
    def n(self) -> int:
        """The number of parties."""
        return len(self.P)

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n]."""
        return self._sums.values_of(S)

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

        def told(tau: float) -> FloatArray:
            remaining = (self._remaining(j, tau, noise_variance) for j in others)
            return sum(remaining, start=np.zeros_like(R))

        def evaluate(tau: float) -> float:
            return half_log_determinant(R + told(tau))

        slope = 0.5 * float(solve(R, told(1e-9) / 1e-9).trace())
        return DenseCurve(evaluate=evaluate, slope=slope, noise_variance=noise_variance)

    @property
    def work_per_value(self) -> float:
        """How many multiplications a value takes, roughly: those of one factor."""
        return float(self.P.shape[1]) ** 3 / 3

    def with_more_rows(
        self, party: int, *, rows: int, more: int, rng: np.random.Generator
    ) -> "WeightSpace":
        """The same, as if a party had more rows, drawn by the second moments of those it has.

        A row tells a a^T over its noise variance, of which P_i has the mean, P_i / m. Rows whose a
        are normal with these second moments have the same mean, and need no row of the party's.
        """
        l, Q = spectrum(self.P[party])  # noqa: E741 -- the design's letter
        draws = min(more, MOST_DRAWS)
        z = rng.standard_normal((draws, len(l)))
        a = (z * np.sqrt(np.maximum(l, 0.0) / rows)) @ Q.T
        P = self.P.copy()
        P[party] += a.T @ a * (more / draws)
        return WeightSpace(P=P, noise=self.noise, unequal=self.unequal)

    def _remaining(self, j: int, tau: float, noise_variance: float) -> FloatArray:
        """Party j's precision when noise is added to its labels."""
        if j not in self.unequal:
            return np.asarray(remaining_precision(self.noise[j], tau, noise_variance) * self.P[j])
        A, noise = self.unequal[j]
        remaining = remaining_precision(noise, tau, noise_variance)
        if A.ndim == 3:
            return np.tensordot(remaining, A, axes=1)
        return (A.T * remaining) @ A
