"""Sixty sets of data to learn hyperparameters from, of every kind: Friedman's, smooth, linear, and
mostly noise.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process.kernels import RBF, Matern

import fairpool as fp

COUNT = 60
FAMILIES = ("friedman", "smooth", "linear", "noisy")
NOISES = (0.3, 0.1, 1.0)


@dataclass(frozen=True)
class Problem:
    """Standardised data, and where the search for hyperparameters starts."""

    X: np.ndarray
    y: np.ndarray
    kernel: Any
    noise: float

    @property
    def gp(self):
        return fp.GaussianProcess(self.kernel, self.noise)

    @property
    def sparse_gp(self):
        """As a run of the command makes it: centres of clusters, rounded."""
        U = fp.inducing_points(self.X, 40, rng=0, least_rows=5)
        return fp.SparseGaussianProcess(self.kernel, self.noise, np.unique(U.round(1), axis=0))


def problem(number, least_rows, most_rows):
    """Neighbours differ in family, every four in kernel, every twenty in the start's noise."""
    rng = np.random.default_rng([7, number])
    X, y = _data(FAMILIES[number % 4], int(rng.integers(least_rows, most_rows + 1)), rng)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    p = X.shape[1]
    root, ones = np.full(p, p**0.5), np.ones(p)
    kernels = (
        1.0 * RBF(root),
        1.0 * RBF(ones),
        1.0 * Matern(root, nu=2.5),
        1.0 * RBF(1.0),
        1.0 * RBF(root) + 1.0 * Matern(root, nu=0.5),
    )
    return Problem(
        X.round(4), (y - y.mean()) / y.std(), kernels[number // 4 % 5], NOISES[number // 20]
    )


def _data(family, m, rng):
    if family == "friedman":
        seed = int(rng.integers(2**31))
        return make_friedman1(
            m,
            n_features=int(rng.integers(5, 11)),
            noise=rng.choice([0.1, 0.5, 3]),
            random_state=seed,
        )
    if family == "smooth":
        X = rng.uniform(-2, 2, (m, int(rng.integers(1, 5))))
        waves = np.sin(X @ rng.standard_normal((X.shape[1], 3)) + rng.uniform(0, 3, 3))
        return X, waves.sum(axis=1) + rng.choice([0.01, 0.1, 0.5]) * rng.standard_normal(m)
    if family == "linear":
        p = int(rng.integers(2, 9))
        X = rng.standard_normal((m, p)) @ rng.standard_normal((p, p))
        return X, X @ rng.standard_normal(p) + rng.choice([0.01, 0.3, 2]) * rng.standard_normal(m)
    X = rng.standard_normal((m, int(rng.integers(1, 7))))
    return X, 0.5 * np.tanh(X[:, 0]) + rng.choice([1, 3]) * rng.standard_normal(m)
