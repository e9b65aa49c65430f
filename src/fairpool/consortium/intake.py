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

from fairpool.columns.filling import is_missing
from fairpool.compute.workers import Workers
from fairpool.consortium.contents import Passage, contents_of
from fairpool.consortium.decoding import ExpandedError
from fairpool.consortium.fault_texts import plain_name
from fairpool.consortium.faults import Columns, Fault, Faults
from fairpool.consortium.limits import Limits
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.surveys import (
    Extreme,
    Present,
    Range,
    RowSample,
    Survey,
    UnknownLevels,
    missing_in,
)
from fairpool.consortium.tables import Batch, Place, Source
from fairpool.consortium.tolerant_reading import read_tolerantly
from fairpool.encoders.pictures import ANY_IMAGE, ImageLimits
from fairpool.errors import DataError
from fairpool.tables.arrays import LARGEST, FloatArray
from fairpool.tables.columns import level_counts
from fairpool.tables.moments import Moments
from fairpool.targets import Labels

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
        dates=task.columns.dates,
        delivery=task.source.delivery,
        threads=task.threads,
        target=task.columns.target_name,
        rules=task.columns.rules,
        longest=_longest(task),
        free_texts=task.columns.free_texts,
        images=task.columns.images,
        image_limits=_image_limits(task),
        expansion=_expansion(task),
    )
    try:
        return _Look(_look_through(reading, task), reading.passage)
    except ExpandedError:
        raise  # patience is what such a file is made to use up
    except DataError as error:
        # Reading stops at the first fault. Now for all of them, with more patience.
        return _Look(_look_tolerantly(piece, task, error), None)


def _longest(task: _Task) -> dict[str, int]:
    """How many characters the texts of each column may have; empty: any."""
    if task.limits is None:
        return {}
    longest = dict.fromkeys(task.columns.texts, task.limits.name_length)
    return longest | dict.fromkeys(task.columns.free_texts, task.limits.text_length)


def _expansion(task: _Task) -> float | None:
    return None if task.limits is None else task.limits.expansion


def _image_limits(task: _Task) -> ImageLimits:
    return ANY_IMAGE if task.limits is None else task.limits.of_images


def _look_tolerantly(piece: Piece, task: _Task, error: DataError) -> Survey:
    faults = Faults()
    rows = read_tolerantly(
        piece,
        task.columns,
        faults,
        delivery=task.source.delivery,
        longest=_longest(task),
        image_limits=_image_limits(task),
        expansion=_expansion(task),
    )
    seen = _look_through(rows, task)
    for unread in (*faults.of_kind("number"), *faults.of_kind("date")):
        # There are zeros instead of what is no number. The target or a range may refuse these, but
        # the table has none of them.
        for kind in ("label", "range", "log"):
            seen.faults.forget(kind, unread)
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
    columns = task.columns
    rows = batch.columns
    there = {*rows.column_names}
    numbers = [name for name in columns.numbers if name in there]
    texts = [name for name in columns.texts if name in there]
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
    clipped = _look_at_ranges(
        faults, batch, columns, values=dict(zip(numbers, values, strict=True))
    )
    if columns.target is not None and columns.target.name in there:
        _note_wrong_labels(faults, batch, columns.target)
    counting = {}
    for name, column in zip(numbers, values, strict=True):
        if plain_name(name) in ROW_NUMBER_NAMES:
            counting[name] = _counts_from(column, batch.first)
    levels = {}
    unknown = {}
    for name in columns.free_texts:
        if name in there and name not in columns.images:
            _note_long_texts(faults, batch, name, limits=task.limits)
    texts = [name for name in texts if name not in columns.free_texts]
    for name in texts:
        levels[name] = Counter(level_counts(rows[name]))
        _note_unfit_levels(faults, batch, name, levels=levels[name], limits=task.limits)
        strange = _unknown_levels(batch, name, levels[name], known=columns.levels.get(name))
        if strange is not None:
            unknown[name] = strange
    row_numbers = batch.row_numbers
    for k, name in enumerate(numbers):
        rules = columns.rules_of(name)
        if not rules.takes_all:
            values[k] = rules.transformed(values[k])
    by_name = dict(zip(numbers, values, strict=True))
    present = Present(sample=RowSample.of_all(by_name, columns.numbers, row_numbers), levels=levels)
    imputed = Counter[str]()
    if missing_in(faults):
        complete = complete_rows(rows, imputed=columns.imputed)
        rows = rows.filter(pa.array(complete))
        values = values[:, complete]
        row_numbers = row_numbers[complete]
        levels = {name: Counter(level_counts(rows[name])) for name in texts}
        imputed = _imputed_in(rows, columns)
    moments = Moments()
    sample = RowSample()
    extremes = {}
    if not is_infinite and len(numbers) == len(columns.numbers):
        moments = Moments.of(values.T)
        sample = present.sample
        if len(row_numbers) < batch.columns.num_rows:
            sample = RowSample.of(values, row_numbers)
        extremes = _extremes_in(batch.file, dict(zip(numbers, values, strict=True)), row_numbers)
    return Survey(
        source=task.source,
        rows=rows.num_rows,
        dropped=batch.columns.num_rows - rows.num_rows,
        imputed=imputed,
        clipped=clipped,
        faults=faults,
        moments=moments,
        sample=sample,
        present=present,
        levels=levels,
        unknown=unknown,
        extremes=extremes,
        counting=counting,
    )


def _extremes_in(
    file: Path, columns: dict[str, FloatArray], row_numbers: NDArray[np.int64]
) -> dict[str, Range]:
    """The ends of each column of numbers, over what is present in complete rows."""
    extremes: dict[str, Range] = {}
    if not len(row_numbers):
        return extremes
    for name, column in columns.items():
        low = int(np.argmin(column))
        high = int(np.argmax(column))
        if np.isnan(column[low]):  # which is where the first NaN is; looking past them takes longer
            if np.isnan(column).all():
                continue
            low = int(np.nanargmin(column))
            high = int(np.nanargmax(column))
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


def complete_rows(table: pa.Table, *, imputed: Collection[str] = frozenset()) -> NDArray[np.bool_]:
    """Which rows of a table miss nothing, or only what is imputed [m]."""
    complete = np.ones(table.num_rows, dtype=bool)
    for name in table.column_names:
        if name not in imputed:
            complete &= ~is_missing(table[name])
    return complete


def _imputed_in(rows: pa.Table, columns: Columns) -> Counter[str]:
    """How many values of complete rows are imputed, per column."""
    counts = Counter[str]()
    for name in rows.column_names:
        if name in columns.imputed:
            counts[name] = int(is_missing(rows[name]).sum())
    return +counts


def _look_at_ranges(
    faults: Faults, batch: Batch, columns: Columns, *, values: dict[str, FloatArray]
) -> Counter[str]:
    """Note numbers that cannot be used, and count those that are clipped, per column.

    Labels that cannot be used are the target's affair.
    """
    clipped = Counter[str]()
    for name, rules in columns.rules.items():
        if name not in values or rules.takes_all:
            continue
        if rules.clips and rules.bounds is not None:
            clipped[name] = int(rules.bounds.outside(values[name]).sum())
        if name == columns.target_name:
            continue
        wrong = {
            "range": rules.refused(values[name]),
            "log": rules.without_logarithm(values[name]),
        }
        for kind, is_wrong in wrong.items():
            if is_wrong.any():
                row = int(np.argmax(is_wrong))
                fault = Fault(
                    kind=kind,
                    column=name,
                    first=batch.place(row),
                    value=f"{values[name][row]:.15g}",
                    count=int(is_wrong.sum()),
                )
                faults.note(fault)
                break  # what is out of range needs no logarithm
    return +clipped


def _note_missing(faults: Faults, batch: Batch) -> None:
    for name in batch.columns.column_names:
        missing = is_missing(batch.columns[name])
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


def _note_long_texts(faults: Faults, batch: Batch, name: str, *, limits: Limits | None) -> None:
    """Note free texts that are endless; any sign may be in them, and none is shown."""
    if limits is None:
        return
    is_long = pc.greater(pc.utf8_length(batch.columns[name]), limits.text_length)
    count = pc.sum(is_long).as_py()
    if count:
        row = pc.index(is_long, True).as_py()
        value = batch.columns[name][row].as_py()
        faults.note(
            Fault(kind="long", column=name, first=batch.place(row), value=value, count=count)
        )


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
