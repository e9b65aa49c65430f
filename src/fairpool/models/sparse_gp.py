"""Sparse Gaussian process: theta is f at the inducing points.

The approximation is the deterministic training conditional (DTC).
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from fairpool.errors import DataError, KernelError
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.inverse import inverse
from fairpool.linear_algebra.rounding import EPS, SEVERAL
from fairpool.linear_algebra.solving import solve_lower
from fairpool.models import kernels
from fairpool.models.kernel_model import KernelModel, Likelihoods
from fairpool.models.likelihoods import (
    dtc_likelihood,
    dtc_likelihood_of_sets,
    inducing_covariance,
)
from fairpool.models.weight_model import WeightModel
from fairpool.parties import FeatureBounds
from fairpool.tables.arrays import FloatArray, as_matrix


@dataclass(frozen=True, eq=False)
class SparseGaussianProcess(KernelModel, WeightModel):
    """DTC: the prior covariance K_XX is replaced by Q = K_XU M^-1 K_UX.

    M is K_UU + 1e-12 diag(K_UU).

    Paper: App. E.5 (which writes K_XU^T where the shapes ask for K_XU), Sec. 5.

    Differs from the paper: it has M = K_UU. Where inducing points are close for the kernel, that Q
    depends on digits of K_UU which double precision does not have: for five points spaced by 0.005,
    RBF(1.8) and inputs outside of them, v comes out 0.3 of 4.9 nats too small. With the share added
    (`fairpool.models.likelihoods.JITTER`), values are those of the model as stated here to 2e-4
    nats for a few points however close, to `rounding_error` for any number of them (of which the
    operator is told where it matters), and there is one weight per inducing point. Where the points
    are apart it is the paper's model: to 1e-7 nats for five points spaced by 0.5 and RBF(1.8).

    Args:
        kernel: A scikit-learn kernel.
        noise_variance: Variance of the labels' noise.
        inducing_points: U [d, p]; see `fairpool.inducing_points` to choose them.
    """

    inducing_points: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        U, _ = as_matrix(self.inducing_points, "inducing points")
        if not len(U):
            raise DataError("there are no inducing points; give at least one")
        object.__setattr__(self, "inducing_points", U)

    @cached_property
    def _root(self) -> FloatArray:
        """L_U [d, d], lower, with L_U L_U^T = M."""
        kernels.check_dimensions(self.kernel, self.inducing_points.shape[1])
        K_UU = np.asarray(self.kernel(self.inducing_points), dtype=np.float64)
        kernels.refuse_indefinite(self.kernel, K_UU)
        try:
            return lower_factor(inducing_covariance(K_UU))
        except KernelError:
            raise KernelError(
                f"the covariance of the {len(K_UU)} inducing points cannot be factorised: the"
                f" kernel {self.kernel}"
                " gives values that are not finite, or too coarsely rounded for points this close;"
                " use another kernel,"
                " or fewer inducing points"
            ) from None

    def rounding_error_of(self, P: FloatArray) -> float:
        """How far rounding of M may put a value off.

        It matters where inducing points are close for the kernel.
        v = 1/2 log|M + G| - 1/2 log|M|, G = L_U P L_U^T, changes by 1/2 tr(((M + G)^-1 - M^-1) dM).
        Each entry of M is rounded by some eps of its size, and what matters is the diagonal, as in
        `fairpool.linear_algebra.rounding`:

            M^-1 - (M + G)^-1 = L_U^-T F L_U^-1,    F = I - (I + P)^-1
        """
        I = np.eye(len(P))  # noqa: E741 -- the identity
        F = I - inverse(I + P)
        C = solve_lower(self._root, I)
        variances = np.einsum("ij,ij->i", self._root, self._root)  # M_ii
        return (
            0.5
            * SEVERAL
            * EPS
            * float(variances @ np.einsum("ki,kl,li->i", C, F, C, optimize=True))
        )

    def whitened_features(self, X: FloatArray) -> FloatArray:
        """K_XU L_U^-T [m, d] with L_U L_U^T = M."""
        if X.shape[1] != self.inducing_points.shape[1]:
            raise DataError(
                f"the inducing points have {self.inducing_points.shape[1]} columns, the data"
                f" {X.shape[1]};"
                " choose them from the same features"
            )
        if not len(X):
            return np.zeros((0, len(self._root)))
        K_UX = np.asarray(self.kernel(self.inducing_points, X), dtype=np.float64)
        return solve_lower(self._root, K_UX).T

    def feature_bounds(self, inputs: int) -> FeatureBounds:
        """|a(x)|^2 = k_xU M^-1 k_Ux is at most k(x, x), which stationary kernels bound."""
        return FeatureBounds(largest=kernels.largest_variance(self.kernel, inputs))

    @property
    def inputs_within(self) -> FloatArray:
        """The inducing points go wherever the model goes."""
        return self.inducing_points

    def residual_variance(self, X: FloatArray, A: FloatArray) -> FloatArray:
        """k_** - k_*U M^-1 k_U*: what the inducing points leave open at X [m]."""
        return np.asarray(np.maximum(self.kernel.diag(X) - np.einsum("ij,ij->i", A, A), 0.0))

    def _likelihoods(self, rows: int) -> Likelihoods:
        U = self.inducing_points
        return Likelihoods(
            partial(dtc_likelihood, U=U),
            partial(dtc_likelihood_of_sets, U=U),
            entries=rows * len(U),
        )

    def with_prior_scaled(self, factor: float) -> "SparseGaussianProcess":
        """The same with another kernel, factor times this one."""
        return replace(self, kernel=kernels.scaled(self.kernel, factor))
