"""Linear equations: with a factor that is known, with half of it, and without one."""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrs, dtrtrs

from fairpool.linear_algebra.cholesky import NotComputable
from fairpool.tables.arrays import FloatArray


def solve_lower(L: FloatArray, Y: FloatArray) -> FloatArray:
    """L^-1 Y, for L lower [k, k] and Y [k] or [k, q]."""
    return np.asarray(solve_triangular(L, Y, lower=True, check_finite=False))


def solve_lower_each(L: FloatArray, Y: FloatArray) -> FloatArray:
    """L_c^-1 Y_c for every c, for L lower [c, k, k] and Y [c, k, q]: made for many small ones.

    Where k is small, what `solve_lower` looks at before it computes takes longer than computing.
    """
    X = np.empty_like(Y)
    if not Y.size:  # LAPACK refuses a matrix without rows, aloud
        return X
    for c, (L_c, Y_c) in enumerate(zip(L, Y, strict=True)):
        # The transpose is in the order that LAPACK has, and is not copied.
        X[c], info = dtrtrs(L_c.T, Y_c, lower=0, trans=1)
        if info:
            raise NotComputable(f"matrix {c} of {len(L)} is singular")
    return X


def solve_factorised(L: FloatArray, Y: FloatArray) -> FloatArray:
    """B^-1 Y, for B = L L^T [k, k] by its lower factor, and Y [k] or [k, q]."""
    if not Y.size:  # LAPACK refuses a matrix without rows, aloud
        return np.empty_like(Y)
    solution, _ = dpotrs(L, Y, lower=1)
    return np.asarray(solution)


def solve(B: FloatArray, Y: FloatArray) -> FloatArray:
    """B^-1 Y, for any B that has an inverse [..., k, k], and Y [..., k, q]."""
    return np.asarray(np.linalg.solve(B, Y))
