"""Information gain of an exact Gaussian process: one symmetric matrix, one block per party.

Paper: App. E.5:  I(f; D_C) = 1/2 log|I + K_CC D_C^-1|.
Differs from the paper: written symmetrically as 1/2 log|I + D^-1/2 K_CC D^-1/2|, which is equal,
needs no jitter, and lets an infinite noise variance be a row of zeros.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.coalitions import members, subset_sums, with_party, without_party
from fairpool.compute.checkpoint import digest_of
from fairpool.compute.workers import Workers, as_workers
from fairpool.information.reward_curve import (
    DenseCurve,
    PencilCurve,
    RewardCurve,
    SharedSpectrumCurve,
    remaining_precision,
)
from fairpool.linear_algebra import in_place
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.elimination import Elimination
from fairpool.linear_algebra.label_row import with_label_row
from fairpool.linear_algebra.log_determinant import (
    half_log_determinant,
    half_log_determinant_by_factor,
)
from fairpool.linear_algebra.rounding import coarse_rounding, fine_rounding
from fairpool.linear_algebra.solving import solve_lower
from fairpool.linear_algebra.spectrum import Spectrum, spectrum
from fairpool.tables.arrays import FloatArray

MANY_PARTIES = 12
"""From this many parties on, one decomposition with eigenvectors is cheaper than some
factorisations per party.
"""


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """All parties' rows in the matrix B = I + D^-1/2 K D^-1/2.

    Attributes:
        B: [m, m].
        sizes: Each party's number of rows; the blocks are in the parties' order.
        noise: Each row's noise variance, the diagonal of D [m].
    """

    B: FloatArray
    sizes: tuple[int, ...]
    noise: FloatArray

    @classmethod
    def of(cls, K: FloatArray, sizes: Sequence[int], noise: FloatArray) -> "KernelSpace":
        """From the latent values' prior covariance K [m, m]."""
        scale = 1 / np.sqrt(noise)
        B = scale[:, None] * K * scale
        B[np.diag_indices_from(B)] += 1
        return cls(B, tuple(sizes), noise)

    @staticmethod
    def memory(sizes: Sequence[int], all_values: bool, workers: int = 1) -> float:
        """Bytes that valuing needs at most.

        The matrix, a part of it, its factor and its inverse; for all 2**n values the matrix twice,
        and for each worker one Schur complement per party on the way down.
        """
        if not len(sizes):
            return 0.0
        # The rows still to come, at each party on the way down.
        to_come = np.cumsum(sorted(sizes), dtype=np.float64)
        m = to_come[-1]
        entries = 4 * m**2
        if all_values:
            entries = max(entries, 2 * m**2 + workers * (to_come**2).sum())
        return float(8 * entries)

    @cached_property
    def rounding_error(self) -> float:
        """How far rounding may put any coalition's value off, see `linear_algebra.rounding`.

        Everybody's matrix serves for all: (B_CC^-1)_ii is at most (B^-1)_ii.
        """
        coarse = coarse_rounding(float(self.B.trace()) - len(self.B), len(self.B))
        return fine_rounding(self.B) if coarse is None else coarse

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(np.concatenate([[0], np.cumsum(self.sizes)]).tolist())

    def _rows(self, parties: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        blocks = [np.arange(self._starts[i], self._starts[i + 1]) for i in parties]
        return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.intp)

    def value(self, mask: int) -> float:
        """v_C of one coalition, by one factorisation."""
        rows = self._rows(members(mask))
        return half_log_determinant(self.B[np.ix_(rows, rows)])

    def values(self, executor: Workers | Executor | None = None) -> FloatArray:
        """v_C of all 2**n coalitions [2**n], by eliminating one party after another.

        At each party, either its block is dropped, or it joins: its log-determinant is added, and
        the parties still to come are conditioned on it (the Schur complement). The two matrices
        that result serve half of the remaining coalitions each. The largest party goes first, since
        the first is eliminated once, the last 2**(n-1) times; deep in the tree the matrices are
        small, and a coalition costs O(m_k^3) whatever n is.

        Args:
            executor: Who does it: each task takes one choice for the first parties, and all for the
                others.
        """
        order = self._largest_first
        rows = self._rows(order)
        elimination = Elimination(
            np.asfortranarray(self.B[np.ix_(rows, rows)]), tuple(self.sizes[i] for i in order)
        )
        return self._of_all(elimination.values(as_workers(executor), self.digest))

    def values_with_labels(
        self, labels: FloatArray, executor: Workers | Executor | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """v_C and 1/2 y_C^T B_CC^-1 y_C of all 2**n coalitions [2**n], likewise.

        Args:
            labels: y, over the roots of their noise variances [m].
            executor: Who does it.
        """
        order = self._largest_first
        rows = self._rows(order)
        elimination = Elimination(
            np.asfortranarray(with_label_row(self.B[np.ix_(rows, rows)], labels[rows])),
            tuple(self.sizes[i] for i in order),
            labelled=True,
        )
        both = elimination.values(
            as_workers(executor), lambda: digest_of(self.B, np.array(self.sizes), labels)
        )
        return self._of_all(both[:, 0]), self._of_all(both[:, 1])

    @property
    def _largest_first(self) -> list[int]:
        """The parties that have rows."""
        with_rows = [i for i in range(self.n) if self.sizes[i]]
        return sorted(with_rows, key=lambda i: -self.sizes[i])

    def _of_all(self, of_those_with_rows: FloatArray) -> FloatArray:
        """What is said of every coalition [2**n], by what is said of the parties with rows."""
        v = np.zeros(1 << self.n)
        v[subset_sums([1 << i for i in self._largest_first])] = of_those_with_rows
        for i in range(self.n):
            if not self.sizes[i]:  # nobody's value changes with a party that has no rows
                with_party(v, i)[:] = without_party(v, i)
        return v

    def of_parties(self, parties: Sequence[int]) -> "KernelSpace":
        """Some of the parties alone, in this order."""
        rows = self._rows(parties)
        sizes = tuple(self.sizes[i] for i in parties)
        return KernelSpace(self.B[np.ix_(rows, rows)], sizes, self.noise[rows])

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        return digest_of(self.B, np.array(self.sizes))

    @property
    def n(self) -> int:
        """The number of parties."""
        return len(self.sizes)

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n], by one factorisation each."""
        rows = (np.flatnonzero(np.repeat(row, self.sizes)) for row in S)
        return np.array([half_log_determinant(self.B[np.ix_(r, r)]) for r in rows])

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """What it costs to value a coalition of each size, in flops, those of a call included."""
        return np.asarray((sizes * (len(self.B) / self.n)) ** 3 / 3 + 1e6)

    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]: v_N + 1/2 log|(B^-1)_ii|.

        One inverse serves all.
        """
        if not len(self.B):  # LAPACK refuses a matrix without rows, aloud
            return np.zeros(self.n)
        L = lower_factor(self.B)
        total = half_log_determinant_by_factor(L)
        inverse = in_place.invert(L)  # its lower triangle
        blocks = (np.arange(a, b) for a, b in zip(self._starts, self._starts[1:], strict=False))
        lasts = np.array([half_log_determinant(inverse[np.ix_(rows, rows)]) for rows in blocks])
        return np.asarray(total + lasts)

    def factor(self, share: FloatArray) -> FloatArray:
        """L [m, m] with L L^T = I + S^1/2 (B - I) S^1/2, S the share of each row's precision left.

        Args:
            share: The diagonal of S [m].
        """
        root = np.sqrt(share)
        B = self.B * root
        B *= root[:, None]
        B[np.diag_indices_from(B)] += 1 - share
        return lower_factor(B)

    @property
    def work_per_value(self) -> float:
        """How many multiplications a value takes, roughly, by elimination.

        Of n parties of k rows, 2**l matrices of (n - l) k rows are left to update by k columns at
        level l: per value k^3 times the sum of j^2 / 2^j, which is 6.
        """
        return 6 * (len(self.B) / self.n) ** 3

    def with_more_rows(
        self, party: int, *, rows: int, more: int, rng: np.random.Generator
    ) -> "KernelSpace":
        """The same, as if some of a party's rows were measured again, drawn among those it has.

        A row that is there c times has a c-th of its noise variance. Rows at new places would tell
        more.
        """
        own = self._rows([party])
        times = 1 + rng.multinomial(more, np.full(rows, 1 / rows))
        root = np.ones(len(self.B))
        root[own] = np.sqrt(times)
        diagonal = np.diag_indices_from(self.B)
        B = self.B.copy()
        B[diagonal] -= 1
        B *= root
        B *= root[:, None]
        B[diagonal] += 1
        return KernelSpace(B, self.sizes, self.noise / root**2)

    @property
    def curve_bytes(self) -> int:
        """What a reward curve holds."""
        return 0 if self._one_spectrum_for_all else 8 * len(self.B) ** 2

    @property
    def _one_spectrum_for_all(self) -> bool:
        return (
            self.n >= MANY_PARTIES
            and len(np.unique(self.noise)) == 1
            and bool(np.isfinite(self.noise[0]))
        )

    def reward_curve(self, party: int, noise_variance: float) -> RewardCurve:
        """r_i(tau) for party i.

        Condition on its own rows first; what the others add beyond them is C.

        Args:
            party: i.
            noise_variance: s2 to measure tau by, where the others' rows do not agree on one.
        """
        own = self._rows([party])
        if self._one_spectrum_for_all:
            l, Q = self._spectrum  # noqa: E741 -- the design's letter
            return SharedSpectrumCurve(Q=Q[own], eigenvalues=l, noise_variance=float(self.noise[0]))
        others = self._rows([j for j in range(len(self.sizes)) if j != party])
        L = lower_factor(self.B[np.ix_(own, own)])
        alone = half_log_determinant_by_factor(L)
        W = solve_lower(L, self.B[np.ix_(own, others)])
        C = self.B[np.ix_(others, others)] - W.T @ W
        C[np.diag_indices_from(C)] -= 1
        noise = self.noise[others]
        levels = np.unique(noise[np.isfinite(noise)])
        if len(levels) <= 1:
            s2 = float(levels[0]) if len(levels) else noise_variance
            return PencilCurve(P=C, R=None, base=alone, noise_variance=s2)

        def evaluate(tau: float) -> float:
            root = np.sqrt(remaining_precision(noise, tau, noise_variance))
            return alone + half_log_determinant(np.eye(len(C)) + root[:, None] * C * root)

        # A row of noise s loses its precision at the rate s / s2 as tau leaves 0.
        finite = np.isfinite(noise)
        slope = 0.5 * float(noise[finite] @ np.diag(C)[finite]) / noise_variance
        return DenseCurve(evaluate=evaluate, slope=slope, noise_variance=noise_variance)

    @cached_property
    def _spectrum(self) -> Spectrum:
        """Eigenvalues [m] and eigenvectors [m, m] of B - I."""
        l, Q = spectrum(self.B)  # noqa: E741
        return Spectrum(np.maximum(l - 1, 0.0), Q)
