"""Rows that were contributed before, and read otherwise now: corrections that do not take effect.

Where a row is known by an id, it stays in the contribution that it was in, with the values that it
had then. Whoever corrected a unit has to be told, since nobody else sees it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.known_rows import KnownRows
from fairpool.compute.workers import Progress
from fairpool.consortium.home.choosing import Chosen
from fairpool.consortium.home.journal import Journal
from fairpool.consortium.home.near_copies import remember_table, remembering_of
from fairpool.consortium.home.own_table import OwnTable
from fairpool.errors import ContributionError, few, shown

MOST_NAMED = 6
"""So many of the columns that were corrected are named."""


def notes_on_corrections(
    table: OwnTable, chosen: Chosen, journal: Journal, progress: Progress
) -> tuple[str, ...]:
    """What was corrected and does not count, in words; refused where nothing else is new.

    Args:
        table: It is read once more where inputs were corrected.
        chosen: Which of its rows are contributed.
        journal: What was contributed before.
        progress: Called as rows are read.
    """
    texts = []
    count = int(chosen.corrected.sum())
    if count:
        columns = _corrected_columns(table, chosen.corrected, journal, progress)
        where = f" ({few(columns, MOST_NAMED)})" if columns else ""
        texts.append(f"{count} row(s) that you contributed before have other values now{where}")
    if chosen.relabelled:
        names = ", ".join(map(shown, table.plan.encoding.ids))
        texts.append(
            f"{chosen.relabelled} row(s) have another label than rows that you contributed before"
            f" under the same {names}, and that are not in this table"
        )
    if texts and not chosen.count:
        raise ContributionError(
            f"no row is new, and {' and '.join(texts)}: the contribution that you made before has"
            " the old values. If these were wrong, contribute all rows anew: --replace; otherwise"
            " give the table as it was"
        )
    remedy = "they are left out, and count as they were; if that was wrong, contribute all anew"
    further = "; if they are further rows, give the earlier ones in this table, too"
    notes = [f"{text}: {remedy}: --replace" for text in texts]
    if chosen.relabelled:
        notes[-1] += further
    return tuple(notes)


def _corrected_columns(
    table: OwnTable, corrected: NDArray[np.bool_], journal: Journal, progress: Progress
) -> Sequence[str]:
    """The columns in which rows differ from what they were, as far as that is remembered."""
    features = table.plan.features_digest
    several = []
    for entry in journal.entries:
        counts = entry.file.digest not in journal.replaced
        is_like_this = entry.file.manifest.features == features
        if counts and is_like_this and entry.remembered is not None:
            several.append(entry.remembered)
    if not several:
        return []
    known = KnownRows.together(several)
    remembered = remember_table(table, secret=journal.secret, progress=progress)
    now = remembered.of(corrected)
    order = np.argsort(known.noise, kind="stable")
    place = np.minimum(np.searchsorted(known.noise[order], now.noise), len(order) - 1)
    is_there = known.noise[order[place]] == now.noise
    before = known.sketch[:, order[place[is_there]]]
    differs = (before != now.sketch[:, is_there]).sum(axis=1)
    names = remembering_of(table).names
    columns = zip(names, differs.tolist(), strict=True)
    return [f"{name} in {count} of them" for name, count in columns if count]
