"""The first look at every table: does it have the columns, are they numbers, what is missing, which
levels occur.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.fault_texts import fault_texts, plain_name
from fairpool.consortium.faults import LARGEST, Columns, Fault, Faults
from fairpool.consortium.tables import Batch, Place, Source, is_parquet, read_batches, row_groups
from fairpool.consortium.tolerant_reading import read_tolerantly
from fairpool.errors import DataError, few, shown
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import level_counts, levels_in_words

PIECE_ROWS = 1 << 19
"""Row groups of a Parquet file are one task until they have as many rows as this."""

MOST_LEVELS = 100
"""A categorical column with more levels than this is more likely an identifier."""

MOST_DECLARED = 10
"""So many of the levels that a column may have are named in an error."""

MISSING_REMEDY = 'fill them in, or set missing = "drop" to leave those rows out'

ROW_NUMBER_NAMES = (
    "index",
    "id",
    "row",
    "row_id",
    "row_number",
    "rownumber",
    "nr",
    "no",
    "level_0",
)
"""Of columns with such names it is noted whether they count rows."""


@dataclass
class Moments:
    """Count, mean and sum of squared deviations of columns, updated batch by batch without
    cancellation.
    """

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
class UnknownLevels:
    """Levels of a column that are not among those that the column may have.

    Attributes:
        first: Where the first of them is.
        rows: How many rows have one.
        counts: How many rows each has; of an endless number of levels, those that came first.
    """

    first: Place
    rows: int
    counts: Counter[str]


@dataclass
class Survey:
    """What one source holds.

    Attributes:
        source: The files.
        rows: Complete rows, those that will be used.
        dropped: Rows left out because something is missing.
        faults: What is wrong; missing values, too, whether they are allowed or not.
        moments: Of the number columns and then the target, over complete rows.
        levels: Per categorical column, how often each level occurs in complete rows; not many more
            than `MOST_LEVELS`.
        unknown: Per categorical column whose levels are given, those that are not among them.
        extremes: Per number column, the smallest and the largest value.
        counting: Per column that is named like a row number, from which of 0 and 1 it counts the
            rows of every file.
    """

    source: Source
    rows: int = 0
    dropped: int = 0
    faults: Faults = field(default_factory=Faults)
    moments: Moments = field(default_factory=Moments)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: dict[str, UnknownLevels] = field(default_factory=dict)
    extremes: dict[str, list[Extreme]] = field(default_factory=dict)
    counting: dict[str, set[int]] = field(default_factory=dict)

    @property
    def missing(self) -> Counter[str]:
        """Missing values per column."""
        counts = Counter[str]()
        for fault in self.faults.of_kind("missing"):
            counts[fault.column] += fault.count
        return counts

    def merge(self, other: "Survey") -> None:
        """Take in what was found further on."""
        self.rows += other.rows
        self.dropped += other.dropped
        self.faults.merge(other.faults)
        self.moments.merge(other.moments)
        for name, extremes in other.extremes.items():
            both = [*self.extremes.get(name, []), *extremes]
            self.extremes[name] = [
                min(both, key=lambda x: x.value),
                max(both, key=lambda x: x.value),
            ]
        for name, levels in other.levels.items():
            self.levels[name] = _first_levels(self.levels.get(name, Counter()) + levels)
        for name, unknown in other.unknown.items():
            known = self.unknown.setdefault(name, UnknownLevels(unknown.first, 0, Counter()))
            known.rows += unknown.rows
            known.counts = _first_levels(known.counts + unknown.counts)
        for name, starts in other.counting.items():
            self.counting[name] = self.counting.get(name, starts) & starts


def _first_levels(levels: Counter[str]) -> Counter[str]:
    """One level more than is allowed, so that it shows, but not the millions that an identifier has."""
    return Counter(dict(islice(levels.items(), MOST_LEVELS + 1)))


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a file that are one task: a CSV file, or some row groups of a Parquet
    file.

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
            sizes = row_groups(file) if is_parquet(file) else [0]
            start = first = rows = 0
            if not sizes:  # no rows, but columns to be looked at
                found.append(cls(file, range(0), 0))
            for group, size in enumerate(sizes, 1):
                rows += size
                if rows >= PIECE_ROWS or group == len(sizes):
                    found.append(cls(file, range(start, group), first))
                    start, first, rows = group, first + rows, 0
        return found


def survey(source: Source, columns: Columns, workers: Workers) -> Survey:
    """Read a source once, and note all that is wrong with it: see `survey_problems`."""
    found = Survey(source, levels={name: Counter() for name in columns.texts})
    pieces = Piece.of(source.files)
    shared = source, columns, workers.executor is None or len(pieces) == 1
    for part in workers.map(_look, shared, pieces, f"looking at {source.owner}"):
        found.merge(part)
    return found


def _look(shared: tuple[Source, Columns, bool], piece: Piece) -> Survey:
    source, columns, threads = shared
    batches = read_batches(
        piece.file,
        columns.numbers,
        columns.texts,
        groups=piece.groups,
        first=piece.first,
        threads=threads,
    )
    try:
        return _look_through(source, batches, columns)
    except DataError as error:
        # Reading stops at the first fault. Now for all of them, with more patience.
        faults = Faults()
        batches = read_tolerantly(
            piece.file, columns, faults, groups=piece.groups, first=piece.first
        )
        found = _look_through(source, batches, columns)
        found.faults.merge(faults)
        if not faults.found:
            found.faults.note(Fault("unreadable", "", Place(piece.file, piece.first), str(error)))
        return found


def _look_through(source: Source, batches: Iterable[Batch], columns: Columns) -> Survey:
    found = Survey(source)
    for batch in batches:
        found.merge(_look_at(source, batch, columns))
    return found


def _look_at(source: Source, batch: Batch, columns: Columns) -> Survey:
    found, rows = Survey(source), batch.columns
    numbers = [name for name in columns.numbers if name in rows.column_names]
    texts = [name for name in columns.texts if name in rows.column_names]
    values = np.empty((len(numbers), rows.num_rows))  # [k, m]
    for k, name in enumerate(numbers):
        values[k] = rows[name].to_numpy()
    smallest, largest = np.argmin, np.argmax
    if np.isnan(values.min(initial=0.0)) or any(rows[name].null_count for name in texts):
        _note_missing(found, batch)
        smallest, largest = np.nanargmin, np.nanargmax
    missing = found.missing
    for name, column in zip(numbers, values, strict=True):
        if missing[name] < len(column):
            ends = [int(smallest(column)), int(largest(column))]
            found.extremes[name] = [
                Extreme(float(column[row]), batch.file, batch.first + row) for row in ends
            ]
        if plain_name(name) in ROW_NUMBER_NAMES:
            found.counting[name] = _counts_from(column, batch.first)
    for name in texts:
        found.levels[name] = Counter(
            _note_levels(found, batch, name, known=columns.levels.get(name))
        )
    if missing:
        complete = complete_rows(rows)
        rows, values = rows.filter(pa.array(complete)), values[:, complete]
        found.levels = {name: Counter(level_counts(rows[name])) for name in texts}
    found.rows, found.dropped = rows.num_rows, batch.columns.num_rows - rows.num_rows
    if any(abs(end.value) > LARGEST for ends in found.extremes.values() for end in ends):
        _note_infinite(found, batch, numbers)
    elif len(numbers) == len(columns.numbers):
        found.moments.add(values.T)
    return found


def _counts_from(column: FloatArray, first: int) -> set[int]:
    """From which of 0 and 1 a column counts the rows, of which the first one has a number itself."""
    gaps = column - np.arange(first, first + len(column))
    return {start for start in (0, 1) if (gaps == start).all()}


def _is_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def complete_rows(table: pa.Table) -> NDArray[np.bool_]:
    """Which rows of a table miss nothing [m]."""
    complete = np.ones(table.num_rows, dtype=bool)
    for name in table.column_names:
        complete &= ~_is_missing(table[name])
    return complete


def _note_missing(found: Survey, batch: Batch) -> None:
    for name in batch.columns.column_names:
        missing = _is_missing(batch.columns[name])
        if missing.any():
            first = batch.place(int(np.argmax(missing)))
            found.faults.note(Fault("missing", name, first, count=int(missing.sum())))


def _note_infinite(found: Survey, batch: Batch, numbers: Sequence[str]) -> None:
    for name in numbers:
        values = batch.columns[name].to_numpy()
        wrong = np.abs(values) > LARGEST
        if wrong.any():
            row = int(np.argmax(wrong))
            found.faults.note(
                Fault("infinite", name, batch.place(row), str(values[row]), int(wrong.sum()))
            )


def _note_levels(
    found: Survey, batch: Batch, name: str, *, known: Collection[str] | None
) -> dict[str, int]:
    """Note levels that cannot be shown or may not be; return how many rows have each level."""
    column = batch.columns[name]
    counts = level_counts(column)
    for level, count in counts.items():
        if not level.isprintable():
            first = batch.place(pc.index(column, level).as_py())
            found.faults.note(Fault("control", name, first, level, count))
    unknown = Counter(
        {
            level: count
            for level, count in counts.items()
            if known is not None and level not in known
        }
    )
    if unknown:
        first = batch.place(pc.index(column, next(iter(unknown))).as_py())
        found.unknown[name] = UnknownLevels(first, unknown.total(), unknown)
    return counts


def survey_problems(found: Survey, columns: Columns, *, may_miss: bool) -> list[str]:
    """Every problem of a source, in words: file by file, then the levels of its columns.

    Args:
        found: What was seen.
        columns: What was wanted; of columns whose levels it lists, no others are allowed.
        may_miss: Whether values may be missing.
    """
    texts = fault_texts(found.faults, columns, None if may_miss else MISSING_REMEDY)
    for name in columns.texts:
        if name in found.unknown:
            texts.append(_undeclared_text(name, found.unknown[name], columns.levels[name]))
        elif len(found.levels[name]) > MOST_LEVELS and name not in columns.levels:
            texts.append(
                f'the categorical column "{name}" has more than {MOST_LEVELS} levels; is it an'
                " identifier? leave it out"
                " of features"
            )
    if not texts and not found.rows:
        texts.append("no complete row to use")
    return [f"{found.source.owner}: {text}" for text in texts]


def _undeclared_text(name: str, unknown: UnknownLevels, declared: Sequence[str]) -> str:
    levels = list(unknown.counts)
    which = f" ({levels_in_words(unknown.counts)})" if len(levels) > 1 else ""
    allowed = few([shown(level) for level in declared], MOST_DECLARED)
    return (
        f'{unknown.first}, column "{name}": {shown(levels[0])} is not among the levels listed under'
        " categorical"
        f" ({allowed}); {unknown.rows} row(s) have such a level{which}; correct the data, or add"
        " the level to the list"
    )
