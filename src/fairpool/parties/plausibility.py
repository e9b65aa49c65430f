"""Which sums can be sums over rows: a party that sends a summary could invent them.

Being a sum of squares is not enough. A hundred times the Gram matrix is one, too, and is worth much
more.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fairpool.errors import DataError, shown
from fairpool.linear_algebra.spectrum import eigenvalues, spectrum
from fairpool.parties.party_data import FeatureBounds
from fairpool.tables.arrays import TINY, FloatArray, with_unit_diagonal

if TYPE_CHECKING:
    from fairpool.parties.summary import PartySummary

ROUNDING = 1e-9
"""How far rounding may put correlations between sums off: much less, even over millions of rows."""

COUNTING = 1e-6
"""The same share for sums that are compared with a number of rows."""

SILENT = TINY / float(np.finfo(float).eps)
"""Squares that sum to less have lost digits, or all of them: their feature tells nothing."""

REMEDY = "summarise the rows again with model.summarise, and send all that it gives"


# Made-up numbers may be so large that what is computed of them is infinite, and then refused.
@np.errstate(over="ignore", invalid="ignore")
def refuse_sums_of_no_rows(summary: "PartySummary") -> None:
    """Refuse what cannot be sums over so many rows, whatever the features are.

    With r the labels less their prior mean, [[G, q], [q^T, s]] = [A r]^T [A r]. So it has no
    negative eigenvalue (in particular q_j^2 <= G_jj s, and |q|^2 <= tr(G) s), and no more positive
    ones than there are rows. Nothing else can be said without the model: any such matrix is made of
    so many rows of d + 1 numbers.
    """
    where = f'the summary of "{summary.name}"'
    s = np.full((1, 1), summary.squares)
    M = np.block([[summary.gram, summary.moment[:, None]], [summary.moment, s]])
    scaled = scaled_eigenvalues(M)
    if scaled is None and scaled_eigenvalues(summary.gram) is None:
        raise DataError(
            f"{where}: gram is not a sum of squares (symmetric, without negative eigenvalues);"
            f" {REMEDY}"
        )
    if scaled is None:
        raise DataError(
            f"{where}: with this gram, the moment needs labels whose squares sum to"
            f" {_least_squares(summary):.6g} at least, but squares is {summary.squares:.6g};"
            f" {REMEDY}"
        )
    rank = int((scaled > ROUNDING * len(M)).sum())
    if rank > summary.rows:
        raise DataError(
            f"{where}: gram, moment and squares are sums over {rank} rows at least (their rank),"
            f" but rows is {summary.rows}; {REMEDY}"
        )


def refuse_sums_beyond(summary: "PartySummary", bounds: FeatureBounds) -> None:
    """Refuse what cannot be sums over so many rows, since a row's features are bounded.

    Args:
        summary: The sums.
        bounds: What one row's features can be.
    """
    if not summary.rows:  # then all sums are 0, as was refused otherwise
        return
    where = f'the summary of "{summary.name}"'
    largest = summary.rows * bounds.largest
    trace = float(np.trace(summary.gram))
    if trace > largest * (1 + COUNTING):
        raise DataError(
            f"{where}: of {summary.rows} row(s) the trace of gram is {largest:.6g} at most (with"
            f" this model {bounds.largest:.6g} for each), but it is {trace:.6g}; {REMEDY}"
        )
    if bounds.constant is None:
        return
    counted = float(summary.gram[-1, -1]) / bounds.constant
    if abs(counted - summary.rows) > COUNTING * summary.rows:
        raise DataError(
            f"{where}: by the last feature, which is the same in every row, there are"
            f" {counted:.6g} row(s), but rows is {summary.rows}; {REMEDY}"
        )


def as_squares(value: Any, name: str) -> float:
    """A finite number from 0, which squares sum to."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan  # so that the error below is raised
    if not 0 <= number < np.inf:
        raise DataError(f"{name} {shown(value)} is not a finite number from 0; {REMEDY}")
    return number


def scaled_eigenvalues(M: FloatArray) -> FloatArray | None:
    """The eigenvalues of M with a unit diagonal; None where M is not a sum of squares.

    A sum of squares is symmetric and has no negative eigenvalue, but for rounding. The units of
    rows and columns do not matter; those whose squares are lost to underflow are left out.
    """
    variances = np.diag(M)
    silent = np.abs(variances) < SILENT
    root = np.sqrt(np.maximum(variances, SILENT))
    # |a_j . a_k| <= |a_j| |a_k|, so what is lost on the diagonal bounds what is left beside it.
    if (np.abs(M[silent]) > np.sqrt(SILENT) * root).any():
        return None
    heard = M[np.ix_(~silent, ~silent)]
    if not len(heard):
        return np.empty(0)
    H = with_unit_diagonal(heard)
    if not np.isfinite(H).all() or np.abs(H - H.T).max() > ROUNDING:
        return None
    l = eigenvalues(H)  # noqa: E741 -- the design's letter
    if l[0] < -ROUNDING * len(H):
        return None
    return l


def _least_squares(summary: "PartySummary") -> float:
    """The least sum of squares of labels that have this moment: q^T G^-1 q."""
    root = np.sqrt(np.maximum(np.diag(summary.gram), SILENT))
    l, Q = spectrum(with_unit_diagonal(summary.gram))  # noqa: E741
    along = Q.T @ (summary.moment / root)
    least = float((along**2 / np.maximum(l, ROUNDING * len(root))).sum())
    return np.inf if np.isnan(least) else least
