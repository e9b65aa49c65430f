"""Rows of files that could be located in the others' rewards, since their labels stand out.

Sums over rows, which is all that rewards are made of, do not tell: files are read once more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.contents import Content, Passage, refuse_changed
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.tables import Batch, Place, Source
from fairpool.encoding import TableEncoding
from fairpool.models import WeightModel
from fairpool.parties import PartySummary
from fairpool.realisation import ModelReward
from fairpool.realisation.outlying import NOTICED, LabelSum, OutlyingRow
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import Delivery

BLOCK_VALUES = 1 << 18
"""So many features are made of rows at once: few enough for a processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Where a party's rows are.

    Attributes:
        source: Its files.
        contents: What they held when they were looked at; refused if they no longer do.
        summary: Sums over them.
    """

    source: Source
    contents: Mapping[Path, Content]
    summary: PartySummary


@dataclass(frozen=True, kw_only=True, eq=False)
class _Task:
    """What all tasks of a party share; of each other party, what its recipient sees of this one."""

    encoding: TableEncoding
    delivery: Delivery
    model: WeightModel
    seen: dict[str, LabelSum]


class _Largest(NamedTuple):
    """Of some rows, the one that makes up most of what a recipient sees, and where it is."""

    part: float
    place: Place


class _Look(NamedTuple):
    """By the recipient's name: the row that stands out, if one may; and what was read."""

    largest: dict[str, _Largest]
    passage: Passage


class _Squares(NamedTuple):
    """By the recipient's name: the sum of the rows' squares; and what was read."""

    sums: dict[str, float]
    passage: Passage


def with_outlying_rows(
    models: tuple[ModelReward, ...],
    parties: list[Rows],
    *,
    encoding: TableEncoding,
    workers: Workers,
) -> tuple[ModelReward, ...]:
    """The rewards, knowing which rows of files stand out in each.

    Args:
        models: The rewards, made from sums over the files' rows.
        parties: The files.
        encoding: How tables become X and y.
        workers: Who reads the files, piece by piece.
    """
    outlying: dict[str, dict[str, OutlyingRow]] = {model.party: {} for model in models}
    for party in parties:
        for recipient, row in _rows_of(party, models, encoding=encoding, workers=workers).items():
            outlying[recipient][party.summary.name] = row
    return tuple(model.with_outlying(outlying[model.party]) for model in models)


def _rows_of(
    party: Rows, models: tuple[ModelReward, ...], *, encoding: TableEncoding, workers: Workers
) -> dict[str, OutlyingRow]:
    """The row of a party that stands out to each recipient, by the recipient's name."""
    summary = party.summary
    seen = {}
    for model in models:
        exposure = model.exposure
        if exposure is not None and exposure.view is not None and model.party != summary.name:
            # All rows have one noise variance, so that what they count is a factor of everything.
            seen[model.party] = exposure.view.label_sum(summary.gram, summary.moment, summary.gram)
    if not seen:
        return {}
    weights = models[0].posterior.model
    assert isinstance(weights, WeightModel)  # only its rewards have a view
    task = _Task(encoding=encoding, delivery=party.source.delivery, model=weights, seen=seen)
    pieces = Piece.of(party.source.files)
    doing = f"looking for labels of {summary.name} that stand out"
    largest: dict[str, _Largest] = {}
    passages = []
    for look in workers.map(_look, task, pieces, doing=doing):
        passages.append(look.passage)
        for recipient, found in look.largest.items():
            if recipient not in largest or found.part > largest[recipient].part:
                largest[recipient] = found
    refuse_changed(party.source.owner, passages, party.contents)
    if not largest:
        return {}
    # Rarely: all rows' squares, which take longer, for those to whom a row may stand out.
    task = replace(task, seen={recipient: seen[recipient] for recipient in largest})
    squares = dict.fromkeys(largest, 0.0)
    passages = []
    for piece in workers.map(_square, task, pieces, doing=doing):
        passages.append(piece.passage)
        for recipient, more in piece.sums.items():
            squares[recipient] += more
    refuse_changed(party.source.owner, passages, party.contents)
    rows = {}
    for recipient, (part, place) in largest.items():
        share = seen[recipient].share(part, squares[recipient])
        if share > NOTICED:
            rows[recipient] = OutlyingRow(str(place), share)
    return rows


def _look(task: _Task, piece: Piece) -> _Look:
    reading = _reading(task, piece)
    largest: dict[str, _Largest] = {}
    for block in _blocks(task, reading):
        for recipient, seen in task.seen.items():
            parts = seen.parts(block.A, block.y)
            row = int(np.argmax(parts))
            known = largest.get(recipient)
            if parts[row] > (0.0 if known is None else known.part):
                place = block.batch.place(int(block.numbers[row]))
                largest[recipient] = _Largest(float(parts[row]), place)
    return _Look(largest, reading.passage)


def _square(task: _Task, piece: Piece) -> _Squares:
    reading = _reading(task, piece)
    sums = dict.fromkeys(task.seen, 0.0)
    for block in _blocks(task, reading):
        for recipient, seen in task.seen.items():
            sums[recipient] += seen.sum_of_squares(block.A, block.y)
    return _Squares(sums, reading.passage)


def _reading(task: _Task, piece: Piece) -> Reading:
    return Reading.labelled(piece, task.encoding, task.delivery)


class _Block(NamedTuple):
    """Some complete rows: their features [m, d], labels less the prior mean [m], and numbers."""

    A: FloatArray
    y: FloatArray
    numbers: NDArray[np.intp]
    batch: Batch


def _blocks(task: _Task, reading: Reading) -> Iterator[_Block]:
    d = len(next(iter(task.seen.values())).own)
    step = max(1024, BLOCK_VALUES // max(d, 1))
    for batch in reading:
        for start in range(0, batch.columns.num_rows, step):
            table = batch.columns.slice(start, step)
            complete = np.flatnonzero(complete_rows(table, imputed=task.encoding.imputed))
            if not len(complete):
                continue
            table = table.take(complete)
            X = task.encoding.encode(table)
            yield _Block(
                A=task.model.whitened_features(X),
                y=task.encoding.encode_target(table) - task.model.prior_mean_at(X),
                numbers=start + complete,
                batch=batch,
            )
