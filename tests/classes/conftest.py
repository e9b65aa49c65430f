"""Parties with classes, and every kind of model for them."""

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import fairpool as fp

KERNEL = ConstantKernel(8.0) * RBF(1.3)


def rows_of_classes(k: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs [m, 2] around k centres on a circle, and which centre each is around."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, m).astype(float)
    angle = 2 * np.pi * y / k
    X = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + rng.normal(0, 0.8, X.shape), y


def parties_of_classes(k: int, sizes: tuple[int, ...], seed: int = 0) -> list[fp.Party]:
    """Parties named p0, p1, ... whose rows are of all classes."""
    parties = []
    for i, m in enumerate(sizes):
        X, y = rows_of_classes(k, m, 100 * seed + i)
        parties.append(fp.Party(f"p{i}", X, y))
    return parties


def base_models() -> dict[str, Any]:
    """One of each kind."""
    U = np.random.default_rng(3).normal(0, 1.5, (9, 2))
    network = fp.NetworkFeatures.train(*rows_of_classes(2, 60, 9), (8, 6), rng=0, max_iter=50)
    return {
        "gp": fp.GaussianProcess(KERNEL, 1.0),
        "sparse_gp": fp.SparseGaussianProcess(KERNEL, 1.0, U),
        "blr": fp.BayesianLinearRegression(1.0, 3.0),
        "network": fp.BayesianLinearRegression(1.0, 3.0, features=network),
    }


@pytest.fixture(params=["gp", "sparse_gp", "blr", "network"])
def base(request: pytest.FixtureRequest) -> Any:
    return base_models()[request.param]


@pytest.fixture(params=["sparse_gp", "blr", "network"])
def weight_base(request: pytest.FixtureRequest) -> Any:
    return base_models()[request.param]
