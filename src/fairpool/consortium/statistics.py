"""Sums over the rows of large tables, batch by batch: memory does not grow with the rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from fairpool.compute.workers import Workers
from fairpool.consortium import reading
from fairpool.consortium.contents import Content, Passage, refuse_changed
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.tables import Source
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError
from fairpool.models import Classifier, WeightModel
from fairpool.models.weight_model import RowSums
from fairpool.parties import ClassSummary, PartySummary
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import Delivery

BLOCK_VALUES = 1 << 18
"""So many features are made of rows at once: few enough for a processor's cache."""

ROUND = 64
"""So many pieces' sums are kept before they are added up."""

ROUND_BYTES = 1 << 28
"""And no more than take this much."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """Sums over the complete rows of a piece.

    Attributes:
        sums: What the model learns from them.
        rows: How many rows there are in them.
        passage: What was read.
    """

    sums: RowSums
    rows: int
    passage: Passage


@dataclass(frozen=True, kw_only=True, eq=False)
class _Task:
    """What all tasks of a party share; d is the number of features."""

    encoding: TableEncoding
    delivery: Delivery
    model: WeightModel | Classifier
    d: int
    threads: bool


def summarise_files(
    name: str,
    source: Source,
    *,
    encoding: TableEncoding,
    model: WeightModel | Classifier,
    expected: Mapping[Path, Content] | None = None,
    workers: Workers | None = None,
) -> PartySummary | ClassSummary:
    """A party's sufficient statistics, from its files; incomplete rows are left out.

    The same as `model.summarise` of all rows at once, up to rounding, and the same to the last bit
    for any workers.

    Args:
        name: The party.
        source: CSV and Parquet files with the encoding's columns.
        encoding: How tables become X and y.
        model: What the statistics are for.
        expected: What the files held when they were looked at; refused if they no longer do. None:
            they were not looked at.
        workers: Who reads the files, piece by piece.
    """
    workers = workers or Workers()
    inputs = len(encoding.features)
    pieces = Piece.of(source.files, hashed=expected is not None)
    task = _Task(
        encoding=encoding,
        delivery=source.delivery,
        model=model,
        d=model.probe(inputs).shape[-1] - 1,
        threads=workers.executor is None or len(pieces) == 1,
    )
    total = _nothing(task)
    rows = 0
    passages = []
    for part in _sums_of(pieces, task, doing=f"summarising {name}", workers=workers):
        total = total.plus(part.sums)
        rows += part.rows
        passages.append(part.passage)
    if expected is not None:
        refuse_changed(source.owner, passages, expected)
    return model.summary_of(name, total, rows=rows, inputs=inputs)


def _nothing(task: _Task) -> RowSums:
    """Sums over no rows."""
    return task.model.moments(np.zeros((0, len(task.encoding.features))), np.zeros(0))


def _sums_of(
    pieces: Sequence[Piece], task: _Task, *, doing: str, workers: Workers
) -> Iterator[Sums]:
    """Each piece's sums, in order, of which no more than a round are in memory."""
    size = max(1, min(ROUND, ROUND_BYTES // max(_nothing(task).gram.nbytes, 1)))
    for start in range(0, len(pieces), size):
        in_round = pieces[start : start + size]
        # More BLAS threads would round differently than workers, which have one each.
        with threadpool_limits(1, "blas"):
            sums = workers.map(
                _sum_up, task, in_round, doing=doing, before=start, total=len(pieces)
            )
        yield from sums


def _sum_up(task: _Task, piece: Piece) -> Sums:
    # A batch is read at once since that is quicker, but turned into features block by block.
    step = max(1024, min(reading.BATCH_ROWS, BLOCK_VALUES // max(task.d, 1)))
    total = _nothing(task)
    rows = 0
    batches = Reading.labelled(piece, task.encoding, task.delivery, threads=task.threads)
    for batch in batches:
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, batch.columns.num_rows, step):
                X, y = encode_complete(batch.columns.slice(start, step), task.encoding)
                total = total.plus(task.model.moments(X, y))
                rows += len(y)
    if not all(np.isfinite(numbers).all() for numbers in total):
        raise DataError(
            f"{piece.file}: a value is infinite, or too large to be squared; correct it"
        )
    return Sums(sums=total, rows=rows, passage=batches.passage)


def encode_complete(table: pa.Table, encoding: TableEncoding) -> tuple[FloatArray, FloatArray]:
    """The complete rows of a table, as the model sees them: X [m, p], y [m]."""
    X = encoding.encode(table)
    y = encoding.encode_target(table)
    # The minimum is NaN as soon as one value is: hardly any time for tables without missing values.
    missing = np.isnan(X.min(initial=0.0) + y.min(initial=0.0))
    if missing or any(table[name].null_count for name in encoding.categories):
        complete = complete_rows(table, imputed=encoding.imputed)
        return X[complete], y[complete]
    return X, y
