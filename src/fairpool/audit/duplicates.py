"""Rows that occur more than once, within a party or at several: copies inflate a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairpool.notes import Note, texts_of
from fairpool.parties import Party, Pool


@dataclass(frozen=True, eq=False)
class Duplicates:
    """How many rows (inputs and label) occur more than once.

    Attributes:
        names: The parties.
        within: Per party, how many of its rows repeat an earlier one of its own [n].
        shared: Per pair of parties, how many distinct rows both have [n, n]; 0 on the diagonal.
    """

    names: tuple[str, ...]
    within: np.ndarray[Any, np.dtype[np.intp]]
    shared: np.ndarray[Any, np.dtype[np.intp]]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """One per party or pair concerned."""
        notes = []
        for name, count in zip(self.names, self.within, strict=True):
            if count:
                text = (
                    f'"{name}" has {count} row(s) that repeat another of its own;'
                    " copies inflate its value"
                )
                notes.append(Note(code="repeated rows", party=name, text=text))
        for i, j in np.argwhere(np.triu(self.shared)):
            a = self.names[i]
            b = self.names[j]
            text = (
                f'"{a}" and "{b}" share {self.shared[i, j]} identical row(s);'
                " is one a copy of the other?"
            )
            notes.append(Note(code="shared rows", text=text))
        return tuple(notes)


def find_duplicates(parties: Sequence[Party]) -> Duplicates:
    """Look for identical rows within and across parties, in one sort over all rows."""
    pool = Pool.of(parties, model=None)
    rows = np.column_stack([pool.X, pool.y]) + 0.0  # -0.0 is 0.0
    _, key = np.unique(rows, axis=0, return_inverse=True)
    key = key.ravel()
    keys = [key[pool.owner == i] for i in range(len(pool.parties))]
    return duplicates_of_keys(pool.names, keys)


def duplicates_of_keys(
    names: Sequence[str], keys: Sequence[NDArray[Any]], seen: float = 1.0
) -> Duplicates:
    """The same from one key per row, equal where rows are.

    Args:
        names: The parties.
        keys: Per party its rows' keys [m_i].
        seen: The share of all keys that these are; counts are scaled up by it.
    """
    distinct = [np.unique(own) for own in keys]
    repeats = [len(own) - len(once) for own, once in zip(keys, distinct, strict=True)]
    within = np.array(repeats)
    ordered = np.concatenate(distinct)
    ordered.sort()
    # Of all keys, which may be millions, only those of several parties are looked at further.
    several = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    places = [places_in(several, own) for own in distinct]
    owner = np.repeat(np.arange(len(names)), [len(p) for p in places])
    # has[k, i] = 1 where party i has the key k; then has^T has counts the keys of each pair.
    ones = np.ones(len(owner), np.intp)
    has = csr_array((ones, (np.concatenate(places), owner)), (len(several), len(names)))
    shared = (has.T @ has).toarray()
    np.fill_diagonal(shared, 0)
    return Duplicates(
        names=tuple(names),
        within=np.rint(within / seen).astype(np.intp),
        shared=np.rint(shared / seen).astype(np.intp),
    )


def places_in(several: NDArray[Any], own: NDArray[Any]) -> NDArray[np.intp]:
    """The positions in `several` of what is also in `own`, which is sorted."""
    if not len(own):
        return np.empty(0, np.intp)
    place = np.minimum(np.searchsorted(own, several), len(own) - 1)
    return np.flatnonzero(own[place] == several)
