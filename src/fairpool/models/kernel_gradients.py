"""Derivatives of a kernel matrix by its parameters, without an (m, m, p) tensor.

A likelihood's gradient needs only sums sum_ij G_ij dK_ij/dtheta for one given matrix G. Going
through the kernel's expression from the outside in (a sum passes G on, a product passes G times the
other factor) leaves one such sum per simple kernel. For a stationary kernel f(r) with length scales
l,

    sum_ij W_ij (x_i - z_j)^2 / l^2,   W = G * (-f'(r) / r)

is, per feature, two row sums and one matrix product.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as sk

from fairpool.tables.arrays import FloatArray

Pullback = Callable[[FloatArray], FloatArray]
"""From G [m, q] to the derivatives of sum_ij G_ij K_ij by the kernel's theta.

Theta are logarithms, as in scikit-learn.
"""

NOTHING = np.empty(0)

BLOCK = 2**16
"""Entries of W computed at a time.

Half a megabyte stays in the processor's cache until all its sums are taken.
"""


def kernel_with_gradient(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    """K_XZ [m, q], which the caller may overwrite, and its pullback, which leaves G as it is."""
    if not has_own_gradient(kernel):
        return _any_kernel(kernel, X, Z)
    K, pullback = _expression(kernel, X, Z)
    if not K.ndim:
        return np.full((len(X), len(Z)), K), lambda G: pullback(np.asarray(G.sum()))
    if type(kernel) not in (sk.Sum, sk.Product):
        K = K.copy()  # its own pullback needs it; a sum or a product is a new matrix already
    return K, pullback


def has_own_gradient(kernel: Any) -> bool:
    """Whether a kernel is made of constants, RBF, Matern 1/2, 3/2, 5/2, by sums and products."""
    if type(kernel) in (sk.Sum, sk.Product):
        return has_own_gradient(kernel.k1) and has_own_gradient(kernel.k2)
    return type(kernel) in (sk.ConstantKernel, sk.RBF) or (
        type(kernel) is sk.Matern and kernel.nu in (0.5, 1.5, 2.5)
    )


def _expression(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    """The values and their pullback.

    Both K and G are scalars where the kernel is made of constants only.
    """
    if type(kernel) is sk.ConstantKernel:
        return _constant(kernel)
    if type(kernel) not in (sk.Sum, sk.Product):
        return _stationary(kernel, X, Z)
    K1, pullback1 = _expression(kernel.k1, X, Z)
    K2, pullback2 = _expression(kernel.k2, X, Z)
    if type(kernel) is sk.Sum:
        return K1 + K2, lambda G: np.concatenate(
            [_of_term(K1, pullback1, G), _of_term(K2, pullback2, G)]
        )
    return K1 * K2, lambda G: np.concatenate(
        [_of_factor(K1, pullback1, G, other=K2), _of_factor(K2, pullback2, G, other=K1)]
    )


def _of_term(K: FloatArray, pullback: Pullback, G: FloatArray) -> FloatArray:
    """A scalar term is added to every entry, so that its derivative is the sum over them."""
    return pullback(G if K.ndim else np.asarray(G.sum()))


def _of_factor(
    K: FloatArray, pullback: Pullback, G: FloatArray, *, other: FloatArray
) -> FloatArray:
    """pullback(G * other), without that matrix where one of the factors is a scalar."""
    if not K.ndim:
        return pullback(np.asarray(np.vdot(G, other)))
    return pullback(G * other) if other.ndim else other * pullback(G)


def _constant(kernel: Any) -> tuple[FloatArray, Pullback]:
    c = np.asarray(kernel.constant_value, dtype=np.float64)
    if kernel.hyperparameter_constant_value.fixed:
        return c, lambda _: NOTHING
    return c, lambda G: np.array([c * G])


def _stationary(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    centre = X.mean(axis=0)  # keeps the differences of squares below from cancelling
    A = (X - centre) / kernel.length_scale
    B = (Z - centre) / kernel.length_scale
    nu = getattr(kernel, "nu", np.inf)
    if nu == 0.5:
        K, slope = _exponential(cdist(A, B))
    else:
        K, slope = _smooth(_minus_half_squares(A, B, X is Z), nu)

    def pullback(G: FloatArray) -> FloatArray:
        if kernel.hyperparameter_length_scale.fixed:
            return NOTHING
        A2 = A**2
        B2 = B**2
        by_feature = np.zeros(A.shape[1])
        step = 1 + BLOCK // (1 + len(B))
        for start in range(0, len(A), step):
            rows = slice(start, start + step)
            W = G[rows] * slope[rows]
            by_feature += (
                W.sum(axis=1) @ A2[rows]
                + W.sum(axis=0) @ B2
                - 2 * np.einsum("ip,ip->p", A[rows], W @ B)
            )
        return np.asarray(by_feature if kernel.anisotropic else by_feature.sum(keepdims=True))

    return K, pullback


def _minus_half_squares(A: FloatArray, B: FloatArray, same: bool) -> FloatArray:
    """-1/2 |a_i - b_j|^2 [m, q] as one matrix product: a.b - 1/2 |a|^2 - 1/2 |b|^2."""
    left = np.column_stack([A, -0.5 * np.einsum("ip,ip->i", A, A), np.ones(len(A))])
    right = np.column_stack([B, np.ones(len(B)), -0.5 * np.einsum("ip,ip->i", B, B)])
    S: FloatArray = left @ right.T
    if same:
        np.fill_diagonal(S, 0.0)  # exactly, whatever the data's scale
    np.minimum(S, 0.0, out=S)
    return S


def _exponential(r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Matern 1/2: f = exp(-r) and -f'/r.

    Where two points coincide the latter has no effect, and 0 stands for it.
    """
    K = np.exp(-r)
    return K, np.divide(K, r, out=np.zeros_like(r), where=r > 1e-12)


def _smooth(S: FloatArray, nu: float) -> tuple[FloatArray, FloatArray]:
    """RBF (nu infinite), Matern 3/2 and 5/2: f and -f'/r at S = -r^2 / 2, which is overwritten."""
    if nu == np.inf:
        K = np.exp(S, out=S)
        return K, K
    t = np.sqrt(np.multiply(S, -4 * nu, out=S), out=S)
    E = np.exp(-t)
    if nu == 1.5:
        return (1 + t) * E, 3 * E
    return (1 + t + t**2 / 3) * E, (5 / 3) * (1 + t) * E


def _any_kernel(kernel: Any, X: FloatArray, Z: FloatArray) -> tuple[FloatArray, Pullback]:
    """By the kernel's own `eval_gradient`.

    A rectangle is cut from the square of both sets, batch by batch.
    """
    if X is Z:
        K, dK = kernel(X, eval_gradient=True)
        # A copy: a scaled kernel may well give K itself as its derivative.
        K = np.array(K, dtype=np.float64)
        return K, lambda G: np.einsum("ij,ijk->k", G, dK)
    step = max(len(Z), 1)
    batches = [X[start : start + step] for start in range(0, len(X), step)]

    def pullback(G: FloatArray) -> FloatArray:
        total = np.zeros(len(kernel.theta))
        for number, batch in enumerate(batches):
            _, dK = kernel(np.concatenate([batch, Z]), eval_gradient=True)
            rectangle = dK[: len(batch), len(batch) :]
            start = number * step
            total += np.einsum("ij,ijk->k", G[start : start + len(batch)], rectangle)
        return total

    return np.asarray(kernel(X, Z)), pullback
