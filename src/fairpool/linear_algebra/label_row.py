"""1/2 log|B| and 1/2 y^T B^-1 y from one factor: labels as one more row of the matrix.

    [ B    y ]                 [ L   0 ]
    [ y^T  c ]  has the factor [ t^T * ],  t = L^-1 y,  so that y^T B^-1 y = |t|^2,

whatever the corner c is, if it is large enough for a factor to exist (c > |t|^2). So what labels
cost is one row more in a factorisation that is needed anyway.
"""

import numpy as np

from fairpool.linear_algebra.log_determinant import factors_in_words
from fairpool.tables.arrays import FloatArray


def with_label_row(B: FloatArray, y: FloatArray) -> FloatArray:
    """Matrices [..., k, k] with labels [..., k] as their last rows and columns; the corner is 0."""
    k = B.shape[-1]
    joined = np.zeros((*B.shape[:-2], k + 1, k + 1))
    joined[..., :k, :k] = B
    joined[..., k, :k] = y
    joined[..., :k, k] = y
    return joined


def fill_corners(stack: FloatArray) -> None:
    """Make corners large enough, in place, where B - I has no negative eigenvalue.

    Then y^T B^-1 y is |y|^2 at most.

    Args:
        stack: Matrices with a label row [s, k + 1, k + 1]; only their lower triangles count.
    """
    labels = stack[:, -1, :-1]
    stack[:, -1, -1] = 1 + np.square(labels).sum(axis=1)


def logarithms_and_squares(stack: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of each factor the logarithms of its diagonal [s, k], and the squares t_j^2 [s, k].

    Args:
        stack: Matrices with a label row [s, k + 1, k + 1], corners filled.
    """
    L = factors_in_words(stack)
    diagonals = np.diagonal(L, axis1=1, axis2=2)[:, :-1]
    return np.log(diagonals), np.square(L[:, -1, :-1])


def half_log_determinants_and_fits(stack: FloatArray) -> FloatArray:
    """1/2 log|B| and 1/2 y^T B^-1 y of each matrix of a stack [s, 2].

    Args:
        stack: Matrices with a label row [s, k + 1, k + 1]; their corners are overwritten.
    """
    fill_corners(stack)
    logarithms, squares = logarithms_and_squares(stack)
    return np.column_stack([logarithms.sum(axis=1), 0.5 * squares.sum(axis=1)])
