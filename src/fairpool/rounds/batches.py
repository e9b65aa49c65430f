"""Rows come and go in batches, so that no combination of releases is about few rows.

Keyed noise is the same in every release, and cancels where two of them are compared: what is left
is a sum over the rows that one has and the other has not. Each release is a sum over whole batches,
and every batch has at least `fewest` rows that no earlier batch had. So whatever somebody adds up
and subtracts, the rows that only the latest batch in it has are left, all with the same factor: it
is about `fewest` rows at least. `docs/rounds.md` has the argument in full.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MOST_BATCHES = 16
"""So many batches are made of the rows that one round adds: a row that is withdrawn later takes out
its batch alone."""

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
    first, second = _words(known)
    wanted_first, wanted_second = _words(wanted)
    if (first[1:] == first[:-1]).any():  # hardly ever: then all 16 bytes are compared
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    else:
        place = np.minimum(np.searchsorted(first, wanted_first), len(known) - 1)
    is_there = (first[place] == wanted_first) & (second[place] == wanted_second)
    return np.where(is_there, place, -1)


def in_order(keys: Keys) -> Keys:
    """Keys, sorted by their bytes."""
    first, _ = _words(keys)
    if (first[1:] > first[:-1]).all():
        return np.ascontiguousarray(keys)
    return keys[order_of(keys)]


def order_of(keys: Keys) -> NDArray[np.intp]:
    """The places of keys when they are sorted by their bytes; equal ones stay in their order [m].

    By their first 8 bytes, which hardly ever agree: numbers are sorted many times as fast as bytes.
    """
    first, second = _words(keys)
    order = np.argsort(first, kind="stable")
    in_turn = first[order]
    if (in_turn[1:] == in_turn[:-1]).any():
        return np.lexsort((second, first))
    return order


def _words(keys: Keys) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Keys as two numbers each, which are in the order of their bytes [m]."""
    words = np.ascontiguousarray(keys).view(">u8")
    return words[0::2].astype(np.uint64), words[1::2].astype(np.uint64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Rows of one party that are in the same releases, all of them or none.

    Attributes:
        name: Made of what it holds.
        party: The party's permanent identity.
        parent: Rows that were part of an earlier batch, which has left, know which; None: these
            rows were in no release before.
        keys: The rows, sorted.
    """

    name: str
    party: str
    parent: str | None
    keys: Keys = field(repr=False)

    @classmethod
    def of(cls, party: str, keys: Keys, parent: str | None = None) -> "Part":
        """A part of some rows."""
        keys = in_order(keys)
        return cls(name=part_name(party, keys), party=party, parent=parent, keys=keys)

    def __len__(self) -> int:
        return len(self.keys)


def part_name(party: str, keys: Keys) -> str:
    """The name of the part with these rows, which are sorted."""
    digest = hashlib.sha256(party.encode() + b"\0")
    digest.update(np.ascontiguousarray(keys).view(np.uint8).data)
    return digest.hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows that come and go together.

    Attributes:
        name: Made of its parts' names.
        party: The party's permanent identity.
        parts: Their names.
    """

    name: str
    party: str
    parts: tuple[str, ...]

    @classmethod
    def of(cls, party: str, parts: Sequence[Part]) -> "Batch":
        """The batch of some parts."""
        names = tuple(part.name for part in parts)
        return cls(
            name=hashlib.sha256(" ".join(names).encode()).hexdigest()[:32], party=party, parts=names
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PartyBatches:
    """All batches that a party has had.

    Attributes:
        party: Its permanent identity.
        parts: Every part by name, oldest first.
        batches: Every batch by name, oldest first.
        active: Those that the last release is made of.
    """

    party: str
    parts: Mapping[str, Part] = field(default_factory=dict)
    batches: Mapping[str, Batch] = field(default_factory=dict)
    active: frozenset[str] = frozenset()

    @property
    def parents(self) -> dict[str, str | None]:
        """Of every part, the one that its rows were in before."""
        return {name: part.parent for name, part in self.parts.items()}

    def keys_of_batch(self, name: str) -> Keys:
        """The rows of a batch."""
        return np.concatenate([self.parts[part].keys for part in self.batches[name].parts])


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignment:
    """Which of a party's rows take part in a round, and how.

    Attributes:
        batches: All batches that there have been, with the new ones, and those that are active now.
        new: The batches that are new.
        left: The batches that were active and are no longer, since rows of theirs are gone.
        part_names: The parts that are active now, in order.
        groups: For each row, its place among these; -1: it waits [m].
        withdrawn: How many rows of the last release are gone.
        fewest: How many new rows a new batch needs.
    """

    batches: PartyBatches
    new: tuple[str, ...]
    left: tuple[str, ...]
    part_names: tuple[str, ...]
    groups: NDArray[np.intp] = field(repr=False)
    withdrawn: int
    fewest: int = 0

    @property
    def waiting(self) -> int:
        """How many rows wait until enough others come."""
        return int((self.groups < 0).sum())


def assign(
    present: Keys,
    history: PartyBatches,
    *,
    fewest: int,
    most_batches: int = MOST_BATCHES,
    may_begin: bool = True,
) -> Assignment:
    """Which rows take part: the batches that are still whole, and new ones of enough new rows.

    Args:
        present: The rows that the party has now, in their order.
        history: Its batches so far.
        fewest: How many rows that were in no release before a new batch needs.
        most_batches: How many batches are made of them at most.
        may_begin: Whether new batches may be made; not where one would give a row away.
    """
    # All is looked up in the order of keys: neighbours are found near each other.
    order = order_of(present)
    rows = present[order]
    standing = _standing(rows, history)
    groups = _groups(rows, _parts_of(standing, history.batches, history.parts))
    is_free = groups < 0
    parent_of = _latest_parts(rows, history)
    is_fresh = is_free & (parent_of < 0)
    made: list[tuple[Batch, list[Part]]] = []
    if may_begin and is_free.any() and int(is_fresh.sum()) >= fewest:
        made = _make(
            rows, history, is_free=is_free, parent_of=parent_of, fewest=fewest, most=most_batches
        )
    parts = dict(history.parts)
    batches = dict(history.batches)
    active = list(standing)
    for batch, of_batch in made:
        for part in of_batch:
            parts.setdefault(part.name, part)
        batches[batch.name] = batch
        active.append(batch.name)
    after = PartyBatches(
        party=history.party, parts=parts, batches=batches, active=frozenset(active)
    )
    left = sorted(history.active - set(active))
    released = np.concatenate([np.empty(0, "V16"), *(history.keys_of_batch(b) for b in left)])
    if made:
        groups = _groups(rows, _parts_of(active, batches, parts))
    in_their_order = np.empty_like(groups)
    in_their_order[order] = groups
    return Assignment(
        batches=after,
        new=tuple(batch.name for batch, _ in made),
        left=tuple(left),
        part_names=tuple(part.name for part in _parts_of(active, batches, parts)),
        groups=in_their_order,
        withdrawn=int((places(rows, released) < 0).sum()),
        fewest=fewest,
    )


def as_before(
    history: PartyBatches, *, part_names: Sequence[str], groups: NDArray[np.integer]
) -> Assignment | None:
    """What `assign` gives for rows that are those of the last release, where none of them waits.

    Args:
        history: A party's batches so far.
        part_names: The parts that were active when the rows were the same.
        groups: The place of each row's part among these [m].

    Returns:
        None where rows wait, or other parts are active by now.
    """
    active = [name for name in history.batches if name in history.active]
    names = [part for name in active for part in history.batches[name].parts]
    if (groups < 0).any() or sorted(names) != sorted(part_names):
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


def _standing(present: Keys, history: PartyBatches) -> list[str]:
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
    standing: list[str] = []
    is_taken = np.zeros(len(present), dtype=bool)
    keys = [history.keys_of_batch(name) for name in names]
    place = places(present, np.concatenate([np.empty(0, "V16"), *keys]))
    begin = 0
    for name, of_name in zip(names, keys, strict=True):
        of_batch = place[begin : begin + len(of_name)]
        begin += len(of_name)
        if (of_batch >= 0).all() and not is_taken[of_batch].any():
            standing.append(name)
            is_taken[of_batch] = True
    return standing


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
    first, second = _words(keys)
    is_last = np.ones(len(keys), dtype=bool)
    is_last[:-1] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    place = places(keys[is_last], present)
    return np.where(place >= 0, np.append(numbers[is_last], -1)[place], -1)
