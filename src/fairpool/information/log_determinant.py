"""1/2 log|B| by Cholesky factors; never by a determinant, which overflows."""

import numpy as np

from fairpool.arrays import FloatArray
from fairpool.errors import KernelError
from fairpool.models.cholesky import lower_factor, not_positive_definite


def half_log_determinant(B: FloatArray) -> float:
    """1/2 log|B| of one matrix [k, k]."""
    return float(np.log(np.diag(lower_factor(B))).sum()) if len(B) else 0.0


def half_log_determinants(B: FloatArray) -> FloatArray:
    """1/2 log|B| of each of a stack of matrices [s, k, k]."""
    try:
        L = np.linalg.cholesky(B)
    except np.linalg.LinAlgError:
        worst = B[np.argmin([np.linalg.eigvalsh(b)[0] for b in B])]
        raise KernelError(not_positive_definite(worst)) from None
    return np.asarray(np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1))
