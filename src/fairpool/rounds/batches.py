"""Rows come and go in batches, so that no combination of releases is about few rows.

Keyed noise is the same in every release, and cancels where two of them are compared: what is left
is a sum over the rows that one has and the other has not. Each release is a sum over whole batches,
and every batch has at least `fewest` rows that no earlier batch had. So whatever somebody adds up
and subtracts, the rows that only the latest batch in it has are left, all with the same factor: it
is about `fewest` rows at least. `docs/rounds.md` has the argument in full.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairpool.rounds.party_batches import Assignment, Batch, Part, PartyBatches
from fairpool.rounds.row_keys import Keys, as_words, in_order, order_of, places

MOST_BATCHES = 16
"""So many batches are made of the rows that one round adds: a row that is withdrawn later takes out
its batch alone."""


def assign(
    present: Keys,
    history: PartyBatches,
    *,
    fewest: int,
    lasting: int = 0,
    spent: Collection[str] = (),
    most_batches: int = MOST_BATCHES,
    may_begin: bool = True,
    may_stand: Callable[[str], bool] | None = None,
) -> Assignment:
    """Which rows take part: the batches that are still whole, and new ones of enough new rows.

    A batch that lost rows leaves as soon as its other rows can return in a new one, or as many rows
    as a batch needs are gone. Until then it stands as it was, if it may. A spent batch leaves as
    soon as its rows can return in a new one.

    Args:
        present: The rows that the party has now, in their order.
        history: Its batches so far.
        fewest: How many rows that were in no release before a new batch needs.
        lasting: How many make a batch that may be in any number of files: where there are new
            batches in a round, each of them has so many.
        spent: The batches that were in as many files as their rows allow.
        most_batches: How many batches are made of new rows at most.
        may_begin: Whether new batches may be made; not where one would give a row away.
        may_stand: Whether a batch can take part without all of its rows, since what it was is
            kept; None: none can.
    """
    # All is looked up in the order of keys: neighbours are found near each other.
    order = order_of(present)
    rows = present[order]
    whole = _whole(rows, history)
    groups = _groups(rows, _parts_of(whole, history.batches, history.parts))
    parent_of = _latest_parts(rows, history)
    is_fresh = (groups < 0) & (parent_of < 0)
    made: list[tuple[Batch, list[Part]]] = []
    if may_begin and (groups < 0).any() and int(is_fresh.sum()) >= fewest:
        if is_fresh.any():
            whole = [name for name in whole if name not in spent]
            groups = _groups(rows, _parts_of(whole, history.batches, history.parts))
        made = _make(
            rows,
            history,
            is_free=groups < 0,
            parent_of=parent_of,
            fewest=max(fewest, lasting),
            most=most_batches,
        )
    standing: dict[str, int] = {}
    if not made and may_stand is not None:
        standing = _standing(rows, history, whole=whole, fewest=fewest, may_stand=may_stand)
    after = _after(history, [*whole, *standing], made)
    parts = _parts_of(
        [*whole, *standing, *(one.name for one, _ in made)], after.batches, after.parts
    )
    left = sorted(history.active - after.active)
    released = np.concatenate([np.empty(0, "V16"), *(history.keys_of_batch(b) for b in left)])
    in_their_order = np.empty_like(groups)
    in_their_order[order] = _groups(rows, parts) if made or standing else groups
    return Assignment(
        batches=after,
        new=tuple(batch.name for batch, _ in made),
        left=tuple(left),
        part_names=tuple(part.name for part in parts),
        groups=in_their_order,
        withdrawn=int((places(rows, released) < 0).sum()),
        standing=frozenset(
            part.name for part in _parts_of(list(standing), after.batches, after.parts)
        ),
        gone=sum(standing.values()),
        fewest=fewest,
        spent=frozenset(spent) & after.active,
    )


def _after(
    history: PartyBatches, staying: Sequence[str], made: Sequence[tuple[Batch, list[Part]]]
) -> PartyBatches:
    """All batches that there have been, once new ones were made."""
    parts = dict(history.parts)
    batches = dict(history.batches)
    for batch, of_batch in made:
        for part in of_batch:
            parts.setdefault(part.name, part)
        batches[batch.name] = batch
    active = frozenset([*staying, *(batch.name for batch, _ in made)])
    return PartyBatches(party=history.party, parts=parts, batches=batches, active=active)


def rows_gone(present: Keys, parts: Mapping[str, Part]) -> dict[str, int]:
    """Of the parts that lost rows, how many of them are no longer there.

    Args:
        present: The rows that the party has now.
        parts: Its parts, by name.
    """
    rows = in_order(present)
    gone = {name: int((places(rows, part.keys) < 0).sum()) for name, part in parts.items()}
    return {name: count for name, count in gone.items() if count}


def as_before(
    history: PartyBatches,
    *,
    part_names: Sequence[str],
    groups: NDArray[np.integer],
) -> Assignment | None:
    """What `assign` gives for rows that are those of the last release, where none of them waits.

    Args:
        history: A party's batches so far.
        part_names: The parts that were active when the rows were the same.
        groups: The place of each row's part among these [m].

    Returns:
        None where rows wait, rows are gone, or other parts are active by now.
    """
    active = [name for name in history.batches if name in history.active]
    names = [part for name in active for part in history.batches[name].parts]
    if (groups < 0).any() or sorted(names) != sorted(part_names):
        return None
    if len(groups) != sum(len(history.parts[name]) for name in names):
        return None
    places = np.array([names.index(name) for name in part_names], np.intp)
    return Assignment(
        batches=history,
        new=(),
        left=(),
        part_names=tuple(names),
        groups=places[groups],
        withdrawn=0,
    )


def _parts_of(
    active: Sequence[str], batches: Mapping[str, Batch], parts: Mapping[str, Part]
) -> list[Part]:
    """The parts of some batches, in order."""
    return [parts[part] for name in active for part in batches[name].parts]


def _standing(
    present: Keys,
    history: PartyBatches,
    *,
    whole: Sequence[str],
    fewest: int,
    may_stand: Callable[[str], bool],
) -> dict[str, int]:
    """The active batches that stand as they were, and how many rows of each are gone."""
    gone = {}
    for name in history.batches:
        if name in history.active and name not in whole and may_stand(name):
            gone[name] = int((places(present, history.keys_of_batch(name)) < 0).sum())
    return gone if sum(gone.values()) < fewest else {}


def _whole(present: Keys, history: PartyBatches) -> list[str]:
    """The batches all of whose rows are there: active ones, then such as are whole again.

    A batch that left may return as it was: releases are still sums over whole batches. But not if
    some of its rows were in another part since, which they may have been released in with less
    noise: a part has one least noise.
    """
    names = [name for name in history.batches if name in history.active]
    divided = set(history.parents.values())
    for name in reversed(list(history.batches)):
        is_divided = not divided.isdisjoint(history.batches[name].parts)
        if name not in history.active and not is_divided:
            names.append(name)
    whole: list[str] = []
    is_taken = np.zeros(len(present), dtype=bool)
    keys = [history.keys_of_batch(name) for name in names]
    place = places(present, np.concatenate([np.empty(0, "V16"), *keys]))
    begin = 0
    for name, of_name in zip(names, keys, strict=True):
        of_batch = place[begin : begin + len(of_name)]
        begin += len(of_name)
        if (of_batch >= 0).all() and not is_taken[of_batch].any():
            whole.append(name)
            is_taken[of_batch] = True
    return whole


def _latest_parts(present: Keys, history: PartyBatches) -> NDArray[np.intp]:
    """For each row, the number of the latest part that had it; -1: none had [m]."""
    return _groups(present, list(history.parts.values()))


def _make(
    present: Keys,
    history: PartyBatches,
    *,
    is_free: NDArray[np.bool_],
    parent_of: NDArray[np.intp],
    fewest: int,
    most: int,
) -> list[tuple[Batch, list[Part]]]:
    """New batches of all free rows: the new ones dealt out evenly, and likewise those that return.

    By their keys, which are as good as random: neither file order nor content decides.
    """
    fresh = in_order(present[is_free & (parent_of < 0)])
    returning = np.flatnonzero(is_free & (parent_of >= 0))
    returning = returning[order_of(present[returning])]
    count = max(1, min(most, len(fresh) // max(fewest, 1)))
    names = list(history.parts)
    made = []
    for number in range(count):
        parts = []
        of_batch = fresh[number::count]
        if len(of_batch):
            parts.append(Part.of(history.party, of_batch))
        rows = returning[number::count]
        for parent in np.unique(parent_of[rows]):
            keys = present[rows[parent_of[rows] == parent]]
            parts.append(Part.of(history.party, keys, names[parent]))
        if parts:
            made.append((Batch.of(history.party, parts), parts))
    return made


def _groups(present: Keys, parts: Sequence[Part]) -> NDArray[np.intp]:
    """For each row, the place of the last of these parts that has it; -1: none has [m]."""
    keys = np.concatenate([np.empty(0, "V16"), *(part.keys for part in parts)])
    order = order_of(keys)
    numbers = np.repeat(np.arange(len(parts)), np.array([len(part) for part in parts], np.intp))[
        order
    ]
    keys = keys[order]
    first, second = as_words(keys)
    is_last = np.ones(len(keys), dtype=bool)
    is_last[:-1] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    place = places(keys[is_last], present)
    return np.where(place >= 0, np.append(numbers[is_last], -1)[place], -1)
