"""Inputs that anybody could have made up: spread evenly, and the same for everybody."""

import numpy as np
from scipy.stats import qmc

from fairpool.tables.arrays import FloatArray

ROWS = 1024
"""So many stand for any; a power of 2, as Sobol' points need it."""

HALF_WIDTH = 3**0.5
"""A column spread evenly over this much to either side has the variance 1 of standardised data."""

SEED = 0
"""Of the points, which are public."""


def evenly_spread(columns: int, rows: int = ROWS) -> FloatArray:
    """Numbers between 0 and 1, spread evenly over the unit cube [rows, columns].

    Fewer rows are the first of more.
    """
    exponent = max(rows - 1, 0).bit_length()  # they come in powers of 2
    points = qmc.Sobol(max(columns, 1), scramble=True, seed=SEED).random_base2(exponent)
    return np.asarray(points, dtype=np.float64)[:rows, :columns]
