"""An estimate of how far rounding puts a log-determinant off, and when that matters.

It does not depend on the units of a column.

A Cholesky factorisation of B is exact for a matrix B + E, and the sums that B is made of are
rounded as well; |E_ij| is a few eps sqrt(B_ii B_jj). So log|B| is off by tr(B^-1 E), of which

    eps sum_i B_ii (B^-1)_ii  =  eps tr(H^-1),    H_ij = B_ij / sqrt(B_ii B_jj)

is the size: errors of both signs, and the entries outside of the diagonal of H^-1, make it more or
less. H has a diagonal of ones, and does not change when a column is measured in another unit.
(eps tr(B), which is larger, does.)
"""

import numpy as np

from fairpool.linear_algebra import in_place
from fairpool.linear_algebra.cholesky import NotComputable
from fairpool.tables.arrays import FloatArray, with_unit_diagonal

EPS = float(np.finfo(float).eps)

SEVERAL = 4.0
"""Errors are counted as so many times eps tr(H^-1).

Against exact arithmetic from the rows, errors of up to 1.8 times were seen.
"""

RELATIVE_TOLERANCE = 1e-9
"""Two values closer than this, relative to the largest, are the same: only rounding differs."""


def coarse_rounding(trace: float, size: int) -> float | None:
    """The error by eps tr(B), where it is negligible beside 1/2 log|B|; None elsewhere.

    It needs no inverse. The value is at least 1/2 log(1 + tr P), so that nothing but the trace of P
    has to be known.

    Args:
        trace: tr P, where B = I + P.
        size: The number of rows of B.
    """
    error = SEVERAL * EPS * (size + trace)
    least_value = 0.5 * np.log1p(trace)
    if error > RELATIVE_TOLERANCE * least_value:
        return None
    return error


def fine_rounding(B: FloatArray) -> float:
    """The error by eps tr(H^-1); infinite where H is singular to rounding."""
    try:
        inverse = in_place.invert(in_place.factorise(with_unit_diagonal(B)))
    except NotComputable:
        return np.inf
    return SEVERAL * EPS * float(inverse.trace())
