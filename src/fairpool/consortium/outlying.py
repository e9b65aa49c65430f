"""Rows of files that could be located in the others' rewards, since their labels stand out.

Sums over rows, which is all that rewards are made of, do not tell: files are read once more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.contents import Content, Passage, refuse_changed
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.tables import Place, Source
from fairpool.encoding import TableEncoding
from fairpool.models import WeightModel
from fairpool.parties import PartySummary
from fairpool.realisation import ModelReward
from fairpool.realisation.outlying import NOTICED, LabelSum, OutlyingRow

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
    model: WeightModel
    seen: dict[str, LabelSum]


class _Largest(NamedTuple):
    """Of some rows, the one that makes up most of what a recipient sees.

    Attributes:
        part: What it makes up.
        place: Where it is; None: there is no row.
        squares: Sum of squares over all these rows.
    """

    part: float = 0.0
    place: Place | None = None
    squares: float = 0.0

    def merged(self, other: "_Largest") -> "_Largest":
        """That of both ones' rows; of equal ones, the first is kept."""
        squares = self.squares + other.squares
        if other.part > self.part:
            return other._replace(squares=squares)
        return self._replace(squares=squares)


class _Look(NamedTuple):
    """The row that stands out most, by the recipient's name; and what was read."""

    largest: dict[str, _Largest]
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
    task = _Task(encoding=encoding, model=weights, seen=seen)
    pieces = Piece.of(party.source.files)
    largest = dict.fromkeys(seen, _Largest())
    passages = []
    doing = f"looking for labels of {summary.name} that stand out"
    for look in workers.map(_look, task, pieces, doing=doing):
        passages.append(look.passage)
        for recipient, found in look.largest.items():
            largest[recipient] = largest[recipient].merged(found)
    refuse_changed(party.source.owner, passages, party.contents)
    rows = {}
    for recipient, (part, place, squares) in largest.items():
        share = seen[recipient].share(part, squares)
        if share > NOTICED:
            rows[recipient] = OutlyingRow(str(place), share)
    return rows


def _look(task: _Task, piece: Piece) -> _Look:
    reading = Reading(
        piece=piece,
        numbers=task.encoding.labelled_numbers,
        texts=task.encoding.labelled_texts,
    )
    d = len(next(iter(task.seen.values())).own)
    step = max(1024, BLOCK_VALUES // max(d, 1))
    largest = dict.fromkeys(task.seen, _Largest())
    for batch in reading:
        for start in range(0, batch.columns.num_rows, step):
            table = batch.columns.slice(start, step)
            numbers = start + np.flatnonzero(complete_rows(table))
            if not len(numbers):
                continue
            table = table.take(numbers - start)
            X = task.encoding.encode(table)
            A = task.model.whitened_features(X)
            y = task.encoding.encode_target(table) - task.model.prior_mean_at(X)
            for recipient, seen in task.seen.items():
                terms = seen.terms(A, y)
                row = int(np.argmax(terms.parts))
                found = _Largest(
                    part=float(terms.parts[row]),
                    place=batch.place(int(numbers[row])),
                    squares=terms.squares,
                )
                largest[recipient] = largest[recipient].merged(found)
    return _Look(largest, reading.passage)
