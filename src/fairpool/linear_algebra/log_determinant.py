"""1/2 log|B| by Cholesky factors; never by a determinant, which overflows."""

import numpy as np

from fairpool.errors import KernelError
from fairpool.linear_algebra.cholesky import (
    NotComputable,
    lower_factor,
    lower_factors,
    not_positive_definite,
)
from fairpool.linear_algebra.spectrum import eigenvalues
from fairpool.tables.arrays import FloatArray


def half_log_determinant(B: FloatArray) -> float:
    """1/2 log|B| of one matrix [k, k]."""
    if not len(B):  # the rows of no party
        return 0.0
    return half_log_determinant_by_factor(lower_factor(B))


def half_log_determinant_by_factor(L: FloatArray) -> float:
    """1/2 log|B| of B = L L^T, by its factor L [k, k]."""
    return float(np.log(np.diag(L)).sum())


def half_log_determinants(B: FloatArray) -> FloatArray:
    """1/2 log|B| of each of a stack of matrices [s, k, k]."""
    return np.asarray(log_diagonals(B).sum(axis=1))


def log_diagonals(B: FloatArray) -> FloatArray:
    """The logarithms of the diagonals of Cholesky factors, as [s, k].

    Args:
        B: A stack of matrices [s, k, k]; only their lower triangles count.
    """
    return np.asarray(np.log(np.diagonal(factors_in_words(B), axis1=1, axis2=2)))


def factors_in_words(B: FloatArray) -> FloatArray:
    """The lower factors of a stack of matrices [s, k, k], or an error that a user can act on."""
    try:
        return lower_factors(B)
    except NotComputable:
        raise KernelError(not_positive_definite(_worst_of(B))) from None


def _worst_of(B: FloatArray) -> FloatArray:
    """The first matrix of a stack [s, k, k] that has no Cholesky factor."""
    for matrix in B:
        if not np.isfinite(matrix).all() or eigenvalues(matrix)[0] <= 0:
            return np.asarray(matrix)
    # All eigenvalues may come out positive where the factorisation failed by rounding alone.
    return np.asarray(B[0])
