"""What operators see of a table's rows: features, and the rows over which these are summed up.

Every contribution without noise is a look at some rows, through the features of its plan. Whoever
has several, or several who put theirs together, has all combinations of them. They are as one look
through the features of all of them, side by side, each 0 for the rows that it does not have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.home.own_table import OwnTable
from fairpool.consortium.reading import Reading
from fairpool.consortium.rounds.part_sums import features_of
from fairpool.consortium.statistics import BLOCK_VALUES, encode_complete
from fairpool.models import Classifier
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """One contribution's look at a table.

    Attributes:
        table: As the contribution's plan reads it; its complete rows are those of all other looks.
        rows: Which of its complete rows are summed up [m].
    """

    table: OwnTable
    rows: NDArray[np.bool_] = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """Some rows, as the sums of one kind see them: those of a class, or of all others, or all.

    Attributes:
        sums: Which of the kinds of sums, counted from 0.
        rows: Their numbers among the complete rows, counted from 0 [k].
        features: Of all looks side by side [k, d].
    """

    sums: int
    rows: NDArray[np.intp]
    features: FloatArray


def seen_rows(looks: Sequence[Look], workers: Workers, *, doing: str) -> Iterator[Seen]:
    """All rows that any look sees; the files are read once more.

    Args:
        looks: The first is that of the contribution that is being made: its plan's classes count.
        workers: Who is told about it.
        doing: What it is told.
    """
    first = looks[0].table
    tables = list(dict.fromkeys(look.table for look in looks))
    d = sum(look.table.plan.weights for look in looks)
    is_seen = np.logical_or.reduce([look.rows for look in looks])
    done = 0
    passages = []
    for number in range(len(first.identities.pieces)):
        readings = [_reading(table, number) for table in tables]
        for batches in zip(*readings, strict=True):
            step = max(1024, BLOCK_VALUES // max(d, 1))
            for start in range(0, batches[0].columns.num_rows, step):
                encoded = [
                    encode_complete(batch.columns.slice(start, step), table.plan.encoding)
                    for batch, table in zip(batches, tables, strict=True)
                ]
                features = {
                    table: features_of(table.plan.model, X)
                    for table, (X, _) in zip(tables, encoded, strict=True)
                }
                labels = encoded[0][1]
                here = slice(done, done + len(labels))
                done = here.stop
                yield from _seen_here(looks, features, labels, here=here, is_seen=is_seen)
        passages.append(readings[0].passage)
        workers.progress(doing, number + 1, len(first.identities.pieces))
    refuse_changed(first.survey.source.owner, passages, first.survey.contents)


def kinds_of_sums(table: OwnTable) -> int:
    """How many kinds of sums there are: of classes, those of each, and maybe of all others."""
    model = table.plan.model
    if not isinstance(model, Classifier):
        return 1
    return model.classes if model.shared else 2 * model.classes


def _reading(table: OwnTable, number: int) -> Reading:
    piece = table.identities.pieces[number]
    return Reading.labelled(piece, table.plan.encoding, table.survey.source.delivery)


def _seen_here(
    looks: Sequence[Look],
    features: dict[OwnTable, tuple[FloatArray, ...]],
    labels: FloatArray,
    *,
    here: slice,
    is_seen: NDArray[np.bool_],
) -> Iterator[Seen]:
    """Each kind of sums over some rows.

    Args:
        looks: All of them.
        features: By table, those of each class.
        labels: By the first look's plan.
        here: The rows' numbers.
        is_seen: Whether any look sees a row [m].
    """
    model = looks[0].table.plan.model
    kinds = kinds_of_sums(looks[0].table)
    for kind in range(kinds):
        c, side = kind, 0
        if isinstance(model, Classifier) and not model.shared:
            c, side = divmod(kind, 2)
        is_in = is_seen[here]
        if isinstance(model, Classifier):
            is_in = is_in & ((labels == c) == (side == 0))
        if not is_in.any():
            continue
        places = np.flatnonzero(is_in)
        blocks = []
        for look in looks:
            of_classes = features[look.table]
            A = of_classes[min(c, len(of_classes) - 1)][places]
            rows = look.rows[here][places]
            blocks.append(A if rows.all() else A * rows[:, None])
        together = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        yield Seen(sums=kind, rows=here.start + places, features=together)
