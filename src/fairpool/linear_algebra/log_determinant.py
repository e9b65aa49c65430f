"""1/2 log|B| by Cholesky factors; never by a determinant, which overflows."""

import numpy as np

from fairpool.errors import KernelError
from fairpool.linear_algebra.cholesky import lower_factor, not_positive_definite
from fairpool.tables.arrays import FloatArray


def half_log_determinant(B: FloatArray) -> float:
    """1/2 log|B| of one matrix [k, k]."""
    return float(np.log(np.diag(lower_factor(B))).sum()) if len(B) else 0.0


def half_log_determinants(B: FloatArray) -> FloatArray:
    """1/2 log|B| of each of a stack of matrices [s, k, k]."""
    return np.asarray(log_diagonals(B).sum(axis=1))


def log_diagonals(B: FloatArray) -> FloatArray:
    """The logarithms of the diagonals of the Cholesky factors of a stack of matrices [s, k, k], as
    [s, k].

    Only lower triangles count.
    """
    try:
        L = np.linalg.cholesky(B)
        if not np.isfinite(np.diagonal(L, axis1=1, axis2=2)).all():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        bad = [b for b in B if not np.isfinite(b).all() or np.linalg.eigvalsh(b)[0] <= 0]
        raise KernelError(not_positive_definite((bad or [B[0]])[0])) from None
    return np.asarray(np.log(np.diagonal(L, axis1=1, axis2=2)))
