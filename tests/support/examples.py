"""Parties and models that many tests share."""

import numpy as np
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, RationalQuadratic
from sklearn.preprocessing import PolynomialFeatures

import fairpool as fp

P = 3  # input columns


def labels(X, rng):
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(len(X))


def make_parties(sizes, rng, noise=None):
    rng = np.random.default_rng(rng)
    parties = []
    for i, size in enumerate(sizes):
        X = rng.normal(0.3 * i, 1, (size, P))
        own = None if noise is None else noise(size, rng)
        parties.append(fp.Party(f"p{i}", X, labels(X, rng), own))
    return parties


def network():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, P))
    return fp.NetworkFeatures.train(X, labels(X, rng), hidden_layers=(8, 6), rng=0, max_iter=50)


COVARIANCE = np.array([[2.0, 0.5, 0, 0], [0.5, 1.0, 0.2, 0], [0, 0.2, 1.5, 0.1], [0, 0, 0.1, 0.7]])
INDUCING = np.random.default_rng(3).standard_normal((7, P))

WAVES = 1.3 * RBF([0.8, 1.2, 2.0]) + 0.4 * Matern([1.0, 2.0, 3.0], nu=1.5)

MODELS = {
    "gp": fp.GaussianProcess(1.3 * RBF([0.8, 1.2, 2.0]), 0.3),
    "gp-composite": fp.GaussianProcess(0.7 * RBF(1.5) + 0.5 * Matern([1.0, 2.0, 3.0], nu=0.5), 0.2),
    "gp-other": fp.GaussianProcess(RationalQuadratic(1.0, 2.0) + 0.1 * DotProduct(0.5), 0.4),
    "sparse": fp.SparseGaussianProcess(1.3 * RBF([0.8, 1.2, 2.0]), 0.3, INDUCING),
    "fourier": fp.FourierGaussianProcess(WAVES, 0.3, fp.fourier_frequencies(WAVES, P, 12)),
    "blr": fp.BayesianLinearRegression(0.5),
    "blr-prior": fp.BayesianLinearRegression(0.5, COVARIANCE, [0.3, -1.0, 0.2, 0.5]),
    "blr-wide": fp.BayesianLinearRegression(
        0.5, 0.7, features=PolynomialFeatures(5).fit(np.zeros((1, P))), bias=False
    ),
    "network": fp.BayesianLinearRegression(0.2, features=network()),
}
"""Every kind of model, both spaces: "blr-wide" has 56 features, so that few rows take it to kernel
space.
"""

NOISES = {
    "model": None,
    "per party": lambda size, rng: rng.uniform(0.1, 2),
    "per row": lambda size, rng: rng.uniform(0.1, 2, size),
    "some infinite": lambda size, rng: np.where(rng.uniform(size=size) < 0.3, np.inf, 0.4),
}
"""Noise variances of every kind: none of the party's own, one, one per row, some rows silent."""
