"""A party's parts and batches, all that there have been, and which of them take part in a round."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.rounds.row_keys import Keys, in_order


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Rows of one party that are in the same releases, all of them or none.

    Attributes:
        name: Made of what it holds.
        party: The party's permanent identity.
        parent: Rows that were part of an earlier batch, which has left, know which; None: these
            rows were in no release before.
        keys: The rows, sorted.
        unknown: How many rows there are, where nobody here knows who they are: of sums.
        contribution: Of sums, the digest of the contribution that they came in.
    """

    name: str
    party: str
    parent: str | None
    keys: Keys = field(repr=False)
    unknown: int = 0
    contribution: str = ""

    @classmethod
    def of(cls, party: str, keys: Keys, parent: str | None = None) -> "Part":
        """A part of some rows."""
        keys = in_order(keys)
        return cls(name=part_name(party, keys), party=party, parent=parent, keys=keys)

    @classmethod
    def of_sums(cls, party: str, contribution: str, *, name: str, rows: int) -> "Part":
        """A contribution that came as sums.

        Args:
            party: The party's permanent identity.
            contribution: Its digest.
            name: What the part is called.
            rows: How many rows were summed up.
        """
        return cls(
            name=name,
            party=party,
            parent=None,
            keys=np.empty(0, "V16"),
            unknown=rows,
            contribution=contribution,
        )

    def __len__(self) -> int:
        return len(self.keys) + self.unknown


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
        withdrawn: How many rows of the batches that left are gone.
        standing: Of the active parts, those of batches that stand as they were, though rows of
            theirs are gone.
        gone: How many these rows are.
        fewest: How many new rows a new batch needs.
        spent: The active batches that were in as many files as their rows allow: they count, and
            are in no new file.
    """

    batches: PartyBatches
    new: tuple[str, ...]
    left: tuple[str, ...]
    part_names: tuple[str, ...]
    groups: NDArray[np.signedinteger] = field(repr=False)
    withdrawn: int
    standing: frozenset[str] = frozenset()
    gone: int = 0
    fewest: int = 0
    spent: frozenset[str] = frozenset()

    @property
    def spent_parts(self) -> frozenset[str]:
        """The parts of the spent batches."""
        return frozenset(part for name in self.spent for part in self.batches.batches[name].parts)

    @property
    def rows(self) -> int:
        """How many rows take part, with those that are gone and still count."""
        return int((self.groups >= 0).sum()) + self.gone

    @property
    def waiting(self) -> int:
        """How many rows wait until enough others come."""
        return int((self.groups < 0).sum())
