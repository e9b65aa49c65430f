"""Which rows of a table are contributed: all that are in no earlier contribution, or all anew."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.consortium.home.journal import Journal
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.consortium.home.own_table import OwnTable
from fairpool.errors import ContributionError
from fairpool.rounds.row_keys import in_order, keys_of, places


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """Which of a table's complete rows are contributed.

    Attributes:
        rows: For each, whether it is [m].
        vanished: How many rows of contributions that still count the table has no longer.
        relabelled: How many rows are left out since each seems to be one that has vanished, of the
            same name, with another label; those are not counted as vanished.
        corrected: Of all rows, which are left out though other columns are not as they were [m].
        come_back: How many rows are left out since they are in a contribution that another one
            stands in place of, and in none that counts.
    """

    rows: NDArray[np.bool_] = field(repr=False)
    vanished: int = 0
    relabelled: int = 0
    corrected: NDArray[np.bool_] = field(repr=False)
    come_back: int = 0

    @property
    def count(self) -> int:
        """How many rows are contributed."""
        return int(self.rows.sum())

    @property
    def left_out(self) -> int:
        """How many complete rows are in earlier contributions instead."""
        return len(self.rows) - self.count

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person would not expect, in words."""
        if not self.come_back:
            return ()
        return (
            f"{self.come_back} row(s) are left out that are in none of the contributions that"
            " count, but were in one that was replaced; to have them count again: --replace",
        )


def choose_rows(table: OwnTable, journal: Journal, *, anew: bool) -> Chosen:
    """Which rows are contributed.

    Args:
        table: The table.
        journal: What was contributed to the operator before.
        anew: Whether all rows are contributed, in place of that.
    """
    identities = table.identities
    ids = keys_of(identities.ids)
    members = identities.keys
    is_known = np.zeros(len(ids), dtype=bool)
    counts = np.zeros(len(ids), dtype=bool)
    is_as_it_was = np.zeros(len(ids), dtype=bool)
    in_ids = in_order(ids) if journal.entries else ids
    vanished = 0
    names = [np.empty(0, np.uint64)]
    for entry in journal.entries:
        if entry.known_by != identities.columns:
            if not anew:
                _refuse_other_identity(entry, identities.columns)
            continue
        has_member = places(entry.members, members) >= 0
        is_in = (places(entry.ids, ids) >= 0) | has_member
        is_known |= is_in
        if entry.file.digest not in journal.replaced:
            counts |= is_in
            is_as_it_was |= has_member
            is_gone = places(in_ids, entry.ids) < 0
            vanished += int(is_gone.sum())
            if entry.names is not None:
                names.append(entry.names[is_gone])
    nothing = np.zeros(len(ids), dtype=bool)
    if anew:
        return Chosen(rows=~nothing, vanished=vanished, corrected=nothing)
    relabelled = nothing
    if identities.names is not None:
        relabelled = _in_place_of(np.concatenate(names), identities.names, ~is_known)
    return Chosen(
        rows=~(is_known | relabelled),
        vanished=vanished - int(relabelled.sum()),
        relabelled=int(relabelled.sum()),
        corrected=counts & ~is_as_it_was,
        come_back=int((is_known & ~counts).sum()),
    )


def _in_place_of(
    gone: NDArray[np.uint64], names: NDArray[np.uint64], is_new: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which new rows seem to be rows that are gone, by their names: for each of these, one [m].

    A name may be that of several rows, such as a patient's visits. One more of them is a new row,
    as long as the earlier ones are there.

    Args:
        gone: The names of rows that the table has no longer.
        names: Those of its rows [m].
        is_new: Which of these were never contributed [m].
    """
    found = np.zeros(len(names), dtype=bool)
    if not len(gone):  # as in every first contribution: of millions of rows, nothing is sorted
        return found
    gone = np.sort(gone)
    new = np.flatnonzero(is_new)
    new = new[np.argsort(names[new], kind="stable")]
    in_turn = names[new]
    rank = np.arange(len(new)) - np.searchsorted(in_turn, in_turn, side="left")
    among_gone = np.searchsorted(gone, in_turn, side="right")
    among_gone -= np.searchsorted(gone, in_turn, side="left")
    found[new[rank < among_gone]] = True
    return found


def latest_with_the_same(
    table: OwnTable, chosen: Chosen, earlier: Sequence[JournalEntry]
) -> JournalEntry | None:
    """The latest contribution, if it has just these rows, or if no row is new; None: it differs."""
    if not earlier:
        return None
    latest = earlier[-1]
    if not chosen.count:
        return latest
    rows = in_order(table.identities.keys[chosen.rows])
    return latest if np.array_equal(latest.members, rows) else None


def _refuse_other_identity(entry: JournalEntry, columns: tuple[str, ...]) -> None:
    raise ContributionError(
        f"your rows were known by {', '.join(entry.known_by)} in the contribution of"
        f" {entry.file.manifest.made}, and would now be known by {', '.join(columns)}, so that rows"
        " cannot be recognised and could be contributed twice; give the table the same columns, or"
        " contribute all rows anew: --replace"
    )
