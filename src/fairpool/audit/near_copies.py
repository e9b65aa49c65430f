"""Rows that nearly agree with others, within a party or at two, more often than by chance.

Copies inflate a party's value, and small changes hide them from a comparison of whole rows: another
rounding, jitter, a column that is shifted or in another unit. `docs/trust.md` tells what is found,
what is not, and how often honest data are suspected.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.alterations import MOSTLY, Alteration, alteration_of
from fairpool.audit.copied_rows import CopiedRows, cluster_sizes, copied_rows
from fairpool.audit.copy_search import Suspicion, search
from fairpool.audit.pooled_rows import Rows
from fairpool.audit.sketches import Folding, Sketch, scales_of
from fairpool.parties import Party, Pool
from fairpool.tables.arrays import FloatArray

LABEL = "the label"
"""What labels are called where nobody named them."""

Lookup = Callable[[int, NDArray[np.intp]], FloatArray]
"""Gives rows of a party, by its number and theirs: all columns, the label last [s, c]."""


@dataclass(frozen=True, kw_only=True)
class RepeatedRows:
    """Rows of one party that nearly agree with others of its own.

    Attributes:
        party: Whose they are.
        rows: How many rows have a near copy.
        groups: In how many groups that nearly agree.
        typical_group: The median number of rows in a group.
        by_chance: How many groups chance may explain.
        example: Two rows that nearly agree, by number from 0.
        alteration: How they differ.
    """

    party: int
    rows: int
    groups: int
    typical_group: int
    by_chance: float
    example: tuple[int, int]
    alteration: Alteration

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """It as plain JSON."""
        return {
            "party": names[self.party],
            "rows": self.rows,
            "groups": self.groups,
            "typical_group": self.typical_group,
            "groups_by_chance": self.by_chance,
            **self.alteration.to_dict(),
        }


@dataclass(frozen=True, kw_only=True)
class SharedRows:
    """Rows of one party that nearly agree with rows of another.

    Attributes:
        first: A party.
        second: Another one.
        rows: How many rows of the first, and how many of the second, have a near copy.
        by_chance: How many such rows chance may explain.
        example: A row of the first and one of the second that nearly agree, by number from 0.
        alteration: How the second's differ.
    """

    first: int
    second: int
    rows: tuple[int, int]
    by_chance: float
    example: tuple[int, int]
    alteration: Alteration

    def rows_of(self, party: int) -> int:
        """How many rows of one of the two have a near copy."""
        return self.rows[0 if party == self.first else 1]

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """It as plain JSON."""
        return {
            "parties": [names[self.first], names[self.second]],
            "rows": list(self.rows),
            "rows_by_chance": self.by_chance,
            **self.alteration.to_dict(),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class NearCopies:
    """What was found.

    Attributes:
        names: The parties.
        compared: Per party, how many of its rows were compared [n].
        repeated: Rows that nearly agree with others of the same party.
        shared: Rows that nearly agree with another party's.
        explained: Parties (i, i) and pairs (i, j) whose rows agree, but no more than by chance.
        sorted_rows: How many rows were sorted to find that out, which is the work.
    """

    names: tuple[str, ...]
    compared: tuple[int, ...]
    repeated: tuple[RepeatedRows, ...] = ()
    shared: tuple[SharedRows, ...] = ()
    explained: frozenset[tuple[int, int]] = frozenset()
    sorted_rows: int = 0

    def to_dict(self) -> dict[str, Any]:
        """It as plain JSON, for whoever may know everybody's data."""
        return {
            "compared": list(self.compared),
            "repeated": [found.to_dict(self.names) for found in self.repeated],
            "shared": [found.to_dict(self.names) for found in self.shared],
        }

    def shared_by(self, party: int) -> tuple[SharedRows, ...]:
        """What one party shares with others."""
        return tuple(found for found in self.shared if party in (found.first, found.second))


def find_near_copies(parties: Sequence[Party]) -> NearCopies:
    """Look for rows that nearly agree, within and across parties, more often than by chance.

    In time that grows like m log m for m rows. Columns are compared in units of their own spread.

    Args:
        parties: Their rows; inputs in any units.
    """
    pool = Pool.of(parties, model=None)
    columns = pool.columns or tuple(f"column {k}" for k in range(pool.inputs))
    folding = Folding.of(columns, label=LABEL)
    middle = np.median(pool.X, axis=0) if len(pool.X) else np.zeros(pool.inputs)
    # Columns that are added up must count alike, whatever their units.
    spread = scales_of([(party.X - middle).T for party in pool.rows])
    spread = np.where(spread > 0, spread, 1.0)
    label = np.median(pool.y) if len(pool.y) else 0.0
    sketches = [folding.sketch((party.X - middle) / spread, party.y - label) for party in pool.rows]
    tables = [np.column_stack([party.X, party.y]) for party in pool.rows]
    return near_copies_of(
        sketches,
        pool.names,
        columns=(*columns, LABEL),
        lookup=lambda party, rows: tables[party][rows],
    )


def near_copies_of(
    sketches: Sequence[Sketch],
    names: Sequence[str],
    *,
    columns: Sequence[str],
    lookup: Lookup,
) -> NearCopies:
    """The same from sketches of the rows, where the rows themselves are on disk.

    Args:
        sketches: Of each party, its rows' coordinates [k, m_i].
        names: The parties.
        columns: What columns are called that are looked up [c], the label last.
        lookup: Gives rows of a party; asked once per party, and only where copies are found.
    """
    rows = Rows.of(sketches)
    searched = search(rows)
    suspected = []
    for suspicion in searched.found.values():
        copied = copied_rows(rows, suspicion)
        if len(copied.pairs):
            suspected.append((suspicion, copied))
    examples = _examples(suspected, lookup)
    repeated = []
    shared = []
    for suspicion, copied in suspected:
        if suspicion.first != suspicion.second:
            shared.append(_shared(suspicion, copied, examples, columns))
        elif not _is_measured_again(suspicion, copied, examples):
            repeated.append(_repeated(suspicion, copied, examples, columns))
    return NearCopies(
        names=tuple(names),
        compared=tuple(sketch.shape[1] for sketch in sketches),
        repeated=tuple(repeated),
        shared=tuple(shared),
        explained=searched.explained,
        sorted_rows=searched.sorted_rows,
    )


@dataclass(frozen=True, eq=False)
class _Examples:
    """Rows that were looked up: of each party their numbers, in order, and themselves."""

    numbers: dict[int, NDArray[np.intp]]
    tables: dict[int, FloatArray]

    def of(self, party: int, numbers: NDArray[np.intp]) -> FloatArray:
        """Some of them [s, c]."""
        return self.tables[party][np.searchsorted(self.numbers[party], numbers)]


def _examples(suspected: Sequence[tuple[Suspicion, CopiedRows]], lookup: Lookup) -> _Examples:
    """Some rows behind every suspicion; every party is asked once."""
    wanted: dict[int, list[NDArray[np.intp]]] = {}
    for suspicion, copied in suspected:
        wanted.setdefault(suspicion.first, []).append(copied.some_pairs[:, 0])
        wanted.setdefault(suspicion.second, []).append(copied.some_pairs[:, 1])
    numbers = {party: np.unique(np.concatenate(own)) for party, own in wanted.items()}
    tables = {party: lookup(party, own) for party, own in numbers.items()}
    return _Examples(numbers, tables)


def _is_measured_again(suspicion: Suspicion, copied: CopiedRows, examples: _Examples) -> bool:
    """Whether inputs of one party agree exactly, but labels do not: only jitter would be odd."""
    pairs = copied.some_pairs
    first = examples.of(suspicion.first, pairs[:, 0])[:, :-1]
    second = examples.of(suspicion.second, pairs[:, 1])[:, :-1]
    are_same = (first == second).all(axis=1)
    return suspicion.left_out is not None and float(are_same.mean()) >= MOSTLY


def _alteration(
    suspicion: Suspicion, copied: CopiedRows, examples: _Examples, columns: Sequence[str]
) -> Alteration:
    pairs = copied.some_pairs
    first = examples.of(suspicion.first, pairs[:, 0])
    second = examples.of(suspicion.second, pairs[:, 1])
    both = np.concatenate([first, second])
    return alteration_of(first, second, columns, scales=scales_of([both.T]))


def _shared(
    suspicion: Suspicion, copied: CopiedRows, examples: _Examples, columns: Sequence[str]
) -> SharedRows:
    return SharedRows(
        first=suspicion.first,
        second=suspicion.second,
        rows=(len(copied.first), len(copied.second)),
        by_chance=suspicion.by_chance,
        example=copied.example,
        alteration=_alteration(suspicion, copied, examples, columns),
    )


def _repeated(
    suspicion: Suspicion, copied: CopiedRows, examples: _Examples, columns: Sequence[str]
) -> RepeatedRows:
    sizes = cluster_sizes(copied.pairs)
    return RepeatedRows(
        party=suspicion.first,
        rows=len(copied.first),
        groups=len(sizes),
        typical_group=int(np.median(sizes)),
        by_chance=suspicion.by_chance,
        example=copied.example,
        alteration=_alteration(suspicion, copied, examples, columns),
    )
