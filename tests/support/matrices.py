"""Matrices to compute with."""

import numpy as np


def positive_definite(k, seed):
    """A covariance [k, k] whose eigenvalues lie between 0.5 and some ten."""
    A = np.random.default_rng(seed).standard_normal((k, k))
    return A @ A.T + 0.5 * np.eye(k)


def symmetric(k, seed):
    """A matrix [k, k] with eigenvalues of both signs."""
    A = np.random.default_rng(seed).standard_normal((k, k))
    return A + A.T
