"""DTC with a squared exponential in sixty decimals: what no double can tell about inducing points
that are close.
"""

from decimal import Decimal, localcontext

import numpy as np

DIGITS = 60
exactly = np.vectorize(Decimal, otypes=[object])
exponential = np.vectorize(Decimal.exp, otypes=[object])


def information_gain(X, U, *, length_scale, noise, jitter):
    """1/2 log|I + K_XU M^-1 K_UX / noise| with M = K_UU + jitter diag(K_UU).

    It is computed as log|M + K_UX K_XU / noise| - log|M|.
    """
    with localcontext(prec=DIGITS):
        X, U, scale = exactly(X), exactly(U), Decimal(length_scale)
        M = covariance(U, U, scale)
        M[np.diag_indices(len(M))] *= 1 + Decimal(jitter)
        K_XU = covariance(X, U, scale)
        return float((log_det(M + K_XU.T @ K_XU / Decimal(noise)) - log_det(M)) / 2)


def covariance(X, Z, scale):
    squares = ((X[:, None] - Z[None]) / scale) ** 2
    return exponential(-squares.sum(axis=2) / 2)


def log_det(M):
    """By elimination; no pivots, as M is positive definite."""
    M, total = M.copy(), Decimal(0)
    for k in range(len(M)):
        total += M[k, k].ln()
        below = M[k + 1 :, k] / M[k, k]
        M[k + 1 :] -= np.outer(below, M[k])
    return total
