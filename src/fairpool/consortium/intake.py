"""The first look at every table: has it the columns, are they numbers, which levels occur."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.fault_texts import fault_texts, plain_name
from fairpool.consortium.faults import LARGEST, Columns, Fault, Faults
from fairpool.consortium.reading import Content, Passage, Piece, Reading, contents_of
from fairpool.consortium.tables import Batch, Place, Source
from fairpool.consortium.tolerant_reading import read_tolerantly
from fairpool.errors import DataError, few, shown
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import level_counts, levels_in_words

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


@dataclass(frozen=True)
class Moments:
    """Count, mean and sum of squared deviations of columns, put together without cancellation."""

    count: int = 0
    mean: FloatArray = field(default_factory=lambda: np.zeros(0))
    squares: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, values: FloatArray) -> "Moments":
        """Those of rows [m, k]."""
        if not len(values):
            return cls()
        mean = values.mean(axis=0)
        gaps = values - mean
        return cls(len(values), mean, np.square(gaps, out=gaps).sum(axis=0))

    def merged(self, other: "Moments") -> "Moments":
        """Those of both ones' rows."""
        if not other.count:
            return self
        if not self.count:
            return other
        total = self.count + other.count
        gap = other.mean - self.mean
        squares = self.squares + other.squares + gap**2 * (self.count * other.count / total)
        return Moments(total, self.mean + gap * (other.count / total), squares)

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


class Range(NamedTuple):
    """The smallest and the largest value of a column."""

    lowest: Extreme
    highest: Extreme

    def merged(self, other: "Range") -> "Range":
        """The range of both; of equal values, the first is kept."""
        lowest = min(self.lowest, other.lowest, key=lambda extreme: extreme.value)
        highest = max(self.highest, other.highest, key=lambda extreme: extreme.value)
        return Range(lowest, highest)


@dataclass(frozen=True)
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

    def merged(self, other: "UnknownLevels") -> "UnknownLevels":
        """Those of both; the other one's come later."""
        counts = _first_levels(self.counts + other.counts)
        return UnknownLevels(self.first, self.rows + other.rows, counts)


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What one source holds.

    Attributes:
        source: The files.
        contents: What each file holds, as every later reading must find it; files that could not be
            read are lacking.
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
    contents: dict[Path, Content] = field(default_factory=dict)
    rows: int = 0
    dropped: int = 0
    faults: Faults = field(default_factory=Faults)
    moments: Moments = field(default_factory=Moments)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: dict[str, UnknownLevels] = field(default_factory=dict)
    extremes: dict[str, Range] = field(default_factory=dict)
    counting: dict[str, set[int]] = field(default_factory=dict)

    @property
    def missing(self) -> Counter[str]:
        """Missing values per column."""
        return _missing_in(self.faults)

    def merged(self, other: "Survey") -> "Survey":
        """This one with what was found further on."""
        faults = Faults()
        faults.merge(self.faults)
        faults.merge(other.faults)
        levels = dict(self.levels)
        for name, counts in other.levels.items():
            levels[name] = _first_levels(levels.get(name, Counter()) + counts)
        unknown = dict(self.unknown)
        for name, more in other.unknown.items():
            nothing = UnknownLevels(more.first, 0, Counter())
            unknown[name] = unknown.get(name, nothing).merged(more)
        extremes = dict(self.extremes)
        for name, ends in other.extremes.items():
            extremes[name] = extremes.get(name, ends).merged(ends)
        counting = dict(self.counting)
        for name, starts in other.counting.items():
            counting[name] = counting.get(name, starts) & starts
        return replace(
            self,
            rows=self.rows + other.rows,
            dropped=self.dropped + other.dropped,
            faults=faults,
            moments=self.moments.merged(other.moments),
            levels=levels,
            unknown=unknown,
            extremes=extremes,
            counting=counting,
        )


def _first_levels(levels: Counter[str]) -> Counter[str]:
    """One level more than is allowed, so that it shows; an identifier would have millions."""
    return Counter(dict(islice(levels.items(), MOST_LEVELS + 1)))


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What all tasks of a survey share."""

    source: Source
    columns: Columns
    threads: bool


class _Look(NamedTuple):
    """What a task found, and what it read; None if that had faults and was read tolerantly."""

    survey: Survey
    passage: Passage | None


def survey(source: Source, columns: Columns, workers: Workers) -> Survey:
    """Read a source once, and note all that is wrong with it: see `survey_problems`."""
    pieces = Piece.of(source.files)
    threads = workers.executor is None or len(pieces) == 1
    task = _Task(source=source, columns=columns, threads=threads)
    whole = Survey(source=source, levels={name: Counter() for name in columns.texts})
    passages = []
    for look in workers.map(_look, task, pieces, doing=f"looking at {source.owner}"):
        whole = whole.merged(look.survey)
        if look.passage is not None:
            passages.append(look.passage)
    return replace(whole, contents=contents_of(source.owner, passages))


def _look(task: _Task, piece: Piece) -> _Look:
    reading = Reading(
        piece=piece,
        numbers=task.columns.numbers,
        texts=task.columns.texts,
        threads=task.threads,
    )
    try:
        return _Look(_look_through(reading, task), reading.passage)
    except DataError as error:
        # Reading stops at the first fault. Now for all of them, with more patience.
        return _Look(_look_tolerantly(piece, task, error), None)


def _look_tolerantly(piece: Piece, task: _Task, error: DataError) -> Survey:
    faults = Faults()
    seen = _look_through(read_tolerantly(piece, task.columns, faults), task)
    seen.faults.merge(faults)
    if not faults.found:
        place = Place(piece.file, piece.first)
        seen.faults.note(Fault(kind="unreadable", first=place, value=str(error)))
    return seen


def _look_through(batches: Iterable[Batch], task: _Task) -> Survey:
    seen = Survey(source=task.source)
    for batch in batches:
        seen = seen.merged(_look_at(batch, task))
    return seen


def _look_at(batch: Batch, task: _Task) -> Survey:
    rows = batch.columns
    columns = task.columns
    numbers = [name for name in columns.numbers if name in rows.column_names]
    texts = [name for name in columns.texts if name in rows.column_names]
    values = np.empty((len(numbers), rows.num_rows))  # [k, m]
    for k, name in enumerate(numbers):
        values[k] = rows[name].to_numpy()
    faults = Faults()
    # The minimum is NaN as soon as one value is: one pass, where most tables miss nothing.
    if np.isnan(values.min(initial=0.0)) or any(rows[name].null_count for name in texts):
        _note_missing(faults, batch)
    extremes = _extremes_in(batch, dict(zip(numbers, values, strict=True)), faults)
    counting = {}
    for name, column in zip(numbers, values, strict=True):
        if plain_name(name) in ROW_NUMBER_NAMES:
            counting[name] = _counts_from(column, batch.first)
    levels = {}
    unknown = {}
    for name in texts:
        levels[name] = Counter(level_counts(rows[name]))
        _note_control_signs(faults, batch, name, levels=levels[name])
        strange = _unknown_levels(batch, name, levels[name], known=columns.levels.get(name))
        if strange is not None:
            unknown[name] = strange
    if _missing_in(faults):
        complete = complete_rows(rows)
        rows = rows.filter(pa.array(complete))
        values = values[:, complete]
        levels = {name: Counter(level_counts(rows[name])) for name in texts}
    moments = Moments()
    if _beyond_largest(extremes):
        _note_infinite(faults, batch, numbers)
    elif len(numbers) == len(columns.numbers):
        moments = Moments.of(values.T)
    return Survey(
        source=task.source,
        rows=rows.num_rows,
        dropped=batch.columns.num_rows - rows.num_rows,
        faults=faults,
        moments=moments,
        levels=levels,
        unknown=unknown,
        extremes=extremes,
        counting=counting,
    )


def _extremes_in(batch: Batch, columns: dict[str, FloatArray], faults: Faults) -> dict[str, Range]:
    """The ends of each column of numbers that has any value."""
    missing = _missing_in(faults)
    extremes = {}
    for name, column in columns.items():
        if missing[name] < len(column):
            low = int(np.nanargmin(column) if missing else np.argmin(column))
            high = int(np.nanargmax(column) if missing else np.argmax(column))
            extremes[name] = Range(
                Extreme(float(column[low]), batch.file, batch.first + low),
                Extreme(float(column[high]), batch.file, batch.first + high),
            )
    return extremes


def _beyond_largest(extremes: dict[str, Range]) -> bool:
    for ends in extremes.values():
        if abs(ends.lowest.value) > LARGEST or abs(ends.highest.value) > LARGEST:
            return True
    return False


def _counts_from(column: FloatArray, first: int) -> set[int]:
    """From which of 0 and 1 a column counts the rows of its file.

    Args:
        column: Some consecutive values of it [m].
        first: The number of the first of these rows.
    """
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


def _missing_in(faults: Faults) -> Counter[str]:
    """Missing values per column."""
    counts = Counter[str]()
    for fault in faults.of_kind("missing"):
        counts[fault.column] += fault.count
    return counts


def _note_missing(faults: Faults, batch: Batch) -> None:
    for name in batch.columns.column_names:
        missing = _is_missing(batch.columns[name])
        if missing.any():
            first = batch.place(int(np.argmax(missing)))
            count = int(missing.sum())
            faults.note(Fault(kind="missing", column=name, first=first, count=count))


def _note_infinite(faults: Faults, batch: Batch, numbers: Sequence[str]) -> None:
    for name in numbers:
        values = batch.columns[name].to_numpy()
        wrong = np.abs(values) > LARGEST
        if wrong.any():
            row = int(np.argmax(wrong))
            fault = Fault(
                kind="infinite",
                column=name,
                first=batch.place(row),
                value=str(values[row]),
                count=int(wrong.sum()),
            )
            faults.note(fault)


def _note_control_signs(faults: Faults, batch: Batch, name: str, *, levels: dict[str, int]) -> None:
    """Note levels that cannot be shown."""
    for level, count in levels.items():
        if not level.isprintable():
            first = batch.place(pc.index(batch.columns[name], level).as_py())
            faults.note(Fault(kind="control", column=name, first=first, value=level, count=count))


def _unknown_levels(
    batch: Batch, name: str, levels: dict[str, int], *, known: Collection[str] | None
) -> UnknownLevels | None:
    """The levels of a column that it may not have; None if there are none, or any is allowed."""
    if known is None:
        return None
    unknown = Counter({level: count for level, count in levels.items() if level not in known})
    if not unknown:
        return None
    first = batch.place(pc.index(batch.columns[name], next(iter(unknown))).as_py())
    return UnknownLevels(first, unknown.total(), unknown)


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
                " identifier? leave it out of features"
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
        f" categorical ({allowed}); {unknown.rows} row(s) have such a level{which}; correct the"
        " data, or add the level to the list"
    )
