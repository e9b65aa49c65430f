"""Earlier contributions beside one that is being made: which of the table's rows each of them has.

An earlier plan may read other columns, and its rows are known by these. So the table is read as
that plan reads it, and its rows are recognised there. Where the table lacks a column of that plan,
or is refused by it, nobody can tell which rows are in both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.consortium.home.looks import Look
from fairpool.consortium.home.overlaps import share_rows
from fairpool.consortium.home.own_table import OwnTable, read_own_table
from fairpool.errors import FairpoolError
from fairpool.keyed_noise.secret import Secret
from fairpool.rounds.row_keys import Keys, in_order, places


@dataclass(frozen=True, kw_only=True, eq=False)
class Beside:
    """An earlier contribution, and its rows as the table of today has them.

    Attributes:
        entry: What the journal has of it.
        table: The same files, as its plan reads them.
        rows: Which of their complete rows it has [m].
        members: All its rows, by what they are known by now; those that are gone, by what they were
            known by then; sorted.
    """

    entry: JournalEntry
    table: OwnTable
    rows: NDArray[np.bool_] = field(repr=False)
    members: Keys = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Others:
    """All earlier contributions without noise.

    Attributes:
        joined: Those that share rows with the one that is being made, or with another that does,
            and so on.
        unknown: Those of which nobody can tell.
    """

    joined: tuple[Beside, ...]
    unknown: tuple[JournalEntry, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not looked at, in words."""
        return tuple(
            f"whether rows of this table are in the contribution of {entry.file.manifest.made}"
            f" ({entry.place}) as well cannot be told, since its plan reads other columns, which"
            " this table lacks; what both tell together was not looked at"
            for entry in self.unknown
        )


NOBODY = Others(joined=(), unknown=())
"""There are none."""


def put_beside(
    table: OwnTable,
    members: Keys,
    earlier: Sequence[JournalEntry],
    *,
    secret: Secret,
    encoders: Path | None,
    workers: Workers,
) -> Others:
    """Recognise the rows of earlier contributions in a table.

    Args:
        table: The table.
        members: Its rows that are contributed, sorted.
        earlier: What was contributed, to anybody, without noise.
        secret: What rows are recognised by.
        encoders: Where encoders are; None: nowhere.
        workers: Who is told about it.
    """
    tables: dict[str, OwnTable | None] = {table.plan.features_digest: table}
    known: list[Beside] = []
    unknown: list[JournalEntry] = []
    for entry in earlier:
        features = entry.file.manifest.features
        if features not in tables:
            tables[features] = _read_alike(
                entry, table, secret=secret, encoders=encoders, workers=workers
            )
        alike = tables[features]
        if alike is None or alike.identities.columns != entry.known_by:
            unknown.append(entry)
        else:
            known.append(_recognised(entry, table, alike))
    return Others(joined=_joined(members, known), unknown=tuple(unknown))


def looks_of(table: OwnTable, chosen: NDArray[np.bool_], joined: Sequence[Beside]) -> list[Look]:
    """All looks at the same rows, that of the new contribution first; each of them once."""
    looks = [Look(table=table, rows=chosen)]
    for other in joined:
        is_new = all(
            look.table is not other.table or not np.array_equal(look.rows, other.rows)
            for look in looks
        )
        if is_new and other.rows.any():
            looks.append(Look(table=other.table, rows=other.rows))
    return looks


def rows_seen_before(joined: Sequence[Beside]) -> NDArray[np.bool_] | None:
    """The rows of which the person has said that they may be seen [m]; None: none."""
    of_each = [one.rows for one in joined if one.entry.file.manifest.rows_may_be_seen]
    return np.logical_or.reduce(of_each) if of_each else None


def _read_alike(
    entry: JournalEntry,
    table: OwnTable,
    *,
    secret: Secret,
    encoders: Path | None,
    workers: Workers,
) -> OwnTable | None:
    """The table as another plan reads it; None: it cannot, or its complete rows are others."""
    try:
        alike = read_own_table(
            entry.plan.plan,
            table.survey.source,
            secret=secret,
            encoders=encoders,
            workers=workers,
        )
    except FairpoolError:
        return None
    is_whole = not table.survey.dropped and not alike.survey.dropped
    if is_whole or _complete_by(table) == _complete_by(alike):
        return alike
    return None


def _complete_by(table: OwnTable) -> tuple[frozenset[str], frozenset[str]]:
    """What decides which rows are complete: the columns, and those that may be lacking."""
    encoding = table.plan.encoding
    columns = frozenset([*encoding.labelled_numbers, *encoding.labelled_texts])
    return columns, frozenset(encoding.imputed)


def _recognised(entry: JournalEntry, table: OwnTable, alike: OwnTable) -> Beside:
    keys = alike.identities.keys
    rows = places(entry.members, keys) >= 0
    members = entry.members
    if alike is not table:
        gone = places(in_order(keys), members) < 0
        members = in_order(np.concatenate([table.identities.keys[rows], members[gone]]))
    return Beside(entry=entry, table=alike, rows=rows, members=members)


def _joined(members: Keys, earlier: Sequence[Beside]) -> tuple[Beside, ...]:
    """The contributions that share rows with this one, or with one that does, and so on."""
    joined: list[Beside] = []
    apart = list(earlier)
    reached = [members]
    while reached:
        of_one = reached.pop()
        near = [other for other in apart if share_rows(other.members, of_one)]
        apart = [other for other in apart if other not in near]
        joined += near
        reached += [other.members for other in near]
    return tuple(joined)
