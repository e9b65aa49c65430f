"""The rows that tell most of a covariance, by a pivoted Cholesky factorisation."""

from collections.abc import Callable

import numpy as np

from fairpool.tables.arrays import FloatArray

KNOWN = 1e-10
"""A row whose variance has fallen to this share of the largest one is known by the others."""


def pivots(variances: FloatArray, covariance: Callable[[int], FloatArray], count: int) -> list[int]:
    """Rows of a covariance K, each the one whose value is least known given those before it.

    Only the columns of the pivots are computed; K as a whole never is.

    Args:
        variances: The diagonal of K [m].
        covariance: Gives a column of K [m].
        count: How many at most; there are fewer where these tell all there is.
    """
    variance = variances.copy()  # of each row, given the pivots
    known = KNOWN * variance.max()
    L = np.zeros((len(variance), count))
    chosen: list[int] = []
    for k in range(count):
        pivot = int(np.argmax(variance))
        if variance[pivot] <= known:
            break
        column = covariance(pivot) - L[:, :k] @ L[pivot, :k]
        L[:, k] = column / np.sqrt(variance[pivot])
        variance -= L[:, k] ** 2
        variance[pivot] = 0.0  # exactly, so that rounding does not choose it again
        chosen.append(pivot)
    return chosen
