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
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[place] == wanted, place, -1)


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
        keys = np.sort(keys)
        digest = hashlib.sha256(party.encode() + b"\0" + keys.tobytes())
        return cls(name=digest.hexdigest()[:32], party=party, parent=parent, keys=keys)

    def __len__(self) -> int:
        return len(self.keys)


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
    """

    batches: PartyBatches
    new: tuple[str, ...]
    left: tuple[str, ...]
    part_names: tuple[str, ...]
    groups: NDArray[np.intp] = field(repr=False)
    withdrawn: int

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
    in_order = np.sort(present)
    standing = _standing(in_order, history)
    taken = np.concatenate([np.empty(0, "V16"), *(history.keys_of_batch(b) for b in standing)])
    is_free = places(np.sort(taken), present) < 0
    parent_of = _latest_parts(present, history)
    is_fresh = is_free & (parent_of < 0)
    made: list[tuple[Batch, list[Part]]] = []
    if may_begin and is_free.any() and int(is_fresh.sum()) >= fewest:
        made = _make(
            present, history, is_free=is_free, parent_of=parent_of, fewest=fewest, most=most_batches
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
    names = [part for name in active for part in batches[name].parts]
    before = [history.keys_of_batch(name) for name in sorted(history.active)]
    released = np.concatenate([np.empty(0, "V16"), *before])
    return Assignment(
        batches=after,
        new=tuple(batch.name for batch, _ in made),
        left=tuple(sorted(history.active - set(active))),
        part_names=tuple(names),
        groups=_groups(present, [parts[name] for name in names]),
        withdrawn=int((places(in_order, released) < 0).sum()),
    )


def _standing(in_order: Keys, history: PartyBatches) -> list[str]:
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
    taken = np.empty(0, "V16")
    for name in names:
        keys = history.keys_of_batch(name)
        is_whole = bool((places(in_order, keys) >= 0).all())
        if is_whole and not (places(taken, keys) >= 0).any():
            standing.append(name)
            taken = np.sort(np.concatenate([taken, keys]))
    return standing


def _latest_parts(present: Keys, history: PartyBatches) -> NDArray[np.intp]:
    """For each row, the number of the latest part that had it; -1: none had [m]."""
    latest = np.full(len(present), -1)
    for number, part in enumerate(history.parts.values()):
        latest[places(part.keys, present) >= 0] = number
    return latest


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
    fresh = np.sort(present[is_free & (parent_of < 0)])
    returning = np.flatnonzero(is_free & (parent_of >= 0))
    returning = returning[np.argsort(present[returning], kind="stable")]
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
    """For each row, the place of its part among these; -1: none of them has it [m]."""
    groups = np.full(len(present), -1)
    for place, part in enumerate(parts):
        groups[places(part.keys, present) >= 0] = place
    return groups
