"""Inverses, for where all their entries are needed; elsewhere solving is cheaper and more exact."""

import numpy as np

from fairpool.tables.arrays import FloatArray


def inverse(B: FloatArray) -> FloatArray:
    """B^-1 [k, k]."""
    return np.asarray(np.linalg.inv(B))


def pseudo_inverse(M: FloatArray, relative_rank: float) -> FloatArray:
    """The inverse of a symmetric M [k, k] on the space where it has one, and 0 elsewhere.

    Args:
        M: Symmetric.
        relative_rank: Eigenvalues whose size is below this share of the largest count as 0.
    """
    return np.asarray(np.linalg.pinv(M, rcond=relative_rank, hermitian=True))
