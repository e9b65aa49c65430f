"""Log marginal likelihoods with their gradients.

The gradients are by the logarithms of the kernel's parameters and of the noise variance.
"""

from typing import Any

import numpy as np

from fairpool.linear_algebra import in_place
from fairpool.linear_algebra.cholesky import lower_factors
from fairpool.linear_algebra.log_determinant import half_log_determinant_by_factor
from fairpool.linear_algebra.solving import solve_factorised, solve_lower
from fairpool.models.kernel_gradients import kernel_with_gradient
from fairpool.tables.arrays import TINY, FloatArray

LOG_2PI = float(np.log(2 * np.pi))

JITTER = 1e-12
"""What a sparse Gaussian process adds to each inducing value's prior variance, as a share of it.

It is part of the model, not a tolerance: see `SparseGaussianProcess`. A smaller share would leave
values to rounding (their error grows as 1e-16 / share), a larger one would change them where K_UU
is well conditioned, too (in proportion to the share).
"""


def gp_likelihood(
    kernel: Any, noise: float, X: FloatArray, y: FloatArray
) -> tuple[float, FloatArray]:
    """log N(y; 0, K + noise I) and its gradient [len(theta) + 1], the noise last.

    With C = K + noise I and a = C^-1 y, the derivative by any entry of C is G = 1/2 (a a^T - C^-1).
    Since C is symmetric, only G + G^T matters, and a triangle of C^-1 with half its diagonal does
    for 1/2 C^-1. So one matrix holds K, its factor, C^-1 and -G in turn: nothing is copied, and no
    second triangle is ever filled in.
    """
    K, pullback = kernel_with_gradient(kernel, X, X)
    K[np.diag_indices_from(K)] += noise
    L = in_place.factorise(K)
    a = solve_factorised(L, y)
    value = -0.5 * (y @ a + len(y) * LOG_2PI) - half_log_determinant_by_factor(L)
    C_inverse = in_place.invert(L)
    np.fill_diagonal(C_inverse, 0.5 * np.diag(C_inverse))
    minus_G = in_place.add_outer(C_inverse, -0.5, a)
    return float(value), -np.append(pullback(minus_G.T), noise * minus_G.trace())


def dtc_likelihood(
    kernel: Any, noise: float, X: FloatArray, y: FloatArray, U: FloatArray
) -> tuple[float, FloatArray]:
    """log N(y; 0, Q + noise I) and its gradient [len(theta) + 1], the noise last; in O(m d^2).

    Here Q = K_XU M^-1 K_UX with M = K_UU + JITTER diag(K_UU).

    With M = L_U L_U^T, A = K_XU L_U^-T and B = I + A^T A / noise, C^-1 A = A B^-1 / noise, so that
    G = 1/2 (a a^T - C^-1) is never formed: the derivative by K_XU is 2 G V and by M it is -V^T G V,
    where V = K_XU M^-1 = A L_U^-1.
    """
    m = len(X)
    d = len(U)
    _, pullback_UU = kernel_with_gradient(kernel, U, U)
    K_XU, pullback_XU = kernel_with_gradient(kernel, X, U)
    # This is the kernel's own K_UU, as the model uses it: rounding matters where points are close.
    L_U = lower_factors(inducing_covariance(np.asarray(kernel(U), dtype=np.float64)))
    A = solve_lower(L_U, K_XU.T).T
    L_B = lower_factors(np.eye(d) + A.T @ A / noise)
    w = solve_factorised(L_B, A.T @ y) / noise
    residual = y - A @ w
    a = residual / noise
    log_det = 2 * half_log_determinant_by_factor(L_B) + m * np.log(noise)
    value = -0.5 * (residual @ residual / noise + w @ w + log_det + m * LOG_2PI)

    B_inverse = solve_factorised(L_B, np.eye(d))
    L_U_inverse = solve_lower(L_U, np.eye(d))
    V = A @ L_U_inverse
    GV = 0.5 * (np.outer(a, a @ V) - A @ (B_inverse @ L_U_inverse) / noise)
    trace_C_inverse = (m - d + B_inverse.trace()) / noise
    by_K_UU = -(V.T @ GV)
    by_K_UU[np.diag_indices(d)] *= 1 + JITTER
    gradient = pullback_XU(2 * GV) + pullback_UU(by_K_UU)
    return float(value), np.append(gradient, 0.5 * noise * (a @ a - trace_C_inverse))


def gp_likelihood_of_sets(
    kernel: Any, X: FloatArray, Y: FloatArray, noise: FloatArray
) -> tuple[float, FloatArray]:
    """Sum over sets of labels of log N(y; 0, K + diag(noise)), and its gradient by theta.

    As `gp_likelihood`, with K and its pullback once for all sets: the latter is linear in G.

    Args:
        kernel: Of all sets.
        X: Inputs [m, p].
        Y: Labels [m, k].
        noise: Their noise variances [m, k].
    """
    K, pullback = kernel_with_gradient(kernel, X, X)
    diagonal = np.diag_indices_from(K)
    value = 0.0
    minus_G = np.zeros_like(K, order="F")
    for y, s2 in zip(Y.T, noise.T, strict=True):
        C = np.array(K, order="C")
        C[diagonal] += s2
        L = in_place.factorise(C)
        a = solve_factorised(L, y)
        value -= 0.5 * (y @ a + len(y) * LOG_2PI) + half_log_determinant_by_factor(L)
        C_inverse = in_place.invert(L)
        np.fill_diagonal(C_inverse, 0.5 * np.diag(C_inverse))
        minus_G += in_place.add_outer(C_inverse, -0.5, a)
    return float(value), -pullback(minus_G.T)


def dtc_likelihood_of_sets(
    kernel: Any, X: FloatArray, Y: FloatArray, noise: FloatArray, *, U: FloatArray
) -> tuple[float, FloatArray]:
    """Sum over sets of labels of log N(y; 0, Q + diag(noise)), and its gradient by theta.

    As `dtc_likelihood` of rows and labels over their noise deviations, which have noise 1.

    Args:
        kernel: Of all sets.
        X: Inputs [m, p].
        Y: Labels [m, k].
        noise: Their noise variances [m, k].
        U: Inducing points [d, p].
    """
    d = len(U)
    _, pullback_UU = kernel_with_gradient(kernel, U, U)
    K_XU, pullback_XU = kernel_with_gradient(kernel, X, U)
    L_U = lower_factors(inducing_covariance(np.asarray(kernel(U), dtype=np.float64)))
    L_U_inverse = solve_lower(L_U, np.eye(d))
    A_of_all = solve_lower(L_U, K_XU.T).T
    value = 0.0
    by_K_XU = np.zeros_like(K_XU)
    by_K_UU = np.zeros((d, d))
    for y, s2 in zip(Y.T, noise.T, strict=True):
        scale = 1 / np.sqrt(s2)
        A = A_of_all * scale[:, None]
        L_B = lower_factors(np.eye(d) + A.T @ A)
        w = solve_factorised(L_B, A.T @ (scale * y))
        a = scale * y - A @ w
        log_det = 2 * half_log_determinant_by_factor(L_B) + float(np.log(s2).sum())
        value -= 0.5 * (float(a @ a + w @ w) + log_det + len(y) * LOG_2PI)
        V = A @ L_U_inverse
        GV = 0.5 * (np.outer(a, a @ V) - A @ solve_factorised(L_B, L_U_inverse))
        by_K_XU += 2 * scale[:, None] * GV
        by_K_UU -= V.T @ GV
    by_K_UU[np.diag_indices(d)] *= 1 + JITTER
    return float(value), pullback_XU(by_K_XU) + pullback_UU(by_K_UU)


def weight_likelihood(
    A: FloatArray, noise: float, y: FloatArray
) -> tuple[float, FloatArray, float]:
    """log N(y; 0, A A^T + noise I), its derivatives by A [m, d], and by log noise; in O(m d^2).

    With C = A A^T + noise I, a = C^-1 y and G = 1/2 (a a^T - C^-1), the derivative by A is 2 G A,
    and C^-1 A = A B^-1 / noise for B = I + A^T A / noise.
    """
    m, d = A.shape
    L_B = lower_factors(np.eye(d) + A.T @ A / noise)
    w = solve_factorised(L_B, A.T @ y) / noise
    residual = y - A @ w
    a = residual / noise
    log_det = 2 * half_log_determinant_by_factor(L_B) + m * np.log(noise)
    value = -0.5 * (residual @ residual / noise + w @ w + log_det + m * LOG_2PI)
    B_inverse = solve_factorised(L_B, np.eye(d))
    by_A = np.outer(a, a @ A) - A @ B_inverse / noise
    trace_C_inverse = (m - d + B_inverse.trace()) / noise
    return float(value), by_A, float(0.5 * noise * (a @ a - trace_C_inverse))


def weight_likelihood_of_sets(
    A: FloatArray, Y: FloatArray, noise: FloatArray
) -> tuple[float, FloatArray]:
    """Sum over sets of labels of log N(y; 0, A A^T + diag(noise)), and its derivatives by A.

    As `weight_likelihood` of rows and labels over their noise deviations, which have noise 1.

    Args:
        A: Features of all sets [m, d].
        Y: Labels [m, k].
        noise: Their noise variances [m, k].
    """
    value = 0.0
    by_A = np.zeros_like(A)
    for y, s2 in zip(Y.T, noise.T, strict=True):
        scale = 1 / np.sqrt(s2)
        of_set, by_scaled, _ = weight_likelihood(A * scale[:, None], 1.0, scale * y)
        value += of_set - 0.5 * float(np.log(s2).sum())
        by_A += scale[:, None] * by_scaled
    return value, by_A


def inducing_covariance(K_UU: FloatArray) -> FloatArray:
    """K_UU + JITTER diag(K_UU) [d, d], the covariance of what the model takes for the values at U.

    It can be factorised wherever the points lie, and no point is left out, whatever the kernel's
    parameters.
    """
    M = K_UU.copy()
    # A point without any variance (a linear kernel's origin) tells nothing, and must not stop the
    # factorisation.
    np.fill_diagonal(M, np.maximum((1 + JITTER) * np.diag(K_UU), TINY))
    return M
