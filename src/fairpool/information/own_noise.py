"""How noisy a party's labels are by themselves, as a multiple of what the model says.

With lambda the eigenvalues of what its rows tell and c the labels along the eigenvectors, the
likelihood of a factor f on the noise variance is

    -1/2 [ m log f + sum_k log(1 + lambda_k / f) + (s - sum_k c_k^2 / (f + lambda_k)) / f ]

with s the sum of squared labels over their noise variances. Few rows could make f what they like,
so the likelihood is that of a few more labels which are as noisy as the model says.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from fairpool.tables.arrays import FloatArray

PRIOR_ROWS = 10
"""As many labels of the noise that the model says are taken to be known beforehand."""

LARGEST = 1e4
"""No party's labels are taken to be more than so many times as noisy, or as precise."""


class OwnLabels(NamedTuple):
    """A party's labels by themselves, as far as their noise is concerned.

    Attributes:
        eigenvalues: lambda [k], of what the rows tell about the weights, or of K over the noise.
        along: c [k], the moment along the eigenvectors of the weights' precision.
        squares: s, of the labels over their noise deviations.
        rows: m.
    """

    eigenvalues: FloatArray
    along: FloatArray
    squares: float
    rows: int

    @classmethod
    def of_all(cls, parts: Sequence["OwnLabels"]) -> "OwnLabels":
        """Several sets of labels of one party, which have one factor."""
        return cls(
            eigenvalues=np.concatenate([part.eigenvalues for part in parts]),
            along=np.concatenate([part.along for part in parts]),
            squares=sum(part.squares for part in parts),
            rows=sum(part.rows for part in parts),
        )


def noise_factor(own: OwnLabels) -> float:
    """The most likely factor on a party's noise variance, 1 where it has no rows."""
    if not own.rows:
        return 1.0
    eigenvalues, along, squares, rows = own

    def doubled_loss(log_factor: float) -> float:
        f = float(np.exp(log_factor))
        left_over = squares - float((along**2 / (f + eigenvalues)).sum())
        determinant = float(np.log1p(eigenvalues / f).sum())
        return (rows + PRIOR_ROWS) * log_factor + determinant + (left_over + PRIOR_ROWS) / f

    bound = float(np.log(LARGEST))
    # The loss may have two valleys where labels contradict the model: a grid finds the deeper one.
    grid = np.linspace(-bound, bound, 73)
    losses = [doubled_loss(point) for point in grid]
    best = int(np.argmin(losses))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(doubled_loss, bounds=around, method="bounded")
    return float(np.exp(found.x))
