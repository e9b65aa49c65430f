"""Sparse Gaussian process, the deterministic training conditional (DTC): theta is f at the inducing points."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from fairpool.arrays import FloatArray, as_matrix, as_one_set_of_labels, positive
from fairpool.errors import DataError
from fairpool.models import kernels
from fairpool.models.cholesky import lower_factor
from fairpool.models.hyperparameters import NOISE_BOUNDS, maximise_likelihood
from fairpool.models.likelihoods import dtc_likelihood, independent_rows
from fairpool.models.weight_model import WeightModel


@dataclass(frozen=True, eq=False)
class SparseGaussianProcess(WeightModel):
    """DTC: the prior covariance K_XX is replaced by K_XU K_UU^-1 K_UX.

    Paper: App. E.5 (which writes K_XU^T where the shapes ask for K_XU), Sec. 5.

    Args:
        kernel: A scikit-learn kernel.
        noise_variance: Variance of the labels' noise.
        inducing_points: U [d, p]; see `fairpool.inducing_points` to choose them.
    """

    kernel: Any
    noise_variance: float
    inducing_points: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", kernels.checked(self.kernel))
        object.__setattr__(self, "noise_variance", positive(self.noise_variance, "noise_variance"))
        U, _ = as_matrix(self.inducing_points, "inducing points")
        if not len(U):
            raise DataError("there are no inducing points; give at least one")
        object.__setattr__(self, "inducing_points", U)

    @cached_property
    def _basis(self) -> tuple[FloatArray, FloatArray]:
        """The inducing points that tell something, and L_U with L_U L_U^T = their K_UU."""
        kernels.check_dimensions(self.kernel, self.inducing_points.shape[1])
        K_UU = np.asarray(self.kernel(self.inducing_points), dtype=np.float64)
        kernels.refuse_indefinite(self.kernel, K_UU)
        kept = independent_rows(K_UU)
        return self.inducing_points[kept], lower_factor(K_UU[np.ix_(kept, kept)])

    def whitened_features(self, X: FloatArray) -> FloatArray:
        """K_XU L_U^-T [m, d] with L_U L_U^T = K_UU."""
        if X.shape[1] != self.inducing_points.shape[1]:
            raise DataError(
                f"the inducing points have {self.inducing_points.shape[1]} columns, the data {X.shape[1]};"
                " choose them from the same features"
            )
        U, L_U = self._basis
        if not len(X):
            return np.zeros((0, len(U)))
        K_UX = np.asarray(self.kernel(U, X), dtype=np.float64)
        A: FloatArray = np.asarray(solve_triangular(L_U, K_UX, lower=True, check_finite=False)).T
        return A

    def residual_variance(self, X: FloatArray, A: FloatArray) -> FloatArray:
        """k_** - k_*U K_UU^-1 k_U*: what the inducing points leave open at X [m]."""
        return np.asarray(np.maximum(self.kernel.diag(X) - np.einsum("ij,ij->i", A, A), 0.0))

    def fit_hyperparameters(
        self,
        X: Any,
        y: Any,
        rng: np.random.Generator | int | None = None,
        *,
        restarts: int = 0,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> "SparseGaussianProcess":
        """The same model with kernel parameters and noise variance that maximise the DTC likelihood of y.

        Paper: Sec. 5. The inducing points stay where they are.
        """
        X, _ = as_matrix(X, "hyperparameter data")
        U = self.inducing_points
        kernel, noise = maximise_likelihood(
            lambda k, s2, X, y: dtc_likelihood(k, s2, X, y, U),
            self.kernel,
            self.noise_variance,
            X,
            as_one_set_of_labels(y, len(X)),
            rng,
            restarts,
            noise_bounds,
        )
        return replace(self, kernel=kernel, noise_variance=noise)
