"""Exact Gaussian process regression: theta is the latent function f itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.errors import DataError
from fairpool.information import KernelSpace, LabelledKernel, Space
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.log_determinant import half_log_determinant_by_factor
from fairpool.linear_algebra.solving import solve_factorised
from fairpool.models import kernels
from fairpool.models.kernel_model import KernelModel, Likelihoods
from fairpool.models.likelihoods import gp_likelihood, gp_likelihood_of_sets
from fairpool.models.posteriors import KernelPosterior
from fairpool.parties import Pool
from fairpool.tables.arrays import (
    FloatArray,
    as_labels,
    as_matrix,
    as_noise,
    as_one_set_of_labels,
)

MOST_FACTOR_BYTES = 1 << 30
"""The parties' reward models keep their factors up to this much together.

Beyond, a factor is computed when it is needed to predict.
"""

REMEDY = "use a sparse one (SparseGaussianProcess), or fewer rows"
"""Where an exact process would take too much memory."""


@dataclass(frozen=True, eq=False)
class GaussianProcess(KernelModel):
    """A Gaussian process with zero prior mean; standardise the labels first.

    Paper: Sec. 5, App. E.5.

    Args:
        kernel: A scikit-learn kernel; the paper's squared exponential is RBF, its exponential
            kernel is Matern(nu=0.5), and a length scale per feature is automatic relevance
            determination (ARD).
        noise_variance: Variance of the labels' noise.
    """

    def covariance(self, X: FloatArray, Z: FloatArray | None = None) -> FloatArray:
        """K_XZ [m, q], or K_XX when Z is not given."""
        if not len(X) or (Z is not None and not len(Z)):
            return np.zeros((len(X), len(X) if Z is None else len(Z)))
        kernels.check_dimensions(self.kernel, X.shape[1])
        K = np.asarray(self.kernel(X, Z), dtype=np.float64)
        if Z is None:
            kernels.refuse_indefinite(self.kernel, K)
        return K

    def prior_variance_at(self, X: FloatArray) -> FloatArray:
        """The diagonal of K_XX [m]."""
        return np.asarray(self.kernel.diag(X), dtype=np.float64)

    def posterior(self, X: Any, y: Any, noise_variance: Any = None) -> KernelPosterior:
        """Train on X [m, p] and y [m] (or [m, k]: k sets of labels, one factorisation).

        Args:
            X: Inputs.
            y: Labels.
            noise_variance: One number, or one per row; None: the model's. An infinite one silences
                its row.
        """
        X, columns = as_matrix(X, "training data")
        X, y, scale, L = self._prepare(X, y, noise_variance)
        return replace(self.posterior_from_factor(X, y, scale=scale, L=L), columns=columns)

    def posterior_from_factor(
        self, X: FloatArray, y: FloatArray, *, scale: FloatArray, L: FloatArray, keep: bool = True
    ) -> KernelPosterior:
        """The posterior, where the factor is known.

        Args:
            X: Inputs [m, p].
            y: Labels, [m] or [m, k].
            scale: S, one over the rows' noise deviations [m].
            L: L [m, m] with L L^T = I + S K_XX S, see `factor`.
            keep: Whether the posterior keeps L.
        """
        alpha = (scale * solve_factorised(L, (scale * y.T).T).T).T
        return KernelPosterior(
            model=self, X=X, scale=scale, alpha=alpha, kept_factor=L if keep else None
        )

    def log_marginal_likelihood(self, X: Any, y: Any, noise_variance: Any = None) -> float:
        """log p(y | X): how well the model explains the labels before it has seen them."""
        X, y, scale, L = self._prepare(X, as_one_set_of_labels(y, len(X)), noise_variance)
        w = solve_factorised(L, scale * y)
        log_det = 2 * half_log_determinant_by_factor(L) - 2 * np.log(scale).sum()
        return float(-0.5 * (scale * y @ w + log_det + len(y) * np.log(2 * np.pi)))

    def _likelihoods(self, rows: int) -> Likelihoods:
        return Likelihoods(gp_likelihood, gp_likelihood_of_sets, entries=rows**2)

    def factor(self, X: FloatArray, scale: FloatArray) -> FloatArray:
        """L [m, m] with L L^T = I + S K_XX S.

        Args:
            X: Inputs [m, p].
            scale: The diagonal of S: one over the rows' noise deviations [m].
        """
        B = scale[:, None] * self.covariance(X) * scale
        B[np.diag_indices_from(B)] += 1
        return lower_factor(B)

    def check(self, pool: Pool) -> None:
        """Refuse sums over rows: the process depends on every row."""
        if not pool.shows_all_rows:
            raise DataError(
                "a Gaussian process needs every party's rows; summaries are for models with weights"
            )

    def space(self, pool: Pool) -> KernelSpace:
        """Kernel space: one row and column per data point."""
        self._refuse(KernelSpace.memory(pool.sizes, all_values=False), sum(pool.sizes), REMEDY)
        return KernelSpace.of(self.covariance(pool.X), pool.sizes, pool.noise)

    def labelled_space(self, pool: Pool, space: Space) -> LabelledKernel:
        """Kernel space with the labels, which have no prior mean."""
        assert isinstance(space, KernelSpace)  # what `space` gave
        return LabelledKernel(space=space, labels=pool.y / np.sqrt(pool.noise))

    def refuse_too_many_rows(self, sizes: Sequence[int], workers: int) -> None:
        """Refuse to value all coalitions of so many rows where memory would not do."""
        needed = KernelSpace.memory(sizes, all_values=True, workers=workers)
        first = 'sample the contributions (shapley(game, method="sampled")), '
        self._refuse(needed, sum(sizes), first + REMEDY)

    @staticmethod
    def _refuse(needed: float, rows: int, remedy: str) -> None:
        refuse_beyond_memory(needed, f"an exact Gaussian process of {rows} rows", remedy)

    def posterior_of(self, pool: Pool, mask: int) -> KernelPosterior:
        """Trained on a coalition's rows."""
        rows = pool.rows_of(mask)
        return self.posterior(pool.X[rows], pool.y[rows], pool.noise[rows])

    def posterior_with_noise(
        self, pool: Pool, space: Space, *, eta: FloatArray, z: Sequence[FloatArray]
    ) -> KernelPosterior:
        """Trained on the rows of all who take part; their covariance is known from the values."""
        noise = pool.noise + eta[pool.owner]
        y = (pool.y + np.concatenate(z).T).T
        taking_part = np.isfinite(eta)[pool.owner]
        if not taking_part.all():
            some = self.posterior(pool.X[taking_part], y[taking_part], noise[taking_part])
            return replace(some, columns=pool.columns)
        assert isinstance(space, KernelSpace)  # what `space` gave
        with np.errstate(invalid="ignore"):
            remaining = np.where(np.isinf(pool.noise), 0.0, pool.noise / noise)
        keep = 8 * len(pool.parties) * len(noise) ** 2 <= MOST_FACTOR_BYTES
        L = space.factor(remaining)
        whole = self.posterior_from_factor(pool.X, y, scale=1 / np.sqrt(noise), L=L, keep=keep)
        return replace(whole, columns=pool.columns)

    def _prepare(
        self, X: Any, y: Any, noise_variance: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        X, _ = as_matrix(X, "training data")
        noise = self.noise_variance if noise_variance is None else noise_variance
        scale = 1 / np.sqrt(as_noise(noise, len(X), "training data"))
        return X, as_labels(y, len(X)), scale, self.factor(X, scale)
