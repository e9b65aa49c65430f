"""A fair sample of a source's rows, or all of them, and a key per row to find copies by."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Progress
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.sketching import SketchCollector, Sketching, SourceSketch
from fairpool.consortium.statistics import encode_complete
from fairpool.consortium.surveys import Survey
from fairpool.encoding import TableEncoding
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """Rows of a source, as the model sees them.

    Attributes:
        X: Their inputs [m, p].
        y: Their labels [m].
        keys: Keys of the source's rows, equal where rows are; not only of the rows in X, and maybe
            only a share of all.
        sketch: Rows of the source as few numbers, to find near copies by.
    """

    X: FloatArray
    y: FloatArray
    keys: NDArray[np.uint64]
    sketch: SourceSketch | None = None


def no_sample(encoding: TableEncoding, sketching: Sketching | None = None) -> Sample:
    """Of a source whose rows nobody here knows."""
    return Sample(
        X=np.empty((0, len(encoding.features))),
        y=np.empty(0),
        keys=np.empty(0, dtype=np.uint64),
        sketch=SketchCollector(sketching).collected(),
    )


def take_sample(
    survey: Survey,
    encoding: TableEncoding,
    *,
    most: int | None,
    seen: float,
    progress: Progress,
    sketching: Sketching | None = None,
) -> Sample:
    """Read a source, and keep some of its rows.

    Args:
        survey: What was seen of the source before; refused if it no longer holds that.
        encoding: How tables become X and y.
        most: How many rows to keep at most: those of the smallest keys, which are a fair sample.
            None: all.
        seen: Of the keys, those below this share of their range are kept: the same ones at every
            party, so that copies are found in that share as they would be in all.
        progress: Called as rows are read.
        sketching: How rows become few numbers; None: they do not.
    """
    # Keys are as good as random numbers, but the same in every run, and whatever the order of rows.
    kept = no_sample(encoding)
    blocks = []
    seen_keys = []
    sketches = SketchCollector(sketching)
    for X, y in encoded_batches(survey, encoding, progress):
        batch = Sample(X=X, y=y, keys=row_keys(X, y))
        sketches.take(X, y)
        if most is None:
            blocks.append(batch)
        else:
            kept = _smallest(kept, batch, most)
        if seen < 1:
            seen_keys.append(batch.keys[batch.keys < seen * 2.0**64])
        else:
            seen_keys.append(batch.keys)
    if blocks:
        X = np.vstack([block.X for block in blocks])
        y = np.concatenate([block.y for block in blocks])
        return Sample(X=X, y=y, keys=np.concatenate(seen_keys), sketch=sketches.collected())
    if seen_keys:
        kept = replace(kept, keys=np.concatenate(seen_keys))
    return replace(kept, sketch=sketches.collected())


def _smallest(kept: Sample, batch: Sample, most: int) -> Sample:
    """Of the rows kept so far and those of another batch, the ones with the smallest keys."""
    X, y, keys = batch.X, batch.y, batch.keys
    if len(kept.keys) == most:
        # Few rows of a later batch can still be among the smallest, so few are copied.
        low = keys < kept.keys.max()
        X, y, keys = X[low], y[low], keys[low]
    X = np.vstack([kept.X, X])
    y = np.append(kept.y, y)
    keys = np.append(kept.keys, keys)
    if len(keys) > most:
        smallest = np.sort(np.argpartition(keys, most)[:most])
        X, y, keys = X[smallest], y[smallest], keys[smallest]
    return Sample(X=X, y=y, keys=keys)


def encoded_batches(
    survey: Survey, encoding: TableEncoding, progress: Progress
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The complete rows of a source, batch by batch, as the model sees them: X [m, p] and y [m].

    Refused after the last row of a file that no longer holds what was surveyed.
    """
    total = survey.rows + survey.dropped
    done = 0
    for file in survey.source.files:
        reading = Reading.labelled(Piece(file=file), encoding, survey.source.delivery)
        for batch in reading:
            yield encode_complete(batch.columns, encoding)
            done += batch.columns.num_rows
            progress(f"reading {file.name}", done, total)
        refuse_changed(survey.source.owner, [reading.passage], survey.contents)


def row_keys(X: FloatArray, y: FloatArray) -> NDArray[np.uint64]:
    """One 64-bit key per row [m]: equal for identical rows, and hardly ever (2**-64) for others."""
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
