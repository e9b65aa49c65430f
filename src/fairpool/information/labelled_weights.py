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
from fairpool.information.own_noise import noise_factor
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.label_row import with_label_row
from fairpool.linear_algebra.precision_sums import PrecisionSums
from fairpool.linear_algebra.solving import solve_lower
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.tables.arrays import FloatArray


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

    def drawn(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Moments [n, d, count] of labels from the model: P_i w + R_i xi, w and xi standard normal.

        Noise of variance D on the labels is noise of covariance P_i on the moment.
        """
        n, d = self.labels.shape
        w = rng.standard_normal((d, count))
        noise = rng.standard_normal((n, d, count))
        return self.P @ w + self._roots @ noise

    def with_pure_noise(self, party: int, count: int, rng: np.random.Generator) -> FloatArray:
        """Moments [n, d, count]: the party's are of labels without any sense."""
        labels = np.repeat(self.labels[:, :, None], count, axis=2)
        size = np.sqrt(self.squares[party] / max(self.rows[party], 1))
        noise = rng.standard_normal((self.labels.shape[1], count))
        labels[party] = size * (self._roots[party] @ noise)
        return labels

    def noise_factors(self) -> FloatArray:
        """How many times noisier each party's labels are than the model says [n]."""
        factors = []
        for i in range(self.n):
            eigenvalues, vectors = spectrum(self.P[i])
            factors.append(
                noise_factor(
                    eigenvalues=np.maximum(eigenvalues, 0.0),
                    along=vectors.T @ self.labels[i],
                    squares=float(self.squares[i]),
                    rows=int(self.rows[i]),
                )
            )
        return np.array(factors)

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
    some = S[start : start + COALITIONS_PER_TASK]
    fits = np.empty((len(some), count))
    for row, membership in enumerate(some):
        L = lower_factor(np.eye(d) + P[membership].sum(axis=0))
        t = solve_lower(L, labels[membership].sum(axis=0))
        fits[row] = 0.5 * np.square(t).sum(axis=0)
    return weights[:, start : start + COALITIONS_PER_TASK] @ fits
