"""The first look at every table: does it have the columns, are they numbers, what is missing, which levels occur."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.arrays import FloatArray
from fairpool.consortium.tables import Batch, Source, line_of, read_batches, row_groups
from fairpool.errors import DataError
from fairpool.workers import Workers

PIECE_ROWS = 1 << 19
"""Row groups of a Parquet file are one task until they have as many rows as this."""

LARGEST = 1e100
"""A number beyond this is an error of the data, and its square would overflow."""

MOST_LEVELS = 100
"""A categorical column with more levels than this is more likely an identifier."""


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
            gaps = values - mean
            self.merge(Moments(len(values), mean, np.square(gaps, out=gaps).sum(axis=0)))

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

    def merge(self, other: "Survey") -> None:
        """Take in what was found further on; refuse levels that cannot be."""
        self.first_missing = self.first_missing or other.first_missing
        self.rows += other.rows
        self.dropped += other.dropped
        self.missing += other.missing
        self.moments.merge(other.moments)
        for name, extremes in other.extremes.items():
            both = [*self.extremes.get(name, []), *extremes]
            self.extremes[name] = [min(both, key=lambda x: x.value), max(both, key=lambda x: x.value)]
        for name, levels in other.levels.items():
            self.levels[name] = self.levels.get(name, Counter()) + levels
            _refuse_levels(self.source, name, self.levels[name])


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a file that are one task: a CSV file, or some row groups of a Parquet file.

    Attributes:
        file: Where they are from.
        groups: The row groups; a CSV file counts as one.
        first: The number of the first row in the file, from 0.
    """

    file: Path
    groups: range
    first: int

    @classmethod
    def of(cls, files: Sequence[Path]) -> "list[Piece]":
        """All rows of all files, in order; the pieces are the same whoever reads them."""
        found = []
        for file in files:
            sizes = row_groups(file) if file.suffix.lower() == ".parquet" else [0]
            start = first = rows = 0
            for group, size in enumerate(sizes, 1):
                rows += size
                if rows >= PIECE_ROWS or group == len(sizes):
                    found.append(cls(file, range(start, group), first))
                    start, first, rows = group, first + rows, 0
        return found


def survey(source: Source, numbers: tuple[str, ...], texts: tuple[str, ...], workers: Workers) -> Survey:
    """Read a source once. What cannot be read is an error; what is missing is counted."""
    found = Survey(source, levels={name: Counter() for name in texts})
    pieces = Piece.of(source.files)
    shared = source, numbers, texts, workers.executor is None or len(pieces) == 1
    for part in workers.map(_look, shared, pieces, f"looking at {source.owner}"):
        found.merge(part)
    return found


def _look(shared: tuple[Source, tuple[str, ...], tuple[str, ...], bool], piece: Piece) -> Survey:
    source, numbers, texts, threads = shared
    found = Survey(source)
    for batch in read_batches(piece.file, numbers, texts, groups=piece.groups, first=piece.first, threads=threads):
        found.merge(_look_at(source, batch, numbers, texts))
    return found


def _look_at(source: Source, batch: Batch, numbers: tuple[str, ...], texts: tuple[str, ...]) -> Survey:
    found, rows = Survey(source), batch.columns
    values = np.stack([rows[name].to_numpy() for name in numbers])  # [k, m]
    smallest, largest = np.argmin, np.argmax
    if np.isnan(values.min()) or any(rows[name].null_count for name in texts):
        _count_missing(found, batch)
        smallest, largest = np.nanargmin, np.nanargmax
    for name, column in zip(numbers, values, strict=True):
        if found.missing[name] < len(column):
            ends = [int(smallest(column)), int(largest(column))]
            found.extremes[name] = [Extreme(float(column[row]), batch.file, batch.first + row) for row in ends]
    if any(abs(end.value) > LARGEST for ends in found.extremes.values() for end in ends):
        _refuse_infinite(source, batch, numbers)
    if found.missing:
        complete = complete_rows(rows)
        rows, values = rows.filter(pa.array(complete)), values[:, complete]
    found.rows, found.dropped = rows.num_rows, batch.columns.num_rows - rows.num_rows
    found.moments.add(values.T)
    for name in texts:
        counts = pc.value_counts(rows[name]).to_pylist()
        found.levels[name] = Counter({level["values"]: level["counts"] for level in counts})
    return found


def _is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def complete_rows(table: pa.Table) -> NDArray[np.bool_]:
    """Which rows of a table miss nothing [m]."""
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


def _refuse_levels(source: Source, name: str, levels: Counter[str]) -> None:
    strange = [level for level in levels if not level.isprintable()]
    if strange:
        raise DataError(f'{source.owner}: column "{name}" has the level {strange[0]!r}; remove control signs')
    if len(levels) > MOST_LEVELS:
        raise DataError(
            f'{source.owner}: the categorical column "{name}" has more than {MOST_LEVELS} levels;'
            " is it an identifier? leave it out of features"
        )


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
