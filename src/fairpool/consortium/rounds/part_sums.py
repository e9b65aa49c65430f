"""Sums over the rows of each part of a party's data, and over the noise on their labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fairpool.compute.workers import Workers
from fairpool.consortium import reading
from fairpool.consortium.contents import Passage, refuse_changed
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.statistics import BLOCK_VALUES, encode_complete
from fairpool.consortium.surveys import Survey
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError
from fairpool.keyed_noise.paths import Courses, Paths
from fairpool.models import Classifier, Model, WeightModel, WithinBounds
from fairpool.models.weight_model import RowSums
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import Delivery

PARTS_AT_ONCE = 4
"""Of so many parts there are enough rows in a block that each is worth a call."""

Groups = NDArray[np.intp]
"""For each row, the place of its part; -1: it takes no part."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Task:
    """What all tasks of a party share."""

    encoding: TableEncoding
    delivery: Delivery
    model: WeightModel | Classifier | WithinBounds
    parts: int
    d: int
    threads: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class _Numbered:
    """A piece, and the part of each of its complete rows."""

    piece: Piece
    groups: Groups


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sums:
    """Of a piece: each part's sums, and what was read."""

    of_parts: list[RowSums]
    passage: Passage


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Some complete rows, as the model sees them.

    Attributes:
        X: Inputs [m, p].
        y: Labels [m].
        rows: Their places among all complete rows of the piece.
    """

    X: FloatArray
    y: FloatArray
    rows: slice

    def by_part(self, groups: Groups) -> "Iterator[tuple[int, NDArray[np.intp]]]":
        """Each part that has rows here, and its rows' places in the block, in order.

        Args:
            groups: The part of each complete row of the piece.
        """
        of_block = groups[self.rows]
        order = np.argsort(of_block, kind="stable")
        places, starts = np.unique(of_block[order], return_index=True)
        for place, rows in zip(places.tolist(), np.split(order, starts[1:]), strict=True):
            if place >= 0:
                yield place, rows


def blocks_of(
    reading_: Reading, encoding: TableEncoding, d: int, *, parts: int = 1
) -> Iterator[Block]:
    """A piece's complete rows, few enough of each part at once for a processor's cache."""
    values = BLOCK_VALUES * max(1, min(parts, PARTS_AT_ONCE))
    step = max(1024, min(reading.BATCH_ROWS, values // max(d, 1)))
    done = 0
    for batch in reading_:
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, batch.columns.num_rows, step):
                X, y = encode_complete(batch.columns.slice(start, step), encoding)
                yield Block(X=X, y=y, rows=slice(done, done + len(y)))
                done += len(y)


def sum_parts(
    survey: Survey,
    identities: Identities,
    groups: Groups,
    *,
    parts: int,
    encoding: TableEncoding,
    model: WeightModel | Classifier | WithinBounds,
    workers: Workers,
) -> list[RowSums]:
    """Each part's sums over its rows; the same to the last bit for any workers.

    Args:
        survey: What was seen of the files before; refused if they no longer hold that.
        identities: Who the rows are.
        groups: The part of each row.
        parts: How many parts there are.
        encoding: How tables become X and y.
        model: What the sums are for.
        workers: Who reads the files, piece by piece.
    """
    task = _Task(
        encoding=encoding,
        delivery=survey.source.delivery,
        model=model,
        parts=parts,
        d=model.probe(len(encoding.features)).shape[-1] - 1,
        threads=workers.executor is None or len(identities.pieces) == 1,
    )
    numbered = []
    for piece, of_piece in zip(identities.pieces, identities.by_piece(groups), strict=True):
        numbered.append(_Numbered(piece=piece, groups=of_piece.astype(np.intp)))
    totals = [_nothing(task)] * parts
    passages = []
    # More BLAS threads would round differently than workers, which have one each.
    with threadpool_limits(1, "blas"):
        for sums in workers.map(
            _sum_up, task, numbered, doing=f"summarising {survey.source.owner}"
        ):
            passages.append(sums.passage)
            totals = [total.plus(more) for total, more in zip(totals, sums.of_parts, strict=True)]
    refuse_changed(survey.source.owner, passages, survey.contents)
    return totals


def _nothing(task: _Task) -> RowSums:
    return task.model.moments(np.zeros((0, len(task.encoding.features))), np.zeros(0))


def _sum_up(task: _Task, numbered: _Numbered) -> _Sums:
    totals = [_nothing(task)] * task.parts
    batches = Reading.labelled(numbered.piece, task.encoding, task.delivery, threads=task.threads)
    for block in blocks_of(batches, task.encoding, task.d, parts=task.parts):
        for place, rows in block.by_part(numbered.groups):
            totals[place] = totals[place].plus(task.model.moments(block.X[rows], block.y[rows]))
    for total in totals:
        if not all(np.isfinite(numbers).all() for numbers in total):
            raise DataError(
                f"{numbered.piece.file}: a value is infinite, or too large to be squared;"
                " correct it"
            )
    return _Sums(of_parts=totals, passage=batches.passage)


def sum_noise(
    survey: Survey,
    identities: Identities,
    groups: Groups,
    *,
    wanted: Mapping[int, Sequence[float]],
    encoding: TableEncoding,
    model: WeightModel | Classifier,
    paths: Paths,
    workers: Workers,
) -> dict[tuple[int, float], FloatArray]:
    """Sums of the rows' features times the noise on their labels, of each part and variance.

    In this process, which alone has the secret.

    Args:
        survey: What was seen of the files before; refused if they no longer hold that.
        identities: Who the rows are.
        groups: The part of each row.
        wanted: Of each part, by its place, the noise variances in the model's units.
        encoding: How tables become X and y.
        model: Whose features they are.
        paths: The noise of every row.
        workers: Who is told about it.

    Returns:
        [d]; of k classes, for each class the sum over its own rows and that over all others
        [k * 2 d].
    """
    d = model.probe(len(encoding.features)).shape[-1] - 1
    of_classes = isinstance(model, Classifier)
    shape = (2 * d * model.label_sets,) if of_classes else (d,)
    sums = {place: np.zeros((len(etas), *shape)) for place, etas in wanted.items()}
    noise = LabelPaths(paths=paths, scale=encoding.target.noise_scale, model=model)
    courses = {}
    for etas in wanted.values():
        if tuple(etas) not in courses:
            courses[tuple(etas)] = noise.to(etas)
    passages = []
    ids_by_piece = identities.by_piece(identities.ids)
    groups_by_piece = identities.by_piece(groups)
    doing = f"adding noise to {survey.source.owner}"
    for number, piece in enumerate(identities.pieces):
        batches = Reading.labelled(piece, encoding, survey.source.delivery)
        for block in blocks_of(batches, encoding, d, parts=len(wanted)):
            by_part = dict(block.by_part(groups_by_piece[number]))
            ids = ids_by_piece[number][block.rows]
            for etas, course in courses.items():
                # Parts of the same etas together: fewer and longer calls.
                here = [place for place in by_part if tuple(wanted.get(place, ())) == etas]
                if not here:
                    continue
                rows = np.concatenate([by_part[place] for place in here])
                features = features_of(model, block.X[rows])
                y = block.y[rows]
                z = course.at(ids[rows])
                begin = 0
                for place in here:
                    part = slice(begin, begin + len(by_part[place]))
                    of_part = [A[part] for A in features]
                    sums[place] += _noise_sums(
                        of_part, y[part], z=z[:, :, part], of_classes=of_classes
                    )
                    begin = part.stop
        passages.append(batches.passage)
        workers.progress(doing, number + 1, len(identities.pieces))
    refuse_changed(survey.source.owner, passages, survey.contents)
    found = {}
    for place, of_place in sums.items():
        for eta, of_eta in zip(wanted[place], of_place, strict=True):
            found[place, eta] = of_eta
    return found


def features_of(model: WeightModel | Classifier, X: FloatArray) -> tuple[FloatArray, ...]:
    """Whitened features [m, d] of every class, or of the only function that there is."""
    if isinstance(model, Classifier):
        return model.features_of_classes(X)
    return (model.whitened_features(X),)


def _noise_sums(
    features: Sequence[FloatArray], y: FloatArray, *, z: FloatArray, of_classes: bool
) -> FloatArray:
    """A^T z for every eta [etas, ..]; of classes, over the rows of each class and over all others.

    Args:
        features: A of every class [m, d].
        y: Labels [m].
        z: Noise [label sets, etas, m].
        of_classes: Whether labels are classes.
    """
    if not of_classes:
        return np.asarray(z[0] @ features[0])
    parts = []
    for c, A in enumerate(features):
        is_inside = y == c
        parts += [z[c][:, is_inside] @ A[is_inside], z[c][:, ~is_inside] @ A[~is_inside]]
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelPaths:
    """The noise on labels, in the model's units.

    Attributes:
        paths: In squared units of the target: a scale that is learned anew changes no noise.
        scale: What one unit of the model is in those of the target.
        model: How many labels a row has: one, or one for each class.
    """

    paths: Paths
    scale: float
    model: Model

    def to(self, etas: Sequence[float]) -> "LabelCourses":
        """The noise at some variances, for rows that come in pieces."""
        raw = [eta * self.scale**2 for eta in etas]
        streams = range(self.model.label_sets)
        courses = tuple(self.paths.to(raw, stream=stream) for stream in streams)
        return LabelCourses(courses=courses, scale=self.scale)

    def at(
        self, ids: NDArray[np.uint64], etas: Sequence[float]
    ) -> Iterator[tuple[float, FloatArray]]:
        """Of each variance, every label's noise [label sets, m]."""
        noise = self.to(etas).at(ids)
        for number, eta in enumerate(etas):
            yield eta, noise[:, number]


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelCourses:
    """The noise on labels at some variances.

    Attributes:
        courses: The paths, for each label that a row has.
        scale: What one unit of the model is in those of the target.
    """

    courses: tuple[Courses, ...]
    scale: float

    def at(self, ids: NDArray[np.uint64]) -> FloatArray:
        """Every label's noise [label sets, etas, m]."""
        return np.array([course.at(ids) / self.scale for course in self.courses])
