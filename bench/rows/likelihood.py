"""Maximum likelihood of an ARD squared exponential on Friedman's data with ten inputs.

All have the same start and the same bounds.

Usage: `python -m bench.rows.likelihood sklearn|gpytorch [--quick]`.
"""

import importlib
import sys
import warnings
from collections.abc import Callable

import numpy as np
import sklearn
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import fairpool as fp
from bench.measure import Row, interleaved, quick

P = 10
TARGETS = {"sklearn": {750: 3, 1600: 5, 3000: 6}, "gpytorch": {750: 1, 1600: 1, 3000: 1}}
START, BOUNDS = np.array([1.0] * (P + 1) + [0.1]), (1e-5, 1e5)
"""Amplitude, length scales and noise variance at the start; and the bounds of them all."""


def data(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function; inputs and labels standardised."""
    X, y = make_friedman1(m, n_features=P, noise=1.0, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def kernel(theta: np.ndarray) -> object:
    """The kernel of given parameters, without the noise."""
    return ConstantKernel(theta[0], BOUNDS) * RBF(theta[1:-1], BOUNDS)


def fit_ours(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """fairpool."""
    model = fp.GaussianProcess(kernel(START), START[-1]).fit_hyperparameters(
        X, y, noise_bounds=BOUNDS
    )
    return np.append(np.exp(model.kernel.theta), model.noise_variance)


def fit_sklearn(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """scikit-learn, with its own optimiser."""
    white = WhiteKernel(START[-1], BOUNDS)
    model = GaussianProcessRegressor(kernel(START) + white, alpha=0.0).fit(X, y)
    return np.exp(model.kernel_.theta)


def fit_gpytorch(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """GPyTorch."""
    return importlib.import_module("bench.peers.gpytorch_fit").fit(X, y, START, BOUNDS)[0]


def achieved(theta: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """The log likelihood, computed in one way for all."""
    return fp.GaussianProcess(kernel(theta), theta[-1]).log_marginal_likelihood(X, y)


def measure(
    peer: str, fit: Callable[[np.ndarray, np.ndarray], np.ndarray], m: int, repeats: int
) -> None:
    """One peer, one size. The likelihoods must agree, or ours be the larger."""
    X, y = data(m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, found = interleaved(
            {"ours": lambda: fit_ours(X, y), "theirs": lambda: fit(X, y)}, repeats
        )
    ours, theirs = (achieved(found[way], X, y) for way in ("ours", "theirs"))
    if ours < theirs - 0.01:
        raise AssertionError(f"log likelihood {ours} is below {peer}'s {theirs}")
    Row.timed(
        seconds,
        at_least=TARGETS[peer][m],
        row="maximum likelihood, ARD squared exponential",
        size=f"m = {m}, p = {P}",
        against=f"scikit-learn {sklearn.__version__}"
        if peer == "sklearn"
        else f"GPyTorch {importlib.import_module('gpytorch').__version__}",
        equal=f"log likelihood: {ours:.4f}, theirs {theirs:.4f}",
    ).print()


def main() -> None:
    """All sizes; the large ones once, since they take minutes."""
    peer = sys.argv[1]
    fit = {"sklearn": fit_sklearn, "gpytorch": fit_gpytorch}[peer]
    for m, repeats in ((750, 1),) if quick() else ((750, 3), (1600, 1), (3000, 1)):
        measure(peer, fit, m, repeats)


if __name__ == "__main__":
    main()
