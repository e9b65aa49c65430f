"""What contributions of nearly the same rows would tell: their differences are sums over few rows.

Sums add up, so whoever has several contributions of one party has every combination of them with
any factors as well. Rows are put into groups that no contribution tells apart. A combination in
which all large groups cancel shows the small ones that are left.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairpool.linear_algebra.spectrum import spectrum
from fairpool.rounds.row_keys import Keys, in_order, places
from fairpool.tables.arrays import FloatArray

ZERO = 1e-9
"""Of sums of a few ones, what is left by rounding is smaller."""


def fewest_apart(first: Keys, second: Keys) -> int:
    """The fewest rows that one of two contributions has and the other lacks; 0: neither lacks any.

    Args:
        first: The rows of one, sorted.
        second: The rows of the other, sorted.
    """
    only = [int((places(second, first) < 0).sum()), int((places(first, second) < 0).sum())]
    return min((count for count in only if count), default=0)


def share_rows(first: Keys, second: Keys) -> bool:
    """Whether any row is in both of two contributions.

    Args:
        first: The rows of one, sorted.
        second: The rows of the other.
    """
    return bool((places(first, second) >= 0).any())


def smallest_shown(contributions: Sequence[Keys], *, fewest: int, known: int = 0) -> int:
    """Rows of the smallest group that a combination shows with no large group in it; 0: none does.

    Args:
        contributions: The rows of each, sorted.
        fewest: How many rows a group needs to be large.
        known: So many of them, the first, have left before: groups that these show by themselves
            are not counted.
    """
    members, sizes = _groups(contributions)
    is_small = sizes < fewest
    if not is_small.any():
        return 0
    shown = _shown(members, is_small)
    if known:
        shown &= ~_shown(members[:known], is_small)
    return int(sizes[shown].min()) if shown.any() else 0


def _shown(members: NDArray[np.bool_], is_small: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which small groups are left in some combination in which the large ones cancel [g]."""
    cancelling = _cancelling(members[:, ~is_small].astype(float))
    return np.asarray(is_small & (np.abs(cancelling @ members) > ZERO).any(axis=0))


def _groups(contributions: Sequence[Keys]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which contributions have the rows of each group [k, g], and how many rows these are [g]."""
    every = in_order(np.concatenate(contributions))
    is_first = np.ones(len(every), dtype=bool)
    is_first[1:] = every[1:] != every[:-1]
    every = every[is_first]
    group = np.zeros(len(every), np.intp)
    for rows in contributions:
        # Every group falls into those rows that are in this one, and those that are not.
        _, group = np.unique(2 * group + (places(rows, every) >= 0), return_inverse=True)
    _, one_of, sizes = np.unique(group, return_index=True, return_counts=True)
    members = [places(rows, every[one_of]) >= 0 for rows in contributions]
    return np.array(members), sizes


def _cancelling(members: FloatArray) -> FloatArray:
    """Rows that span all c with c @ members = 0 [s, k]; of no group at all, every c."""
    eigenvalues, vectors = spectrum(members @ members.T)
    return np.asarray(vectors[:, eigenvalues <= ZERO * max(eigenvalues.max(), 1.0)].T)
