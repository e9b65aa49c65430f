"""Rows that are few together: some combinations of the sums are about them, and hardly any others.

A contribution has many rows, so that from its d (d + 1) / 2 products of features nobody computes
their inputs. But features may see few of them: inducing points that lie in one ward, with length
scales so short that all other rows are far away. Then the Gram matrix is that of the ward.

Whitened, b_k = G^(-1/2) a_k, rows have the shares h_k = |b_k|^2, which sum to the number of weights
(`fairpool.consortium.home.standing_alone`). A combination v of weights, |v| = 1, is carried by the
rows in proportion to (v . b_k)^2. The mean share of the rows that carry it is

    sum over k of  h_k (v . b_k)^2  =  v^T F v,      F = sum over k of  h_k b_k b_k^T,

so that r combinations which s rows carry alone have r / s, and all that many rows carry have less:
the leading eigenvectors of F are the combinations that few rows carry. Of the first r of them, a
row has the part c_k = |its first r coordinates|^2, and effectively there are

    n_r = exp( - sum over k of  p_k log p_k ),      p_k = c_k / sum of c,

rows: s, if s rows have equal parts, and hardly more if others have a little. They tell
r (r + 1) / 2 numbers of n_r p values. Groups of rows that have no combination in common, such as
those of several rare levels, are counted each by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fairpool.compute.workers import Workers
from fairpool.consortium.home.looks import Look, Seen, seen_rows
from fairpool.consortium.home.minimum import OR_SHOW
from fairpool.errors import ContributionError
from fairpool.exchange.plan import SAFETY
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.tables.arrays import FloatArray

VALUES_PER_NUMBER = SAFETY / 2
"""So many values must be unknown at least for every number that is told of some rows. A plan asks
for `SAFETY` on the whole; rows never have equal parts, and honest ones have more than half of that
(docs/privacy.md)."""

TRIED = 12
"""So many numbers of combinations are looked at in detail, those with the fewest values first."""

MOST_ROWS = 2000
"""More rows are not put into groups: they are one."""

OF_THE_MEAN = 0.05
"""Rows with a smaller part than this, beside the mean of the effective rows, are left out."""


@dataclass(kw_only=True, eq=False)
class Spread:
    """Over how many rows one kind of sums spreads, added up as they are read.

    Attributes:
        root: R, with R R^T = G^+ [d, d].
        may_be_seen: The rows that do not count [m]; None: all do.
        F: See above [d, d].
        largest: The largest share of a row.
        squares: The sum of squared shares.
    """

    root: FloatArray
    may_be_seen: NDArray[np.bool_] | None
    F: FloatArray = field(init=False)
    largest: float = 0.0
    squares: float = 0.0

    def __post_init__(self) -> None:
        self.F = np.zeros_like(self.root)

    def add(self, seen: Seen) -> FloatArray:
        """Add some rows; their shares [k]."""
        B = self.whitened(seen)
        shares = np.asarray(np.einsum("kd,kd->k", B, B))
        self.F += (B * shares[:, None]).T @ B
        self.largest = max(self.largest, float(shares.max(initial=0.0)))
        self.squares += float(shares @ shares)
        return shares

    def whitened(self, seen: Seen) -> FloatArray:
        """b_k of some rows; 0 for those that do not count [k, d]."""
        B = seen.features @ self.root
        if self.may_be_seen is not None:
            B[self.may_be_seen[seen.rows]] = 0.0
        return B

    def may_be_narrow(self, values: int) -> bool:
        """Whether a bound leaves it open that some combinations are about few rows.

        No part is larger than the largest share, and no sum of squared parts than that of shares.

        Args:
            values: How many unknown values a row has.
        """
        r = np.arange(2.0, len(self.root) + 1)
        if not len(r) or not self.largest:
            return False
        rows = np.maximum(r / self.largest, r**2 / self.squares)
        return bool((rows * values < VALUES_PER_NUMBER * _numbers(r)).any())


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows that some combinations are about.

    Attributes:
        rows: How many, effectively.
        combinations: How many, effectively.
        first: The number of one of the rows.
    """

    rows: float
    combinations: float
    first: int

    def values_per_number(self, values: int) -> float:
        """How many values are unknown for each number that is told, of so many of a row."""
        return self.rows * values / float(_numbers(np.asarray(self.combinations)))


def refuse_few_together(looks: Sequence[Look], spreads: Sequence[Spread], workers: Workers) -> None:
    """Refuse a contribution of which some combinations are about few rows.

    Args:
        looks: At the table.
        spreads: Of each kind of sums.
        workers: Who is told about it.
    """
    values = max(len(look.table.plan.encoding.columns) for look in looks)
    narrow = {kind: spread for kind, spread in enumerate(spreads) if spread.may_be_narrow(values)}
    if not narrow:
        return
    found = [
        group
        for group in _groups(looks, narrow, values, workers)
        if group.values_per_number(values) < VALUES_PER_NUMBER
    ]
    if not found:
        return
    worst = min(found, key=lambda group: group.values_per_number(values))
    place = looks[0].table.place_of(worst.first)
    raise ContributionError(
        f"about {worst.rows:.0f} row(s) are few together, one of them at {place}: about"
        f" {worst.combinations:.0f} combinations of the sums are about these rows and hardly any"
        f" others, {_numbers(np.asarray(worst.combinations)):.0f} numbers of rows with {values}"
        " value(s) each, so that the rows could be computed, however many others there are. Give"
        " more rows like them, or take them out of the table, or hide them by noise (--epsilon), or"
        f" ask the operator for a plan whose features see all rows, {OR_SHOW}"
    )


def _numbers(r: FloatArray) -> FloatArray:
    """How many products of two of r combinations there are."""
    return np.asarray(r * (r + 1) / 2)


def _groups(
    looks: Sequence[Look], narrow: dict[int, Spread], values: int, workers: Workers
) -> Iterator[Group]:
    """The groups of rows in which there may be too few."""
    turns = {kind: spread.root @ _few_first(spread.F) for kind, spread in narrow.items()}
    totals = {kind: np.zeros((2, len(spread.root))) for kind, spread in narrow.items()}
    for kind, _, parts in _parts(looks, narrow, turns, workers):
        cumulated = np.cumsum(parts**2, axis=1)
        logarithms = np.log(cumulated, out=np.zeros_like(cumulated), where=cumulated > 0)
        totals[kind] += cumulated.sum(axis=0), (cumulated * logarithms).sum(axis=0)
    tried = {}
    for kind, (combinations, entropy) in totals.items():
        is_some = combinations > 0
        combinations = np.where(is_some, combinations, 1.0)
        rows = np.where(is_some, combinations * np.exp(-entropy / combinations), np.inf)
        ratios = rows * values / _numbers(combinations)
        ratios[:1] = np.inf  # of a single combination: see `standing_alone`
        worst = np.argsort(ratios, kind="stable")[:TRIED]
        tried[kind] = {int(r) + 1: float(rows[r]) for r in worst if ratios[r] < VALUES_PER_NUMBER}
    if not any(tried.values()):
        return
    kept = _those_with_large_parts(looks, narrow, turns, tried, workers)
    for kind, of_kind in tried.items():
        numbers, parts = kept[kind]
        for r in of_kind:
            yield from _apart(numbers, parts[:, :r])


def _few_first(F: FloatArray) -> FloatArray:
    """The eigenvectors of F, those first that few rows carry [d, d]."""
    eigenvalues, vectors = spectrum(F)
    return np.asarray(vectors[:, np.argsort(-eigenvalues, kind="stable")])


def _parts(
    looks: Sequence[Look],
    narrow: dict[int, Spread],
    turns: dict[int, FloatArray],
    workers: Workers,
) -> Iterator[tuple[int, NDArray[np.intp], FloatArray]]:
    """Coordinates of rows, those first that few rows have: kind of sums, rows, and [k, d]."""
    for seen in seen_rows(looks, workers, doing="looking for rows that are few together"):
        if seen.sums not in narrow:
            continue
        parts = seen.features @ turns[seen.sums]
        hidden = narrow[seen.sums].may_be_seen
        if hidden is not None:
            parts[hidden[seen.rows]] = 0.0
        yield seen.sums, seen.rows, parts


def _those_with_large_parts(
    looks: Sequence[Look],
    narrow: dict[int, Spread],
    turns: dict[int, FloatArray],
    tried: dict[int, dict[int, float]],
    workers: Workers,
) -> dict[int, tuple[NDArray[np.intp], FloatArray]]:
    """The rows that matter: their numbers [k], and their coordinates [k, d]."""
    numbers: dict[int, list[NDArray[np.intp]]] = {kind: [] for kind in tried}
    kept: dict[int, list[FloatArray]] = {kind: [] for kind in tried}
    for kind, rows, parts in _parts(looks, narrow, turns, workers):
        cumulated = np.cumsum(parts**2, axis=1)
        matters = np.zeros(len(rows), dtype=bool)
        for r, effective in tried[kind].items():
            matters |= cumulated[:, r - 1] > OF_THE_MEAN * r / effective
        numbers[kind].append(rows[matters])
        kept[kind].append(parts[matters])
    none = np.zeros(0, np.intp)
    return {
        kind: (
            np.concatenate([none, *numbers[kind]]),
            np.concatenate([np.zeros((0, len(narrow[kind].root))), *kept[kind]]),
        )
        for kind in tried
    }


def _apart(numbers: NDArray[np.intp], parts: FloatArray) -> Iterator[Group]:
    """Rows in groups that have no combination in common.

    Two rows belong together where the cosine of their angle is larger than that of random
    directions, and so do all that are connected by such pairs.

    Args:
        numbers: Of the rows [k].
        parts: Their coordinates [k, r].
    """
    shares = np.einsum("kr,kr->k", parts, parts)
    labels = np.zeros(len(numbers), np.intp)
    if len(numbers) <= MOST_ROWS:
        squares = (parts @ parts.T) ** 2
        near = squares * parts.shape[1] > np.outer(shares, shares)
        _, labels = connected_components(csr_array(near), directed=False)
    for label in np.unique(labels):
        of_group = np.where(labels == label, shares, 0.0)
        combinations = float(of_group.sum())
        if combinations < 2:  # of hardly more than one combination: see `standing_alone`
            continue
        p = of_group[of_group > 0] / combinations
        rows = float(np.exp(-(p * np.log(p)).sum()))
        first = int(numbers[np.argmax(of_group)])
        yield Group(rows=rows, combinations=combinations, first=first)
