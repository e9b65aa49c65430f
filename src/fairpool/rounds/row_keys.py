"""Rows by who they are: keys that can be sorted, and found again."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.void]
"""Rows by their identity [m], 16 bytes each."""


def keys_of(ids: NDArray[np.uint64]) -> Keys:
    """Identities [m, 2] as one value each, which can be sorted."""
    return np.ascontiguousarray(ids, dtype="<u8").view("V16").reshape(-1)


def ids_of(keys: Keys) -> NDArray[np.uint64]:
    """The identities [m, 2] of some keys."""
    return np.ascontiguousarray(keys).view("<u8").reshape(-1, 2)


def places(known: Keys, wanted: Keys) -> NDArray[np.intp]:
    """Where each wanted key is among the known ones, which are sorted; -1 where it is not."""
    if not len(known):
        return np.full(len(wanted), -1)
    first, second = as_words(known)
    wanted_first, wanted_second = as_words(wanted)
    if (first[1:] == first[:-1]).any():  # hardly ever: then all 16 bytes are compared
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    else:
        place = np.minimum(np.searchsorted(first, wanted_first), len(known) - 1)
    is_there = (first[place] == wanted_first) & (second[place] == wanted_second)
    return np.where(is_there, place, -1)


def in_order(keys: Keys) -> Keys:
    """Keys, sorted by their bytes."""
    if _is_in_order(keys):
        return np.ascontiguousarray(keys)
    return keys[order_of(keys)]


def _is_in_order(keys: Keys) -> bool:
    """Whether keys are sorted, by their first 8 bytes alone."""
    first = _first_word(keys)
    return bool((first[1:] > first[:-1]).all())


def order_of(keys: Keys) -> NDArray[np.intp]:
    """The places of keys when they are sorted by their bytes; equal ones stay in their order [m].

    By their first 8 bytes, which hardly ever agree: numbers are sorted many times as fast as bytes.
    """
    first = _first_word(keys)
    order = np.argsort(first, kind="stable")
    in_turn = first[order]
    if (in_turn[1:] == in_turn[:-1]).any():
        first, second = as_words(keys)
        return np.lexsort((second, first))
    return order


def _first_word(keys: Keys) -> NDArray[np.uint64]:
    """The first 8 bytes of each key as a number [m]; of millions of rows, half as much memory."""
    return np.ascontiguousarray(keys).view(">u8")[0::2].astype(np.uint64)


def as_words(keys: Keys) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Keys as two numbers each, which are in the order of their bytes [m]."""
    words = np.ascontiguousarray(keys).view(">u8")
    return words[0::2].astype(np.uint64), words[1::2].astype(np.uint64)
