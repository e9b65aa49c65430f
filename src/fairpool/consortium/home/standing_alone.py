"""Rows that stand alone: a combination of the sums is about such a row, and hardly any other.

The operator has G = A^T A and the moment A^T y, and so, for any u, the sums over all rows of
(u . a_k)^2 and of (u . a_k) y_k. Of the first, row i makes up the share

    h_i = max over u of  (u . a_i)^2 / u^T G u  =  a_i^T G^+ a_i,

which statistics knows as its leverage. Near 1, the second is (u . a_i) y_i: whoever knows the row's
inputs can compute its label, however many other rows there are. A rare value does that, and so does
a plan whose features were chosen for it, or several plans one after the other: so a_i are the
features of all looks at these rows (`fairpool.consortium.home.looks`). Of classes the operator has
such sums of each.

Rows that are few together are looked for as well: `fairpool.consortium.home.few_together`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.home.few_together import Spread, refuse_few_together
from fairpool.consortium.home.looks import Look, kinds_of_sums, seen_rows
from fairpool.consortium.home.minimum import OR_SHOW
from fairpool.consortium.home.own_table import OwnTable
from fairpool.errors import ContributionError
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.tables.arrays import FloatArray

MOST_ALONE = 0.9
"""A larger share of a combination may not be one row's."""

STANDS_OUT = 0.5
"""A larger share is told; a level that two rows have gives each a half."""

OF_ROUNDING = 1e-12
"""Eigenvalues smaller than this, beside the largest, are rounding: nobody can divide by them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Alone:
    """How much of a combination of sums is one row's.

    Attributes:
        shares: Of all complete rows, the largest share [m]; 0 for those that nobody sees.
        spreads: Over how many rows each kind of sums spreads.
    """

    shares: FloatArray
    spreads: tuple[Spread, ...] = field(repr=False)

    def rows_above(self, share: float) -> NDArray[np.intp]:
        """The rows with a larger share, counted from 0 among the complete ones."""
        return np.flatnonzero(self.shares > share)


def refuse_lone_rows(
    looks: Sequence[Look],
    grams: FloatArray,
    workers: Workers,
    *,
    may_be_seen: NDArray[np.bool_] | None = None,
) -> tuple[str, ...]:
    """Refuse rows that stand alone, or are few together; notes on those that nearly stand alone.

    Args:
        looks: At the table: that of the contribution, and those of others of the same rows.
        grams: The Gram matrix of the contribution's rows, or those of each class.
        workers: Who is told about it.
        may_be_seen: The rows of which the person has said so before [m]; None: none.
    """
    table = looks[0].table
    if len(looks) > 1:
        grams = _grams(looks, workers)
    alone = look_for_lone_rows(looks, grams, workers, may_be_seen=may_be_seen)
    lone = alone.rows_above(MOST_ALONE)
    if len(lone):
        most = float(alone.shares.max())
        raise ContributionError(
            f"{len(lone)} row(s) stand alone, the first at {table.place_of(int(lone[0]))}: a"
            f" combination of the sums{_with_others(looks)} consists of such a row by up to"
            f" {most:.0%}, so that whoever knows the row's inputs could compute its label, however"
            " many other rows there are. Take them out of the table, or hide them by noise"
            " (--epsilon), or ask the operator for a plan with fewer weights or other features,"
            f" {OR_SHOW}"
        )
    refuse_few_together(looks, alone.spreads, workers)
    return _those_that_stand_out(table, alone)


def look_for_lone_rows(
    looks: Sequence[Look],
    grams: FloatArray,
    workers: Workers,
    *,
    may_be_seen: NDArray[np.bool_] | None = None,
) -> Alone:
    """The share of every row; the table is read once more.

    Args:
        looks: At the table.
        grams: The Gram matrix of all looks' features, or those of each kind of sums [.., d, d].
        workers: Who is told about it.
        may_be_seen: The rows that do not count [m]; None: all do.
    """
    roots = _inverse_roots(grams)
    shares = np.zeros(len(looks[0].rows))
    spreads = [Spread(root=root, may_be_seen=may_be_seen) for root in roots]
    for seen in seen_rows(looks, workers, doing="looking for rows that stand alone"):
        of_rows = spreads[seen.sums].add(seen)
        shares[seen.rows] = np.maximum(shares[seen.rows], of_rows)
    return Alone(shares=shares, spreads=tuple(spreads))


def _those_that_stand_out(table: OwnTable, alone: Alone) -> tuple[str, ...]:
    standing_out = alone.rows_above(STANDS_OUT)
    if not len(standing_out):
        return ()
    return (
        f"{len(standing_out)} row(s) stand out, the first at"
        f" {table.place_of(int(standing_out[0]))}: a combination of the sums consists of such a"
        " row by more than half, so that whoever knows the row's inputs could guess its label",
    )


def _with_others(looks: Sequence[Look]) -> str:
    if len(looks) == 1:
        return ""
    return f", together with those of {len(looks) - 1} other contribution(s) of the same rows,"


def _grams(looks: Sequence[Look], workers: Workers) -> FloatArray:
    """The Gram matrix of all looks' features, of each kind of sums [s, d, d]."""
    d = sum(look.table.plan.weights for look in looks)
    grams = np.zeros((kinds_of_sums(looks[0].table), d, d))
    for seen in seen_rows(looks, workers, doing="putting contributions beside each other"):
        grams[seen.sums] += seen.features.T @ seen.features
    return grams


def _inverse_roots(grams: FloatArray) -> FloatArray:
    """R with R R^T = G^+ of each Gram matrix [s, d, d]."""
    d = grams.shape[-1]
    roots = np.zeros((grams.size // d**2, d, d))
    for root, gram in zip(roots, grams.reshape(-1, d, d), strict=True):
        eigenvalues, vectors = spectrum(gram)
        is_there = eigenvalues > OF_ROUNDING * max(eigenvalues.max(initial=0.0), 0.0)
        root[:, is_there] = vectors[:, is_there] / np.sqrt(eigenvalues[is_there])
    return roots
