"""Derivatives of a kernel matrix by its parameters, without an (m, m, p) tensor.

A likelihood's gradient needs only sums sum_ij G_ij dK_ij/dtheta for one given matrix G. Going through the kernel's
expression from the outside in (a sum passes G on, a product passes G times the other factor) leaves one such
sum per simple kernel. For a stationary kernel f(r) with length scales l,

    sum_ij W_ij (x_i - z_j)^2 / l^2,   W = G * (-f'(r) / r)

is, per feature, two row sums and one matrix product.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as sk

from fairpool.arrays import FloatArray

Pullback = Callable[[FloatArray], FloatArray]
"""From G [m, q] to the derivatives of sum_ij G_ij K_ij by the kernel's theta (logarithms, as in scikit-learn)."""

NOTHING = np.empty(0)


def kernel_with_gradient(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    """K_XZ [m, q] and its pullback."""
    if has_own_gradient(kernel):
        K, pullback = _expression(kernel, X, Z)
        # A constant is computed as a scalar; only here, at the outside, it must be a matrix.
        return np.array(np.broadcast_to(K, (len(X), len(Z)))), pullback
    return _any_kernel(kernel, X, Z)


def has_own_gradient(kernel: Any) -> bool:
    """Whether the kernel is made of constants, RBF and Matern 1/2, 3/2, 5/2, by sums and products."""
    if type(kernel) in (sk.Sum, sk.Product):
        return has_own_gradient(kernel.k1) and has_own_gradient(kernel.k2)
    return type(kernel) in (sk.ConstantKernel, sk.RBF) or (type(kernel) is sk.Matern and kernel.nu in (0.5, 1.5, 2.5))


def _expression(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    if type(kernel) is sk.ConstantKernel:
        return _constant(kernel)
    if type(kernel) not in (sk.Sum, sk.Product):
        return _stationary(kernel, X, Z)
    K1, pullback1 = _expression(kernel.k1, X, Z)
    K2, pullback2 = _expression(kernel.k2, X, Z)
    if type(kernel) is sk.Sum:
        return K1 + K2, lambda G: np.concatenate([pullback1(G), pullback2(G)])
    return K1 * K2, lambda G: np.concatenate([pullback1(G * K2), pullback2(G * K1)])


def _constant(kernel: Any) -> tuple[FloatArray, Pullback]:
    c = np.float64(kernel.constant_value)
    if kernel.hyperparameter_constant_value.fixed:
        return np.asarray(c), lambda _: NOTHING
    return np.asarray(c), lambda G: np.array([c * G.sum()])


def _stationary(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    centre = X.mean(axis=0)  # keeps the differences of squares below from cancelling
    A, B = (X - centre) / kernel.length_scale, (Z - centre) / kernel.length_scale
    nu = getattr(kernel, "nu", np.inf)
    if nu == 0.5:
        K, slope = _exponential(np.sqrt(cdist(A, B, "sqeuclidean")))
    else:
        r2 = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * (A @ B.T)
        if X is Z:
            np.fill_diagonal(r2, 0.0)  # exactly, whatever the data's scale
        K, slope = _smooth(np.maximum(r2, 0.0, out=r2), nu)

    def pullback(G: FloatArray) -> FloatArray:
        if kernel.hyperparameter_length_scale.fixed:
            return NOTHING
        W = G * slope
        by_feature = W.sum(axis=1) @ A**2 + W.sum(axis=0) @ B**2 - 2 * np.einsum("ip,ip->p", A, W @ B)
        return np.asarray(by_feature if kernel.anisotropic else by_feature.sum(keepdims=True))

    return K, pullback


def _exponential(r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matern 1/2: f = exp(-r) and -f'/r; where two points coincide the latter has no effect, and 0 stands for it."""
    K = np.exp(-r)
    return K, np.divide(K, r, out=np.zeros_like(r), where=r > 1e-12)


def _smooth(r2: FloatArray, nu: float) -> tuple[FloatArray, FloatArray]:
    """RBF (nu infinite), Matern 3/2 and 5/2: f and -f'/r."""
    if nu == np.inf:
        K = np.exp(-0.5 * r2)
        return K, K
    t = np.sqrt(2 * nu * r2)
    E = np.exp(-t)
    if nu == 1.5:
        return (1 + t) * E, 3 * E
    return (1 + t + t**2 / 3) * E, (5 / 3) * (1 + t) * E


def _any_kernel(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    """By the kernel's own `eval_gradient`; a rectangle is cut from the square of both sets, batch by batch."""
    if X is Z:
        K, dK = kernel(X, eval_gradient=True)
        return K, lambda G: np.einsum("ij,ijk->k", G, dK)
    step = max(len(Z), 1)
    batches = [X[start : start + step] for start in range(0, len(X), step)]

    def pullback(G: FloatArray) -> FloatArray:
        total = np.zeros(len(kernel.theta))
        for number, batch in enumerate(batches):
            dK = kernel(np.concatenate([batch, Z]), eval_gradient=True)[1][: len(batch), len(batch) :]
            total += np.einsum("ij,ijk->k", G[number * step : number * step + len(batch)], dK)
        return total

    return np.asarray(kernel(X, Z)), pullback
