"""The first look at every table: does it have the columns, are they numbers, what is missing, which levels occur."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.arrays import FloatArray
from fairpool.consortium.tables import Batch, Source, line_of, read_batches
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError

LARGEST = 1e100
"""A number beyond this is an error of the data, and its square would overflow."""

MOST_LEVELS = 100
"""A categorical column with more levels than this is more likely an identifier."""


class Progress(Protocol):
    """Called with what is being done, and how much of it is, whenever some more is."""

    def __call__(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Say it."""
        ...  # pragma: no cover


def no_progress(text: str, done: int = 0, total: int | None = None) -> None:
    """For who does not want to know."""


@dataclass
class Moments:
    """Count, mean and sum of squared deviations of columns, updated batch by batch without cancellation."""

    count: int = 0
    mean: FloatArray = field(default_factory=lambda: np.zeros(0))
    squares: FloatArray = field(default_factory=lambda: np.zeros(0))

    def add(self, values: FloatArray) -> None:
        """Take in the rows [m, k] of another batch."""
        if len(values):
            mean = values.mean(axis=0)
            self.merge(Moments(len(values), mean, ((values - mean) ** 2).sum(axis=0)))

    def merge(self, other: "Moments") -> None:
        """Take in another's rows."""
        if not other.count:
            return
        if not self.count:
            self.count, self.mean, self.squares = other.count, other.mean, other.squares
            return
        total = self.count + other.count
        gap = other.mean - self.mean
        self.squares = self.squares + other.squares + gap**2 * (self.count * other.count / total)
        self.mean = self.mean + gap * (other.count / total)
        self.count = total

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations [k]."""
        return np.sqrt(self.squares / max(self.count, 1))


@dataclass(frozen=True)
class Extreme:
    """A value and where it is."""

    value: float
    file: Path
    row: int


@dataclass
class Survey:
    """What one source holds.

    Attributes:
        source: The files.
        rows: Complete rows, those that will be used.
        dropped: Rows left out because something is missing.
        missing: Missing values per column.
        moments: Of the number columns and then the target, over complete rows.
        levels: Per categorical column, how often each level occurs in complete rows.
    """

    source: Source
    rows: int = 0
    dropped: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    first_missing: str = ""
    moments: Moments = field(default_factory=Moments)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    extremes: dict[str, list[Extreme]] = field(default_factory=dict)

    def note_extremes(self, batch: Batch, numbers: tuple[str, ...]) -> None:
        """Keep the smallest and the largest value of each column, and where they are."""
        for name in numbers:
            values = batch.columns[name].to_numpy()
            if np.isnan(values).all():
                continue
            found = self.extremes.get(name, [])
            for row in (int(np.nanargmin(values)), int(np.nanargmax(values))):
                found.append(Extreme(float(values[row]), batch.file, batch.first + row))
            self.extremes[name] = [min(found, key=lambda x: x.value), max(found, key=lambda x: x.value)]


def survey(source: Source, numbers: tuple[str, ...], texts: tuple[str, ...], progress: Progress) -> Survey:
    """Read a source once. What cannot be read is an error; what is missing is counted."""
    found = Survey(source, levels={name: Counter() for name in texts})
    for file in source.files:
        for batch in read_batches(file, numbers, texts):
            _count_missing(found, batch)
            complete = _complete(batch.columns)
            _refuse_infinite(source, batch, numbers)
            rows = batch.columns.filter(pa.array(complete))
            found.rows += rows.num_rows
            found.dropped += len(complete) - rows.num_rows
            found.moments.add(_matrix(rows, numbers))
            found.note_extremes(batch, numbers)
            for name in texts:
                for level in pc.value_counts(rows[name]):
                    found.levels[name][level["values"].as_py()] += level["counts"].as_py()
                strange = [level for level in found.levels[name] if not level.isprintable()]
                if strange:
                    raise DataError(
                        f'{source.owner}: column "{name}" has the level {strange[0]!r}; remove control signs'
                    )
                if len(found.levels[name]) > MOST_LEVELS:
                    raise DataError(
                        f'{source.owner}: the categorical column "{name}" has more than {MOST_LEVELS} levels;'
                        " is it an identifier? leave it out of features"
                    )
            progress(f"looking at {file.name}", found.rows + found.dropped)
    return found


def encoded_batches(
    found: Survey, encoding: TableEncoding, progress: Progress, doing: str = "reading"
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The complete rows of a source, batch by batch, as the model sees them: X [m, p] and y [m]."""
    done, total = 0, found.rows + found.dropped
    for file in found.source.files:
        for batch in read_batches(file, (*encoding.numbers, encoding.target), encoding.categories):
            rows = batch.columns.filter(pa.array(_complete(batch.columns)))
            yield encoding.encode(rows), encoding.encode_target(rows)
            done += batch.columns.num_rows
            progress(f"{doing} {file.name}", done, total)


def row_keys(X: FloatArray, y: FloatArray) -> NDArray[np.uint64]:
    """One 64-bit key per row [m], the same for identical rows and hardly ever for others (2**-64 a pair)."""
    bits = np.ascontiguousarray(np.column_stack([X, y]) + 0.0).view(np.uint64)
    key = np.full(len(bits), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in bits.T:
        # The finaliser of splitmix64 after each column: every bit of it depends on every bit before.
        key = (key ^ column) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0x94D049BB133111EB)
        key ^= key >> np.uint64(31)
    return key


def _matrix(table: pa.Table, names: tuple[str, ...]) -> FloatArray:
    return np.column_stack([table[name].to_numpy() for name in names]).astype(np.float64) if names else np.empty((0, 0))


def _is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def _complete(table: pa.Table) -> NDArray[np.bool_]:
    complete = np.ones(table.num_rows, dtype=bool)
    for name in table.column_names:
        complete &= ~_is_missing(table[name])
    return complete


def _count_missing(found: Survey, batch: Batch) -> None:
    for name in batch.columns.column_names:
        missing = _is_missing(batch.columns[name])
        if missing.any():
            if not found.missing:
                row = batch.first + int(np.argmax(missing))
                found.first_missing = f'{batch.file}, {line_of(batch.file, row)}, column "{name}"'
            found.missing[name] += int(missing.sum())


def _refuse_infinite(source: Source, batch: Batch, numbers: tuple[str, ...]) -> None:
    for name in numbers:
        values = batch.columns[name].to_numpy()
        wrong = np.abs(values) > LARGEST
        if wrong.any():
            row = int(np.argmax(wrong))
            where = line_of(batch.file, batch.first + row)
            raise DataError(
                f'{source.owner}: {batch.file}, {where}, column "{name}": {values[row]} is infinite or beyond'
                f" {LARGEST:g}; correct it"
            )


def refuse_missing(source: Source, batch: Batch) -> None:
    """Refuse rows with missing or infinite values, where nothing may be left out."""
    found = Survey(source)
    _count_missing(found, batch)
    if found.missing:
        raise DataError(f"{source.owner}: a value is missing at {found.first_missing}; fill it in")
    numbers = tuple(name for name in batch.columns.column_names if batch.columns[name].type == pa.float64())
    _refuse_infinite(source, batch, numbers)


def missing_problem(found: Survey) -> str:
    """The error text for missing values, counted per column."""
    counts = ", ".join(f"{name} {count}" for name, count in sorted(found.missing.items()))
    return (
        f"{found.source.owner}: {found.missing.total()} missing value(s) ({counts}), first at {found.first_missing};"
        ' fill them in, or set missing = "drop" to leave those rows out'
    )


def shared_columns(columns: dict[Path, tuple[str, ...]], target: str) -> tuple[str, ...]:
    """The columns that all files have, but for the target, in the first file's order."""
    first, *others = columns.values()
    return tuple(name for name in first if name != target and all(name in other for other in others))
