"""The first look at every table: has it the columns, are they numbers, which levels occur."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.contents import Passage, contents_of
from fairpool.consortium.fault_texts import fault_texts, plain_name
from fairpool.consortium.faults import Columns, Fault, Faults
from fairpool.consortium.limits import Limits, beyond
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.surveys import (
    MOST_LEVELS,
    Extreme,
    Range,
    RowSample,
    Survey,
    UnknownLevels,
    missing_in,
)
from fairpool.consortium.tables import Batch, Place, Source
from fairpool.consortium.tolerant_reading import read_tolerantly
from fairpool.errors import DataError, few, shown
from fairpool.tables.arrays import LARGEST, FloatArray
from fairpool.tables.columns import level_counts, levels_in_words
from fairpool.tables.moments import Moments
from fairpool.targets import Labels

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


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What all tasks of a survey share."""

    source: Source
    columns: Columns
    threads: bool
    limits: Limits | None


class _Look(NamedTuple):
    """What a task found, and what it read; None if that had faults and was read tolerantly."""

    survey: Survey
    passage: Passage | None


def survey(
    source: Source, columns: Columns, workers: Workers, *, limits: Limits | None = None
) -> Survey:
    """Read a source once, and note all that is wrong with it: see `survey_problems`.

    Args:
        source: The files.
        columns: What to read of them.
        workers: Who reads them.
        limits: What they may be at most; None: anything.
    """
    pieces = Piece.of(source.files)
    threads = workers.executor is None or len(pieces) == 1
    task = _Task(source=source, columns=columns, threads=threads, limits=limits)
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
        target=task.columns.target_name,
        longest=None if task.limits is None else task.limits.name_length,
    )
    try:
        return _Look(_look_through(reading, task), reading.passage)
    except DataError as error:
        # Reading stops at the first fault. Now for all of them, with more patience.
        return _Look(_look_tolerantly(piece, task, error), None)


def _look_tolerantly(piece: Piece, task: _Task, error: DataError) -> Survey:
    faults = Faults()
    longest = None if task.limits is None else task.limits.name_length
    rows = read_tolerantly(piece, task.columns, faults, longest=longest)
    seen = _look_through(rows, task)
    for unread in faults.of_kind("number"):
        # There are zeros instead of what is no number. The target may refuse these, but the table
        # has none of them.
        seen.faults.forget("label", unread)
    seen.faults.merge(faults)
    if not faults.found:
        place = Place(piece.file, piece.first)
        seen.faults.note(Fault(kind="unreadable", first=place, value=str(error)))
    return seen


def _look_through(batches: Iterable[Batch], task: _Task) -> Survey:
    seen = Survey(source=task.source)
    for batch in batches:
        seen = seen.merged(_look_at(batch, task))
        if task.limits is not None and seen.rows + seen.dropped > task.limits.rows:
            break  # it will be refused, so the rest need not be read
    return seen


def _look_at(batch: Batch, task: _Task) -> Survey:
    rows = batch.columns
    columns = task.columns
    present = {*rows.column_names}
    numbers = [name for name in columns.numbers if name in present]
    texts = [name for name in columns.texts if name in present]
    values = np.empty((len(numbers), rows.num_rows))  # [k, m]
    for k, name in enumerate(numbers):
        values[k] = rows[name].to_numpy()
    faults = Faults()
    # The minimum is NaN as soon as one value is: one pass, where most tables miss nothing.
    if np.isnan(values.min(initial=0.0)) or any(rows[name].null_count for name in texts):
        _note_missing(faults, batch)
    is_infinite = _beyond_largest(values)
    if is_infinite:
        _note_infinite(faults, batch, numbers)
    if columns.target is not None and columns.target.name in present:
        _note_wrong_labels(faults, batch, columns.target)
    counting = {}
    for name, column in zip(numbers, values, strict=True):
        if plain_name(name) in ROW_NUMBER_NAMES:
            counting[name] = _counts_from(column, batch.first)
    levels = {}
    unknown = {}
    for name in texts:
        levels[name] = Counter(level_counts(rows[name]))
        _note_unfit_levels(faults, batch, name, levels=levels[name], limits=task.limits)
        strange = _unknown_levels(batch, name, levels[name], known=columns.levels.get(name))
        if strange is not None:
            unknown[name] = strange
    row_numbers = batch.row_numbers
    if missing_in(faults):
        complete = complete_rows(rows)
        rows = rows.filter(pa.array(complete))
        values = values[:, complete]
        row_numbers = row_numbers[complete]
        levels = {name: Counter(level_counts(rows[name])) for name in texts}
    moments = Moments()
    sample = RowSample()
    extremes = {}
    if not is_infinite and len(numbers) == len(columns.numbers):
        moments = Moments.of(values.T)
        sample = RowSample.of(values, row_numbers)
        extremes = _extremes_in(batch.file, dict(zip(numbers, values, strict=True)), row_numbers)
    return Survey(
        source=task.source,
        rows=rows.num_rows,
        dropped=batch.columns.num_rows - rows.num_rows,
        faults=faults,
        moments=moments,
        sample=sample,
        levels=levels,
        unknown=unknown,
        extremes=extremes,
        counting=counting,
    )


def _extremes_in(
    file: Path, columns: dict[str, FloatArray], row_numbers: NDArray[np.int64]
) -> dict[str, Range]:
    """The ends of each column of numbers, over complete rows."""
    extremes: dict[str, Range] = {}
    if not len(row_numbers):
        return extremes
    for name, column in columns.items():
        low = int(np.argmin(column))
        high = int(np.argmax(column))
        extremes[name] = Range(
            Extreme(float(column[low]), file, int(row_numbers[low])),
            Extreme(float(column[high]), file, int(row_numbers[high])),
        )
    return extremes


def _beyond_largest(values: FloatArray) -> bool:
    """Whether a number is infinite or too large, missing ones aside."""
    lowest = values.min(initial=0.0)
    highest = values.max(initial=0.0)
    if np.isnan(lowest):  # what leaves missing values aside takes longer
        lowest = np.fmin.reduce(values, axis=None, initial=0.0)
        highest = np.fmax.reduce(values, axis=None, initial=0.0)
    return bool(max(-lowest, highest) > LARGEST)


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


def _note_wrong_labels(faults: Faults, batch: Batch, target: Labels) -> None:
    """Note labels that were read, but are none of the target's."""
    labels = batch.columns[target.name]
    wrong = target.wrong(labels)
    if wrong.any():
        row = int(np.argmax(wrong))
        fault = Fault(
            kind="label",
            column=target.name,
            first=batch.place(row),
            value=str(labels[row].as_py()),
            count=int(wrong.sum()),
        )
        faults.note(fault)


def _note_unfit_levels(
    faults: Faults, batch: Batch, name: str, *, levels: dict[str, int], limits: Limits | None
) -> None:
    """Note levels that cannot be shown, and endless ones."""
    unfit: dict[str, list[str]] = {"control": [], "long": []}
    for level in levels:
        if not level.isprintable():
            unfit["control"].append(level)
        if limits is not None and len(level) > limits.name_length:
            unfit["long"].append(level)
    for kind, of_kind in unfit.items():
        if of_kind:
            # They are in the order of the rows. One search for each would take forever where
            # every row has a level of its own.
            value = of_kind[0]
            first = batch.place(pc.index(batch.columns[name], value).as_py())
            count = sum(levels[level] for level in of_kind)
            faults.note(Fault(kind=kind, column=name, first=first, value=value, count=count))


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


def survey_problems(
    found: Survey, columns: Columns, *, may_miss: bool, limits: Limits | None = None
) -> list[str]:
    """Every problem of a source, in words: file by file, then the levels of its columns.

    Args:
        found: What was seen.
        columns: What was wanted; of columns whose levels it lists, no others are allowed.
        may_miss: Whether values may be missing.
        limits: What is allowed; None: anything.
    """
    rows = found.rows + found.dropped
    if limits is not None and rows > limits.rows:
        return [f"{found.source.owner}: {beyond(f'{rows} rows or more', limits.rows, 'rows')}"]
    texts = fault_texts(found.faults, columns, None if may_miss else MISSING_REMEDY)
    for name in columns.text_inputs:
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
