"""Maximum likelihood: kernel parameters and noise variance, by L-BFGS in their logarithms."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.base import clone

from fairpool.arrays import FloatArray, as_count, as_generator
from fairpool.errors import DataError, FairpoolWarning
from fairpool.models.kernels import check_dimensions

NOISE_BOUNDS = (1e-5, 1e5)
"""Where the noise variance is searched, the same as scikit-learn's WhiteKernel."""

IMPOSSIBLE = 1e25
"""Stands for minus the likelihood where the covariance cannot be factorised: L-BFGS then steps back."""

MEMORY = 30
"""Steps that L-BFGS remembers: they cost nothing beside a likelihood, and spare evaluations where there are many."""

Likelihood = Callable[[Any, float, FloatArray, FloatArray], tuple[float, FloatArray]]
"""(kernel, noise, X, y) -> value, gradient by the kernel's theta and log noise."""


def maximise_likelihood(
    likelihood: Likelihood,
    kernel: Any,
    noise: float,
    X: FloatArray,
    y: FloatArray,
    rng: np.random.Generator | int | None,
    restarts: int,
    noise_bounds: tuple[float, float],
) -> tuple[Any, float]:
    """The kernel and noise variance of the largest likelihood found.

    The first search starts at the given values, the others uniformly within the bounds (in logarithms).
    """
    check_noise_bounds(noise_bounds)
    check_dimensions(kernel, X.shape[1])
    kernel = clone(kernel)

    def minus_likelihood(theta: FloatArray) -> tuple[float, FloatArray]:
        kernel.theta = theta[:-1]
        try:
            value, gradient = likelihood(kernel, float(np.exp(theta[-1])), X, y)
        except np.linalg.LinAlgError:
            return IMPOSSIBLE, np.zeros_like(theta)
        return -value, -gradient

    bounds = np.vstack([kernel.bounds.reshape(-1, 2), np.log(noise_bounds)])
    given = np.append(kernel.theta, np.log(noise))
    if restarts and not np.isfinite(bounds).all():
        raise DataError("random restarts need finite bounds for every parameter of the kernel")
    rng = as_generator(rng)
    starts = [np.clip(given, *bounds.T), *(rng.uniform(*bounds.T) for _ in range(as_count(restarts, "restarts", 0)))]
    runs: list[OptimizeResult] = [
        minimize(minus_likelihood, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxcor": MEMORY})
        for start in starts
    ]
    best = min(runs, key=lambda run: run.fun)
    if best.fun >= IMPOSSIBLE:
        raise DataError(
            "the likelihood cannot be computed at the start: the kernel matrix is not positive definite;"
            " start from a larger noise variance or shorter length scales"
        )
    if best.status == 1:
        warnings.warn(f"the likelihood's search stopped early: {best.message}", FairpoolWarning, stacklevel=3)
    noise = float(np.exp(best.x[-1]))
    warn_at_bound(noise, noise_bounds)
    kernel.theta = best.x[:-1]
    return kernel, noise


def check_noise_bounds(bounds: tuple[float, float]) -> None:
    """Refuse bounds that no noise variance can lie between."""
    if not 0 < bounds[0] < bounds[1] < np.inf:
        raise DataError(f"noise_bounds {bounds} must be two finite numbers above 0, the smaller first")


def warn_at_bound(noise: float, bounds: tuple[float, float]) -> None:
    """Say so where the best noise variance is at the end of what was searched: the labels' scale is unusual."""
    if min(noise / bounds[0], bounds[1] / noise) < 1 + 1e-4:
        warnings.warn(
            f"the best noise variance found, {noise:.3g}, is at the end of the range searched; standardise the labels,"
            f" or give other noise_bounds than {bounds}",
            FairpoolWarning,
            stacklevel=4,
        )
