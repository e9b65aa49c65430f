"""Maximum likelihood: kernel parameters and noise variance, by L-BFGS in their logarithms."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.base import clone

from fairpool.arrays import FloatArray
from fairpool.errors import DataError, FairpoolWarning

NOISE_BOUNDS = (1e-5, 1e5)
"""Where the noise variance is searched, the same as scikit-learn's WhiteKernel."""

IMPOSSIBLE = 1e25
"""Stands for minus the likelihood where the covariance cannot be factorised: L-BFGS then steps back."""

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
    if not len(y) or y.ndim != 1:
        raise DataError(f"hyperparameters cannot be learned from labels of shape {y.shape}; give at least one row")
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
    rng = np.random.default_rng(rng)
    starts = [np.clip(given, *bounds.T), *(rng.uniform(*bounds.T) for _ in range(restarts))]
    runs: list[OptimizeResult] = [
        minimize(minus_likelihood, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts
    ]
    best = min(runs, key=lambda run: run.fun)
    if best.fun >= IMPOSSIBLE:
        raise DataError(
            "the likelihood cannot be computed at the start: the kernel matrix is not positive definite;"
            " start from a larger noise variance or shorter length scales"
        )
    if best.status == 1:
        warnings.warn(f"the likelihood's search stopped early: {best.message}", FairpoolWarning, stacklevel=3)
    kernel.theta = best.x[:-1]
    return kernel, float(np.exp(best.x[-1]))
