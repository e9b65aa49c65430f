"""Kernel space with labels: one more row beside the parties' blocks.

fit_C = 1/2 (|y_C|^2 - y_C^T B_CC^-1 y_C), with labels y over the roots of their noise variances.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.checkpoint import digest_of
from fairpool.compute.workers import Workers, as_workers
from fairpool.information.kernel_space import KernelSpace
from fairpool.information.labelled_space import COALITIONS_PER_TASK, Explained, tasks_of
from fairpool.information.own_noise import OwnLabels, noise_factor
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.label_row import half_log_determinants_and_fits, with_label_row
from fairpool.linear_algebra.solving import solve_lower
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledKernel:
    """All parties' rows, and their labels.

    Attributes:
        space: The rows in the matrix B = I + D^-1/2 K D^-1/2.
        labels: D^-1/2 (y - prior mean) [m]; 0 where a row's noise is infinite.
    """

    space: KernelSpace
    labels: FloatArray

    @property
    def n(self) -> int:
        """The number of parties."""
        return self.space.n

    @cached_property
    def _rows(self) -> tuple[slice, ...]:
        """Each party's rows."""
        ends = np.cumsum(self.space.sizes).tolist()
        return tuple(
            slice(end - size, end) for end, size in zip(ends, self.space.sizes, strict=True)
        )

    @cached_property
    def _squares(self) -> FloatArray:
        """Each party's sum of squared labels [n]."""
        return np.array([np.square(self.labels[rows]).sum() for rows in self._rows])

    def explained(self, executor: Workers | Executor | None = None) -> Explained:
        """Of all 2**n coalitions, by eliminating one party after another."""
        v, unexplained = self.space.values_with_labels(self.labels, executor)
        squares = np.zeros(1)
        for square in self._squares:
            squares = np.concatenate([squares, squares + square])
        return Explained(v, 0.5 * squares - unexplained)

    def explained_by(self, S: NDArray[np.bool_]) -> Explained:
        """Of some coalitions, given as memberships [N, n], by one factorisation each."""
        both = np.empty((len(S), 2))
        for row, membership in enumerate(S):
            chosen = np.flatnonzero(np.repeat(membership, self.space.sizes))
            B = with_label_row(self.space.B[np.ix_(chosen, chosen)], self.labels[chosen])
            both[row] = half_log_determinants_and_fits(B[None])[0]
        return Explained(both[:, 0].copy(), 0.5 * (S @ self._squares) - both[:, 1])

    def weighted_fits(
        self,
        S: NDArray[np.bool_],
        labels: FloatArray,
        *,
        weights: FloatArray,
        executor: Workers | Executor | None = None,
    ) -> FloatArray:
        """Sums of fit_C over some coalitions [q, k], for k sets of labels [m, k]."""
        shared = (self.space.B, np.repeat(S, self.space.sizes, axis=1), labels, weights)
        parts = as_workers(executor).map(
            _fits, shared, tasks_of(len(S)), doing="judging labels by simulated ones"
        )
        return sum(parts, start=np.zeros((weights.shape[0], labels.shape[-1])))

    @property
    def normals(self) -> int:
        """How many normal numbers a set of labels is drawn from: one per row."""
        return len(self.labels)

    def drawn(self, normals: FloatArray) -> FloatArray:
        """Labels [m, count] from the model: their covariance is B."""
        if not len(normals):
            return normals
        return lower_factor(self.space.B) @ normals

    def normals_of(self, party: int) -> int:
        """One per row of the party."""
        return self.space.sizes[party]

    def with_pure_noise(self, party: int, normals: FloatArray) -> FloatArray:
        """Labels [m, count]: the party's are without any sense."""
        labels = np.repeat(self.labels[:, None], normals.shape[1], axis=1)
        size = np.sqrt(self._squares[party] / max(self.space.sizes[party], 1))
        labels[self._rows[party]] = size * normals
        return labels

    def own_labels(self, party: int) -> OwnLabels:
        """A party's labels by themselves."""
        rows = self._rows[party]
        size = self.space.sizes[party]
        if not size:
            return OwnLabels(np.empty(0), np.empty(0), squares=0.0, rows=0)
        eigenvalues, vectors = spectrum(self.space.B[rows, rows])
        told = np.maximum(eigenvalues - 1, 0.0)
        along = np.sqrt(told) * (vectors.T @ self.labels[rows])
        return OwnLabels(told, along, squares=float(self._squares[party]), rows=size)

    def noise_factors(self) -> FloatArray:
        """How many times noisier each party's labels are than the model says [n]."""
        return np.array([noise_factor(self.own_labels(i)) for i in range(self.n)])

    def with_noise(self, factors: FloatArray) -> "LabelledKernel":
        """The same rows and labels with so many times the noise variance."""
        of_rows = np.repeat(factors, self.space.sizes)
        scale = 1 / np.sqrt(of_rows)
        B = scale[:, None] * self.space.B * scale
        B[np.diag_indices_from(B)] += 1 - 1 / of_rows
        space = KernelSpace(B, self.space.sizes, self.space.noise * of_rows)
        return replace(self, space=space, labels=scale * self.labels)

    def of_parties(self, parties: NDArray[np.intp]) -> "LabelledKernel":
        """Some of the parties alone."""
        return replace(
            self,
            space=self.space.of_parties(parties.tolist()),
            labels=np.concatenate([np.empty(0), *(self.labels[self._rows[i]] for i in parties)]),
        )

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        return digest_of(self.space.B, np.array(self.space.sizes), self.labels)


def _fits(
    shared: tuple[FloatArray, NDArray[np.bool_], FloatArray, FloatArray], start: int
) -> FloatArray:
    """Sums of fit_C over a few coalitions, from `start` on, for every set of labels [q, k]."""
    B, S, labels, weights = shared
    some = S[start : start + COALITIONS_PER_TASK]
    fits = np.zeros((len(some), labels.shape[1]))
    for row, chosen in enumerate(some):
        y = labels[chosen]
        if len(y):
            t = solve_lower(lower_factor(B[np.ix_(chosen, chosen)]), y)
            fits[row] = 0.5 * (np.square(y).sum(axis=0) - np.square(t).sum(axis=0))
    return weights[:, start : start + COALITIONS_PER_TASK] @ fits
