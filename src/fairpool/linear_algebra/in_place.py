"""Operations that overwrite what they are given: one matrix holds what would take three.

A likelihood takes as long to move its matrices as to compute with them, so nothing is copied. That
needs LAPACK's order of entries. A symmetric matrix in numpy's order is, transposed, the same matrix
in LAPACK's, and so `factorise` turns the order; `invert` and `add_outer` take what it gives. In
another order results are right, but come in a copy.
"""

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri

from fairpool.linear_algebra.cholesky import NotComputable
from fairpool.tables.arrays import FloatArray


def factorise(B: FloatArray) -> FloatArray:
    """L with L L^T = B, lower with zeros above, in the memory of B.

    Args:
        B: Symmetric and positive definite [k, k], in numpy's order.

    Raises:
        NotComputable: Where B is not positive definite.
    """
    L, failed = dpotrf(B.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise NotComputable("a matrix is not positive definite")
    return np.asarray(L)


def invert(L: FloatArray) -> FloatArray:
    """The lower triangle of (L L^T)^-1, in the memory of L; what L has above it stays.

    Args:
        L: Lower [k, k], in LAPACK's order, as a factor is.

    Raises:
        NotComputable: Where L has a 0 on its diagonal.
    """
    inverse, failed = dpotri(L, lower=1, overwrite_c=1)
    if failed:
        raise NotComputable("a factor is singular")
    return np.asarray(inverse)


def add_outer(M: FloatArray, weight: float, a: FloatArray) -> FloatArray:
    """M + weight a a^T, in the memory of M.

    Args:
        M: Any matrix [k, k], in LAPACK's order.
        weight: How much of it is added.
        a: [k].
    """
    return np.asarray(dger(weight, a, a, a=M, overwrite_a=1))
