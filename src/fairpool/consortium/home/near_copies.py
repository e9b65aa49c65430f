"""New rows that were contributed before, written otherwise: rounded, shifted, spelled differently.

They would count twice, and their labels would get a second, independent noise. So a little of every
row is kept at home, as an operator keeps it of parties who send rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.known_rows import KnownRows
from fairpool.audit.re_exports import MOST_OF_THEM, find_re_export
from fairpool.compute.workers import Progress
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.consortium.home.own_table import ONE_PERSON, OwnTable
from fairpool.consortium.rounds.remembering import (
    Remembered,
    Remembering,
    id_columns,
    remember_rows,
)
from fairpool.consortium.sketching import share_within
from fairpool.errors import ContributionError
from fairpool.keyed_noise.secret import Secret

MOST_REMEMBERED = 500_000
"""Of a table with more rows, a random share stands for all. Each takes about 50 bytes."""


def remember_table(table: OwnTable, *, secret: Secret, progress: Progress) -> Remembered:
    """What is kept of a table's rows.

    Args:
        table: It is read once more.
        secret: That of the home.
        progress: Called as rows are read.
    """
    return remember_rows(
        remembering_of(table),
        table.survey,
        table.identities,
        party=ONE_PERSON,
        secret=secret,
        progress=progress,
    )


def refuse_near_copies(
    table: OwnTable,
    remembered: Remembered,
    chosen: NDArray[np.bool_],
    earlier: Sequence[JournalEntry],
) -> None:
    """Refuse rows that agree with contributed ones more often than by chance.

    Args:
        table: The table.
        remembered: What is kept of its rows.
        chosen: Which of them are new [m].
        earlier: What was contributed.
    """
    features = table.plan.features_digest
    alike = [entry for entry in earlier if entry.file.manifest.features == features]
    known = [entry.remembered for entry in alike if entry.remembered is not None]
    if not known:
        return
    remembering = remembering_of(table)
    new = np.flatnonzero(chosen[remembered.numbers])
    found = find_re_export(
        KnownRows.together(known),
        remembered.rows.some(new),
        names=remembering.names,
        texts=remembering.text_places,
    )
    if found is None:
        return
    first = table.place_of(int(remembered.numbers[new[found.new[0]]]))
    if _come_several_times(remembered.rows)[new[found.new]].mean() >= MOST_OF_THEM:
        raise ContributionError(
            f"about {len(found.new)} of {len(new)} new row(s), the first of them at {first}, say in"
            " every column what another row of this table says, which you contributed before: were"
            " they pasted in twice? Take out the second ones; or, if there are really several such"
            " rows, contribute all rows anew, in place of the earlier contributions: --replace"
        )
    raise ContributionError(
        f"about {len(found.new)} of {len(new)} new row(s), the first of them at {first}, seem to be"
        " rows that you contributed before, written otherwise: so many agree with those, but for"
        " rounding or for one column, that it cannot be chance. They would count twice, and both"
        " together would tell more of them than was agreed. Give these rows as they were before,"
        " or contribute all rows anew, in place of the earlier contributions: --replace"
    )


def _come_several_times(rows: KnownRows) -> NDArray[np.bool_]:
    """Which rows agree with another of the same table in all that is remembered [m]."""
    whole = np.column_stack([rows.sketch.T.astype(np.float64), rows.labels])
    _, kind, count = np.unique(whole, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(count[kind.reshape(-1)] > 1)


def remembering_of(table: OwnTable) -> Remembering:
    """How a row of this table becomes what is remembered of it."""
    encoding = table.plan.encoding
    return Remembering(
        first=encoding,
        now=encoding,
        ids=id_columns(table.identities.columns, encoding),
        share=share_within(MOST_REMEMBERED, len(table.identities.ids)),
    )
