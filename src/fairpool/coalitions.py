"""Sec. 2: coalitions, subsets of the n parties, as bitmasks (bit i is party i)."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.errors import GameError, cut, few, shown

MOST_NAMED = 12
"""Of a coalition in words."""

Coalition = Iterable[int] | Iterable[str]
"""Some parties, by index or by name."""


def mask_of(coalition: Coalition, names: Sequence[str]) -> int:
    """The bitmask of a coalition.

    >>> mask_of({0, 2}, ["a", "b", "c"]), mask_of(["b"], ["a", "b", "c"])
    (5, 2)
    """
    if isinstance(coalition, str) or not isinstance(coalition, Iterable):
        raise GameError(
            f"{shown(coalition)} is not a coalition; give a set of parties, such as {{0, 2}}"
        )
    mask = 0
    for party in coalition:
        if isinstance(party, str):
            if party not in names:
                raise GameError(f'no party is named "{cut(party)}"; there are {", ".join(names)}')
            party = names.index(party)
        if not isinstance(party, int | np.integer) or not 0 <= party < len(names):
            raise GameError(f"no party {shown(party)}: there are {len(names)}, counted from 0")
        mask |= 1 << int(party)
    return mask


def members(mask: int) -> tuple[int, ...]:
    """The parties of a bitmask, ascending.

    >>> members(0b101)
    (0, 2)
    """
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def names_of(mask: int, names: Sequence[str]) -> tuple[str, ...]:
    """The names of a coalition's parties."""
    return tuple(names[i] for i in members(mask))


def name_of(mask: int, names: Sequence[str]) -> str:
    """A coalition in words; of a large one the first few, and how many more.

    >>> name_of(0b101, ["a", "b", "c"])
    '{a, c}'
    """
    return "{" + few(names_of(mask, names), MOST_NAMED) + "}"


def sizes(n: int) -> NDArray[np.uint8]:
    """The number of parties in each of the 2**n coalitions [2**n]."""
    return np.bitwise_count(np.arange(1 << n, dtype=np.uint64))


def subset_sums(terms: Sequence[int]) -> NDArray[np.int64]:
    """The sum of each of the 2**n subsets of n numbers [2**n], in the order of the bitmasks.

    >>> subset_sums([1, 4])
    array([0, 1, 4, 5])
    """
    sums = np.zeros(1, dtype=np.int64)
    for term in terms:
        sums = np.concatenate([sums, sums + term])
    return sums


def with_party(v: NDArray[Any], i: int) -> NDArray[Any]:
    """v_{C with i} for all C without i, of a table v [2**n].

    They are in the order of the bitmasks, as [2**(n-1-i), 2**i].
    """
    return v.reshape(-1, 2, 1 << i)[:, 1]


def without_party(v: NDArray[Any], i: int) -> NDArray[Any]:
    """v_C for all C without i, in the order of `with_party`."""
    return v.reshape(-1, 2, 1 << i)[:, 0]


def with_pair(
    v: NDArray[Any], i: int, j: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """v_C, v_{C with i}, v_{C with j} and v_{C with both}, for all C without i and j.

    Each of the four is in the same order.
    """
    low, high = min(i, j), max(i, j)
    grid = v.reshape(-1, 2, 1 << (high - low - 1), 2, 1 << low)
    only_low, only_high = grid[:, 0, :, 1], grid[:, 1, :, 0]
    only_i, only_j = (only_low, only_high) if i == low else (only_high, only_low)
    return grid[:, 0, :, 0], only_i, only_j, grid[:, 1, :, 1]
