"""Linear equations: with a factor that is known, with half of it, and without one."""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrs

from fairpool.tables.arrays import FloatArray


def solve_lower(L: FloatArray, Y: FloatArray) -> FloatArray:
    """L^-1 Y, for L lower [k, k] and Y [k] or [k, q]."""
    return np.asarray(solve_triangular(L, Y, lower=True, check_finite=False))


def solve_factorised(L: FloatArray, Y: FloatArray) -> FloatArray:
    """B^-1 Y, for B = L L^T [k, k] by its lower factor, and Y [k] or [k, q]."""
    if not Y.size:  # LAPACK refuses a matrix without rows, aloud
        return np.empty_like(Y)
    solution, _ = dpotrs(L, Y, lower=1)
    return np.asarray(solution)


def solve(B: FloatArray, Y: FloatArray) -> FloatArray:
    """B^-1 Y, for any B that has an inverse [..., k, k], and Y [..., k, q]."""
    return np.asarray(np.linalg.solve(B, Y))
