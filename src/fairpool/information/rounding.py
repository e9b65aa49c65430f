"""How far rounding may put a log-determinant off, whatever the units of a column.

A Cholesky factorisation of B is exact for a matrix B + E with |E_ij| <= eps sqrt(B_ii B_jj), up to a small factor. So
log|B| is off by about tr(B^-1 E), which is at most

    eps sum_i B_ii (B^-1)_ii  =  eps tr(H^-1),    H_ij = B_ij / sqrt(B_ii B_jj)

H has a diagonal of ones, and does not change when a column is measured in another unit. (eps tr(B), which is larger,
does.)
"""

import numpy as np

from fairpool.arrays import FloatArray, with_unit_diagonal

EPS = float(np.finfo(float).eps)

RELATIVE_TOLERANCE = 1e-9
"""Two values closer than this, relative to the largest, are the same: rounding alone tells them apart."""


def coarse_bound(trace: float, size: int) -> float | None:
    """eps tr(B) for B = I + P of this size, where that is negligible beside the value 1/2 log|B|; None elsewhere.

    It needs no inverse. The value is at least 1/2 log(1 + tr P), so that nothing but the trace of P has to be known.
    """
    bound = EPS * (size + trace)
    value = 0.5 * np.log1p(trace)
    return bound if bound <= RELATIVE_TOLERANCE * value else None


def fine_bound(B: FloatArray) -> float:
    """eps tr(H^-1), for a stack of matrices [s, k, k] the sum over them; infinite where H is singular to rounding."""
    try:
        inverse = np.linalg.inv(with_unit_diagonal(B))
    except np.linalg.LinAlgError:
        return np.inf
    diagonal = np.diagonal(inverse, axis1=-2, axis2=-1)
    # In exact arithmetic no entry is below 1: one that is shows that the inverse means nothing.
    return EPS * float(diagonal.sum()) if (diagonal >= 1 - 1e-6).all() else np.inf
