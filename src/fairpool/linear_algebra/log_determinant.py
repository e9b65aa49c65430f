"""1/2 log|B| by Cholesky factors; never by a determinant, which overflows."""

import numpy as np

from fairpool.errors import KernelError
from fairpool.linear_algebra.cholesky import lower_factor, not_positive_definite
from fairpool.tables.arrays import FloatArray


def half_log_determinant(B: FloatArray) -> float:
    """1/2 log|B| of one matrix [k, k]."""
    if not len(B):  # the rows of no party
        return 0.0
    return float(np.log(np.diag(lower_factor(B))).sum())


def half_log_determinants(B: FloatArray) -> FloatArray:
    """1/2 log|B| of each of a stack of matrices [s, k, k]."""
    return np.asarray(log_diagonals(B).sum(axis=1))


def log_diagonals(B: FloatArray) -> FloatArray:
    """The logarithms of the diagonals of Cholesky factors, as [s, k].

    Args:
        B: A stack of matrices [s, k, k]; only their lower triangles count.
    """
    try:
        L = np.linalg.cholesky(B)
        diagonals = np.diagonal(L, axis1=1, axis2=2)
        if not np.isfinite(diagonals).all():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        raise KernelError(not_positive_definite(_worst_of(B))) from None
    return np.asarray(np.log(diagonals))


def _worst_of(B: FloatArray) -> FloatArray:
    """The first matrix of a stack [s, k, k] that has no Cholesky factor."""
    for matrix in B:
        if not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] <= 0:
            return np.asarray(matrix)
    # All eigenvalues may come out positive where the factorisation failed by rounding alone.
    return np.asarray(B[0])
