"""Eigenvalues of a pencil: one symmetric matrix, seen through another."""

import numpy as np
from scipy.linalg import eigh

from fairpool.tables.arrays import FloatArray


def pencil_eigenvalues(P: FloatArray, R: FloatArray | None) -> FloatArray:
    """The l [k] of the pencil (P, R), the least first: |R + tau P| = |R| prod_k (1 + tau l_k).

    Args:
        P: Symmetric [k, k].
        R: Positive definite [k, k]; None for the identity.
    """
    return np.asarray(eigh(P, R, eigvals_only=True, check_finite=False))
