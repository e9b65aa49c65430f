"""The last look at files: rows whose labels stand out, and rows that nobody else can check.

The first could be located in the others' rewards; of the second, the others' data say nothing. Sums
over rows, which is all that rewards are made of, do not tell: files are read once more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.audit import OpenRows, Uncheckable
from fairpool.compute.workers import Workers
from fairpool.consortium.contents import Content, Passage, refuse_changed
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.tables import Batch, Place, Source
from fairpool.encoding import TableEncoding
from fairpool.models import Classifier, ClassPosterior, WeightPosterior
from fairpool.parties import ClassSummary, Party, PartySummary
from fairpool.parties.class_summary import ClassStatistics
from fairpool.realisation import ModelReward, Models
from fairpool.realisation.outlying import NOTICED, LabelSum, OutlyingRow
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import Delivery
from fairpool.values import InformationGain

GONE = "rows that are gone since the last round"
"""Where rows are that still count, and are in no file any longer."""

BLOCK_VALUES = 1 << 18
"""So many features are made of rows at once: few enough for a processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Where a party's rows are.

    Attributes:
        source: Its files.
        contents: What they held when they were looked at; refused if they no longer do.
        summary: Sums over them.
        present: Sums over those that are there; None: that is all.
        kept: Those that are in memory: all, or a sample.
        taking_part: Of each piece of the files, which of its complete rows take part in this round;
            the others wait, and are in no sum.
    """

    source: Source
    contents: Mapping[Path, Content]
    summary: PartySummary | ClassSummary
    present: PartySummary | ClassSummary | None
    kept: Party
    taking_part: Sequence[NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True, eq=False)
class LastLook:
    """What was found.

    Attributes:
        models: The rewards, knowing which rows of files stand out in each.
        uncheckable: Per party, what of its data has to be taken on trust; None where it has no
            rows, or nobody else has any.
    """

    models: Models
    uncheckable: tuple[Uncheckable | None, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Task:
    """What all tasks of a party share.

    Attributes:
        encoding: How tables become X and y.
        delivery: How the party's tables come.
        others: The model trained on everybody else's data.
        seen: What recipients see of this party's labels.
    """

    encoding: TableEncoding
    delivery: Delivery
    others: WeightPosterior | ClassPosterior
    seen: "dict[Sight, Seen]"


Sight = tuple[str, int]
"""The name of a recipient, and the class whose labels it sees; 0 where labels are numbers."""


class Seen(NamedTuple):
    """What a recipient sees of a party's labels.

    Attributes:
        sum: The sum over all rows, in which one may stand out.
        eta: Variance of the noise on labels.
        gone: The sum over those that are no longer there, which nobody can look at one by one: they
            are judged as if they were one row [d]; None: all are there.
    """

    sum: LabelSum
    eta: float
    gone: FloatArray | None


class _Largest(NamedTuple):
    """Of some rows, the one that makes up most of what a recipient sees, and where it is."""

    part: float
    place: Place | str


class _Look(NamedTuple):
    """To each recipient, the row that stands out, if one may; and rows nobody can check."""

    largest: dict[Sight, _Largest]
    open_rows: OpenRows
    passage: Passage


class _Squares(NamedTuple):
    """To each recipient: the sum of the rows' squares; and what was read."""

    sums: dict[Sight, float]
    passage: Passage


class _PartyLook(NamedTuple):
    """What was found of one party: by the recipient's name, and what nobody can check."""

    outlying: dict[str, OutlyingRow]
    open_rows: OpenRows


def look_at_rows(
    game: InformationGain,
    models: Models,
    parties: Sequence[Rows | None],
    *,
    encoding: TableEncoding,
    workers: Workers,
    rows_are_agreed: bool,
) -> LastLook:
    """Read all files once more, for what the rewards alone do not tell.

    Args:
        game: Values from sums over the files' rows.
        models: The rewards made of them.
        parties: The files, in the parties' order; None: of sums there are none.
        encoding: How tables become X and y.
        workers: Who reads the files, piece by piece.
        rows_are_agreed: Whether all parties agreed that rows can be computed from rewards: nothing
            is looked for then that would tell where they are.
    """
    outlying: dict[str, dict[str, OutlyingRow]] = {model.party: {} for model in models}
    uncheckable: list[Uncheckable | None] = []
    for i, party in enumerate(parties):
        if party is None or not len(party.summary) or sum(game.rows) == len(party.summary):
            uncheckable.append(None)
            continue
        others = game.posterior([j for j in range(game.n) if j != i])
        # Only models with weights are made of sums.
        assert isinstance(others, WeightPosterior | ClassPosterior)
        if rows_are_agreed and len(party.kept) == len(party.summary):
            look = _look_at_kept(party.kept, others)  # which spares a reading
        else:
            seen = {} if rows_are_agreed else _seen_of(party, models)
            task = _Task(
                encoding=encoding, delivery=party.source.delivery, others=others, seen=seen
            )
            look = _look_at(party, task, workers)
        for recipient, row in look.outlying.items():
            outlying[recipient][party.summary.name] = row
        uncheckable.append(look.open_rows.uncheckable(others, party.summary))
    if not rows_are_agreed:
        models = Models(model.with_outlying(outlying[model.party]) for model in models)
    return LastLook(models=models, uncheckable=tuple(uncheckable))


def _seen_of(party: Rows, models: Models) -> dict[Sight, Seen]:
    """What each other recipient sees of a party's labels."""
    seen = {}
    for model in models:
        if model.exposure is None or model.party == party.summary.name:
            continue
        for c, view in enumerate(model.exposure.views):
            seen[model.party, c] = Seen(
                sum=_label_sum(party.summary, model, c),
                eta=view.eta,
                gone=_sum_of_gone(party, model, c),
            )
    return seen


def _label_sum(summary: PartySummary | ClassSummary, model: ModelReward, c: int) -> LabelSum:
    """What the recipient of a model sees of a party's labels, or of those of class c."""
    assert model.exposure is not None  # see `_seen_of`
    sums = _sums(summary, model, c)
    return model.exposure.views[c].label_sum(sums.gram, sums.moment, sums.noise)


class _Sums(NamedTuple):
    """What a view is given of a party."""

    gram: FloatArray
    moment: FloatArray
    noise: FloatArray


def _sums(summary: PartySummary | ClassSummary, model: ModelReward, c: int) -> _Sums:
    assert model.exposure is not None  # see `_seen_of`
    view = model.exposure.views[c]
    if isinstance(summary, PartySummary):
        # All rows have one noise variance, so that what they count is a factor of everything.
        return _Sums(summary.gram, summary.moment, summary.gram)
    classifier = model.posterior.model
    assert isinstance(classifier, Classifier)  # others have no summaries of classes
    inside, outside = summary.level_sums(c)
    statistics = ClassStatistics(inside=inside, outside=outside, coding=classifier.coding)
    told = statistics.weakened(view.eta, np.zeros(summary.label_draws))
    return _Sums(told.precision, told.moment, statistics.squared_weights(view.eta))


def _sum_of_gone(party: Rows, model: ModelReward, c: int) -> FloatArray | None:
    """Of a party's rows that still count and are no longer there: the sum of a_k e_k [d]."""
    if party.present is None:
        return None
    assert model.exposure is not None  # see `_seen_of`
    own = model.exposure.views[c].own
    all_, present = _sums(party.summary, model, c), _sums(party.present, model, c)
    return np.asarray(
        (all_.moment - present.moment) - (all_.gram - present.gram) @ own, dtype=float
    )


def _look_at_kept(party: Party, others: WeightPosterior | ClassPosterior) -> _PartyLook:
    """Rows that nobody can check, of a party whose rows are all in memory."""
    features = _features(others, party.X)
    return _PartyLook({}, OpenRows.of(others, party.X, features, y=party.y))


def _look_at(party: Rows, task: _Task, workers: Workers) -> _PartyLook:
    """All of a party's rows, piece by piece."""
    pieces = []
    for piece, taking_part in zip(Piece.of(party.source.files), party.taking_part, strict=True):
        pieces.append(_Rows(piece, taking_part))
    doing = f"looking for labels of {party.summary.name} that stand out"
    largest: dict[Sight, _Largest] = {}
    open_rows = OpenRows.none(task.others)
    passages = []
    for look in workers.map(_look, task, pieces, doing=doing):
        passages.append(look.passage)
        open_rows = open_rows.plus(look.open_rows)
        for recipient, found in look.largest.items():
            if recipient not in largest or found.part > largest[recipient].part:
                largest[recipient] = found
    refuse_changed(party.source.owner, passages, party.contents)
    for sight, of_sight in task.seen.items():
        if of_sight.gone is not None:
            part = of_sight.sum.part_of_some(of_sight.gone)
            if part > (largest[sight].part if sight in largest else 0.0):
                largest[sight] = _Largest(part, GONE)
    if not largest:
        return _PartyLook({}, open_rows)
    # Rarely: all rows' squares, which take longer, for those to whom a row may stand out.
    seen = {recipient: task.seen[recipient] for recipient in largest}
    squares = {}
    for sight, of_sight in seen.items():
        gone = of_sight.gone
        squares[sight] = 0.0 if gone is None else of_sight.sum.square_of_some(gone)
    passages = []
    for squared in workers.map(_square, replace(task, seen=seen), pieces, doing=doing):
        passages.append(squared.passage)
        for recipient, more in squared.sums.items():
            squares[recipient] += more
    refuse_changed(party.source.owner, passages, party.contents)
    rows: dict[str, OutlyingRow] = {}
    for sight, (part, place) in largest.items():
        share = seen[sight].sum.share(part, squares[sight])
        known = rows.get(sight[0])
        if share > NOTICED and (known is None or share > known.share):
            rows[sight[0]] = OutlyingRow(str(place), share)
    return _PartyLook(rows, open_rows)


class _Rows(NamedTuple):
    """A piece, and which of its complete rows take part."""

    piece: Piece
    taking_part: NDArray[np.bool_]


def _look(task: _Task, rows: _Rows) -> _Look:
    reading = _reading(task, rows.piece)
    largest: dict[Sight, _Largest] = {}
    open_rows = OpenRows.none(task.others)
    for block in _blocks(task, reading, rows.taking_part):
        open_rows = open_rows.plus(OpenRows.of(task.others, block.X, block.features, y=block.y))
        for sight, seen in task.seen.items():
            y, weight = _labels_seen(task, block, sight[1], eta=seen.eta)
            parts = seen.sum.parts(block.features[sight[1]], y, weight)
            row = int(np.argmax(parts))
            known = largest.get(sight)
            if parts[row] > (0.0 if known is None else known.part):
                place = block.batch.place(int(block.numbers[row]))
                largest[sight] = _Largest(float(parts[row]), place)
    return _Look(largest, open_rows, reading.passage)


def _square(task: _Task, rows: _Rows) -> _Squares:
    reading = _reading(task, rows.piece)
    sums = dict.fromkeys(task.seen, 0.0)
    for block in _blocks(task, reading, rows.taking_part):
        for sight, seen in task.seen.items():
            y, weight = _labels_seen(task, block, sight[1], eta=seen.eta)
            sums[sight] += seen.sum.sum_of_squares(block.features[sight[1]], y, weight)
    return _Squares(sums, reading.passage)


def _labels_seen(
    task: _Task, block: "_Block", c: int, *, eta: float
) -> tuple[FloatArray, FloatArray | float]:
    """Labels as a latent function sees them [m], and what they count: the same, for numbers."""
    if not isinstance(task.others, ClassPosterior):
        return block.y, 1.0
    coding = task.others.model.coding
    return coding.targets(block.y, c), 1 / (coding.noise(block.y, c) + eta)


def _reading(task: _Task, piece: Piece) -> Reading:
    return Reading.labelled(piece, task.encoding, task.delivery)


class _Block(NamedTuple):
    """Some complete rows.

    Attributes:
        X: Inputs [m, p].
        features: Whitened features [m, d] of every class, or of the only function that there is.
        y: Labels less the prior mean [m]; of classes, their numbers.
        numbers: Of the rows in the batch [m].
        batch: What they are from.
    """

    X: FloatArray
    features: tuple[FloatArray, ...]
    y: FloatArray
    numbers: NDArray[np.intp]
    batch: Batch


def _blocks(task: _Task, reading: Reading, taking_part: NDArray[np.bool_]) -> Iterator[_Block]:
    model = task.others.model
    d = task.others.weight_count // model.label_sets
    step = max(1024, BLOCK_VALUES // max(d, 1))
    done = 0
    for batch in reading:
        for start in range(0, batch.columns.num_rows, step):
            table = batch.columns.slice(start, step)
            complete = np.flatnonzero(complete_rows(table, imputed=task.encoding.imputed))
            count = len(complete)
            complete = complete[taking_part[done : done + count]]
            done += count
            if not len(complete):
                continue
            table = table.take(complete)
            X = task.encoding.encode(table)
            yield _Block(
                X=X,
                features=_features(task.others, X),
                y=_residuals(task.others, X, task.encoding.encode_target(table)),
                numbers=start + complete,
                batch=batch,
            )


def _features(others: WeightPosterior | ClassPosterior, X: FloatArray) -> tuple[FloatArray, ...]:
    """Whitened features [m, d] of every class, or of the only function that there is."""
    if isinstance(others, ClassPosterior):
        return others.model.features_of_classes(X)
    return (others.model.whitened_features(X),)


def _residuals(
    others: WeightPosterior | ClassPosterior, X: FloatArray, y: FloatArray
) -> FloatArray:
    """Labels less their prior mean [m]; numbers of classes as they are."""
    if isinstance(others, ClassPosterior):
        return y
    return np.asarray(y - others.model.prior_mean_at(X))
