"""Weight space with labels: each party's moment beside its precision.

fit_C = 1/2 q_C^T (I + P_C)^-1 q_C, with q_C and P_C sums of the members' moments and precisions.
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.checkpoint import digest_of
from fairpool.compute.workers import Workers, as_workers
from fairpool.information.labelled_space import COALITIONS_PER_TASK, Explained, tasks_of
from fairpool.information.own_noise import OwnLabels, noise_factor
from fairpool.linear_algebra.cholesky import lower_factors_or_why
from fairpool.linear_algebra.label_row import with_label_row
from fairpool.linear_algebra.precision_sums import PrecisionSums
from fairpool.linear_algebra.solving import solve_lower_each
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.tables.arrays import FloatArray

NUMBERS_AT_ONCE = 1 << 18
"""Sums over members are made for so many coalitions that they have about as many numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledWeights:
    """What each party's rows and labels tell about the whitened weights.

    Attributes:
        P: Precisions A^T D^-1 A [n, d, d].
        labels: Moments A^T D^-1 (y - prior mean) [n, d].
        squares: Sums of (y - prior mean)^2 over the rows' noise variances [n].
        rows: How many rows there are [n].
    """

    P: FloatArray
    labels: FloatArray
    squares: FloatArray
    rows: NDArray[np.int64]

    @property
    def n(self) -> int:
        """The number of parties."""
        return len(self.P)

    @cached_property
    def _sums(self) -> PrecisionSums:
        return PrecisionSums(with_label_row(self.P, self.labels), labelled=True)

    def explained(self, executor: Workers | Executor | None = None) -> Explained:
        """Of all 2**n coalitions."""
        table = self._sums.values(as_workers(executor), self.digest)
        return Explained(*table.T.copy())

    def explained_by(self, S: NDArray[np.bool_]) -> Explained:
        """Of some coalitions, given as memberships [N, n]."""
        return Explained(*self._sums.values_of(S).T.copy())

    def weighted_fits(
        self,
        S: NDArray[np.bool_],
        labels: FloatArray,
        *,
        weights: FloatArray,
        executor: Workers | Executor | None = None,
    ) -> FloatArray:
        """Sums of fit_C over some coalitions [q, k], for k sets of moments [n, d, k]."""
        shared = (self.P, S, labels, weights)
        parts = as_workers(executor).map(
            _fits, shared, tasks_of(len(S)), doing="judging labels by simulated ones"
        )
        return sum(parts, start=np.zeros((weights.shape[0], labels.shape[-1])))

    @cached_property
    def _roots(self) -> FloatArray:
        """R_i with R_i R_i^T = P_i [n, d, d]."""
        roots = []
        for P_i in self.P:
            eigenvalues, vectors = spectrum(P_i)
            roots.append(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))
        return np.array(roots)

    @property
    def normals(self) -> int:
        """How many normal numbers a set of labels is drawn from: of the weights, and of noise."""
        n, d = self.labels.shape
        return int(d + n * d)

    def drawn(self, normals: FloatArray) -> FloatArray:
        """Moments [n, d, count] of labels from the model: P_i w + R_i xi, w and xi standard normal.

        Noise of variance D on the labels is noise of covariance P_i on the moment.
        """
        n, d = self.labels.shape
        w = normals[:d]
        noise = normals[d:].reshape(n, d, -1)
        return self.P @ w + self._roots @ noise

    def normals_of(self, party: int) -> int:  # noqa: ARG002 -- the same for all
        """One per weight."""
        return int(self.labels.shape[1])

    def with_pure_noise(self, party: int, normals: FloatArray) -> FloatArray:
        """Moments [n, d, count]: the party's are of labels without any sense."""
        labels = np.repeat(self.labels[:, :, None], normals.shape[1], axis=2)
        size = np.sqrt(self.squares[party] / max(self.rows[party], 1))
        labels[party] = size * (self._roots[party] @ normals)
        return labels

    def own_labels(self, party: int) -> OwnLabels:
        """A party's labels by themselves."""
        eigenvalues, vectors = spectrum(self.P[party])
        return OwnLabels(
            np.maximum(eigenvalues, 0.0),
            vectors.T @ self.labels[party],
            squares=float(self.squares[party]),
            rows=int(self.rows[party]),
        )

    def noise_factors(self) -> FloatArray:
        """How many times noisier each party's labels are than the model says [n]."""
        return np.array([noise_factor(self.own_labels(i)) for i in range(self.n)])

    def with_noise(self, factors: FloatArray) -> "LabelledWeights":
        """The same rows and labels with so many times the noise variance."""
        return replace(
            self,
            P=self.P / factors[:, None, None],
            labels=self.labels / factors[:, None],
            squares=self.squares / factors,
        )

    def of_parties(self, parties: NDArray[np.intp]) -> "LabelledWeights":
        """Some of the parties alone."""
        return replace(
            self,
            P=self.P[parties],
            labels=self.labels[parties],
            squares=self.squares[parties],
            rows=self.rows[parties],
        )

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        return digest_of(self.P, self.labels)


def _fits(
    shared: tuple[FloatArray, NDArray[np.bool_], FloatArray, FloatArray], start: int
) -> FloatArray:
    """Sums of fit_C over a few coalitions, from `start` on, for every set of moments [q, k]."""
    P, S, labels, weights = shared
    _, d, count = labels.shape
    some = S[start : start + COALITIONS_PER_TASK].astype(np.float64)
    fits = np.empty((len(some), count))
    at_once = max(1, NUMBERS_AT_ONCE // max(d * d, d * count, 1))
    for begin in range(0, len(some), at_once):
        part = slice(begin, begin + at_once)
        # Sums over the members of several coalitions at once are one product of matrices.
        L = lower_factors_or_why(np.eye(d) + _sums(some[part], P))
        t = solve_lower_each(L, _sums(some[part], labels))
        fits[part] = 0.5 * np.einsum("cdk,cdk->ck", t, t)
    return weights[:, start : start + COALITIONS_PER_TASK] @ fits


def _sums(memberships: FloatArray, terms: FloatArray) -> FloatArray:
    """Of each coalition [c, n], the sum of its members' matrices [c, a, b] of all [n, a, b]."""
    sums = memberships @ terms.reshape(len(terms), -1)
    return np.asarray(sums.reshape(-1, *terms.shape[1:]))
