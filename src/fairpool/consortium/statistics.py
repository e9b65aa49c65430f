"""Sums over the rows of large tables, batch by batch: memory does not grow with the rows."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from fairpool.compute.workers import Progress, Workers
from fairpool.consortium.intake import Piece, Survey, complete_rows
from fairpool.consortium.tables import BATCH_ROWS, read_batches
from fairpool.errors import DataError
from fairpool.models import WeightModel
from fairpool.parties import PartySummary
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import TableEncoding

BLOCK_VALUES = 1 << 18
"""So many features are made of rows at once: few enough for a processor's cache."""

ROUND = 64
"""So many pieces' sums are kept before they are added up."""

ROUND_BYTES = 1 << 28
"""And no more than take this much."""

Sums = tuple[FloatArray, FloatArray, int]
"""Gram matrix [d, d], moment [d], and of how many rows."""


def summarise_files(
    name: str,
    files: Sequence[Path],
    encoding: TableEncoding,
    model: WeightModel,
    workers: Workers | None = None,
) -> PartySummary:
    """A party's sufficient statistics, from its files; rows in which something is missing are left
    out.

    The same as `model.summarise` of all rows at once, up to rounding, and the same to the last bit
    for any workers.

    Args:
        name: The party.
        files: CSV and Parquet files with the encoding's columns.
        encoding: How tables become X and y.
        model: What the statistics are for.
        workers: Who reads the files, piece by piece.
    """
    workers = workers or Workers()
    inputs, pieces = len(encoding.features), Piece.of(files)
    probe = model.probe(inputs)
    d = probe.shape[1] - 1
    gram, moment, rows = np.zeros((d, d)), np.zeros(d), 0
    shared = encoding, model, d, workers.executor is None or len(pieces) == 1
    with threadpool_limits(
        1, "blas"
    ):  # more threads would round differently than workers, which have one each
        size = max(1, min(ROUND, ROUND_BYTES // (8 * max(d, 1) ** 2)))
        for start in range(0, len(pieces), size):
            some = pieces[start : start + size]
            for part in workers.map(
                _sum_up, shared, some, f"summarising {name}", before=start, total=len(pieces)
            ):
                gram, moment, rows = gram + part[0], moment + part[1], rows + part[2]
    return PartySummary(name, gram, moment, model.noise_variance, rows, inputs, probe)


def _sum_up(shared: tuple[TableEncoding, WeightModel, int, bool], piece: Piece) -> Sums:
    encoding, model, d, threads = shared
    step = max(1024, min(BATCH_ROWS, BLOCK_VALUES // max(d, 1)))
    gram, moment, rows = np.zeros((d, d)), np.zeros(d), 0
    numbers = (*encoding.numbers, encoding.target)
    for batch in read_batches(
        piece.file, numbers, encoding.categories, groups=piece.groups, threads=threads
    ):
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, batch.columns.num_rows, step):
                X, y = encode_complete(batch.columns.slice(start, step), encoding)
                part = model.moments(X, y)
                gram += part[0]
                moment += part[1]
                rows += len(y)
    if not (np.isfinite(gram).all() and np.isfinite(moment).all()):
        raise DataError(
            f"{piece.file}: a value is infinite, or too large to be squared; correct it"
        )
    return gram, moment, rows


def encode_complete(table: pa.Table, encoding: TableEncoding) -> tuple[FloatArray, FloatArray]:
    """The rows of a table in which nothing is missing, as the model sees them: X [m, p] and y [m]."""
    X, y = encoding.encode(table), encoding.encode_target(table)
    # The minimum is NaN as soon as one value is: hardly any time for tables without missing values.
    if np.isnan(X.min(initial=0.0) + y.min(initial=0.0)) or any(
        table[name].null_count for name in encoding.categories
    ):
        complete = complete_rows(table)
        return X[complete], y[complete]
    return X, y


def encoded_batches(
    found: Survey, encoding: TableEncoding, progress: Progress
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The complete rows of a source, batch by batch, as the model sees them: X [m, p] and y [m]."""
    done, total = 0, found.rows + found.dropped
    for file in found.source.files:
        for batch in read_batches(file, (*encoding.numbers, encoding.target), encoding.categories):
            yield encode_complete(batch.columns, encoding)
            done += batch.columns.num_rows
            progress(f"reading {file.name}", done, total)


def row_keys(X: FloatArray, y: FloatArray) -> NDArray[np.uint64]:
    """One 64-bit key per row [m], the same for identical rows and hardly ever for others (2**-64 a pair)."""
    key = np.full(len(y), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in (*X.T, y):
        # The finaliser of splitmix64 after each column: every bit of it depends on every bit
        # before.
        key ^= (column + 0.0).view(np.uint64)  # -0 is 0
        key *= np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(30)
        key *= np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(31)
    return key
