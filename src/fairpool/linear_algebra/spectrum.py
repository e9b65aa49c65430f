"""Eigenvalues of symmetric matrices, and singular values.

Parties need these, and load without scipy: it takes longer to load than all else that they need.
"""

from typing import NamedTuple

import numpy as np

from fairpool.tables.arrays import FloatArray


class Spectrum(NamedTuple):
    """M = Q diag(l) Q^T.

    Attributes:
        eigenvalues: l [k], the least first.
        vectors: Q [k, k], orthogonal: one column per eigenvalue.
    """

    eigenvalues: FloatArray
    vectors: FloatArray


class LeftSingular(NamedTuple):
    """The part of A = U diag(s) V^T that tells about its rows, with q = min(m, d).

    Attributes:
        vectors: U [m, q], with orthonormal columns.
        values: s [q], the largest first.
    """

    vectors: FloatArray
    values: FloatArray


def eigenvalues(M: FloatArray) -> FloatArray:
    """The eigenvalues of a symmetric matrix [k, k], the least first."""
    return np.asarray(np.linalg.eigvalsh(M))


def spectrum(M: FloatArray) -> Spectrum:
    """The eigenvalues and eigenvectors of a symmetric matrix [k, k]."""
    l, Q = np.linalg.eigh(M)  # noqa: E741 -- the design's letter
    return Spectrum(l, Q)


def left_singular(A: FloatArray) -> LeftSingular:
    """The singular values of a matrix [m, d], and its left singular vectors."""
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return LeftSingular(U, s)
