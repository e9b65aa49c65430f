"""What a party does with its reward: look at it, and predict with it."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.columns import CategoryColumn, EncodedColumn
from fairpool.compute.workers import Progress, Workers, no_progress
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.fault_texts import fault_problems
from fairpool.consortium.faults import Columns, Fault, Faults
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import survey
from fairpool.consortium.problems import worst_first
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.spreadsheet import as_cell, csv_text
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Batch, Source
from fairpool.consortium.tolerant_reading import read_tolerantly
from fairpool.consortium.treatment import CLIPPED, IMPUTED, clipped_texts, imputed_texts
from fairpool.encoding import REASON, TableEncoding
from fairpool.errors import DataError, shown
from fairpool.model_kinds import kind_of
from fairpool.models import Classifier, Model
from fairpool.notes import Note, notes_of
from fairpool.realisation import ModelReward, Update, load_reward
from fairpool.realisation.reward_file import decode_reward
from fairpool.tables.delivery import AS_AGREED
from fairpool.targets import LABELS, TARGETS

Value = float | str | None
"""Of a prediction: a number, a text, or nothing."""

REFUSED = ("unreadable", "lacking", "encoding", "width", "type", "order")
"""Faults of a table after which nothing of it can be predicted; all others are of single rows."""

OF_ROWS = ("number", "date", "image")
"""Faults of single rows that only a tolerant reading gets past."""


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """Predictions of a table.

    Attributes:
        names: What the values of a row are.
        rows: One list of numbers and texts per row; None where there is no prediction, or no
            reason why there is none.
        notes: What the reader should know.
    """

    names: tuple[str, ...]
    rows: list[list[Value]]
    notes: tuple[Note, ...] = ()


@dataclass(kw_only=True)
class _RowFaults(Faults):
    """Faults of which each is remembered with its row.

    It is not frozen, as `Faults` is not.
    """

    of_rows: dict[int, dict[str, str]] = field(default_factory=dict)

    def note(self, fault: Fault) -> None:
        """Take in a fault, and what to say of its row."""
        super().note(fault)
        if fault.kind in OF_ROWS:
            reason = f"{fault.column}: {shown(fault.value)} is not a {fault.kind}"
            if fault.kind == "image":
                reason = f"{fault.column}: {fault.value}"
            self.of_rows.setdefault(fault.first.row, {})[fault.column] = reason


def predict_file(
    reward_file: Path,
    data: Path,
    progress: Progress = no_progress,
    *,
    as_agreed: bool = False,
    encoders: Path | None = None,
) -> Predictions:
    """Predict every row of a table: what the target gives, in its own units.

    A row with a value that is missing or cannot be used has no prediction, but a reason. Columns
    that name the rows come first, as far as the table has them.

    Args:
        reward_file: The model.
        data: The table, which may be a folder or a pattern.
        progress: Called as rows are done.
        as_agreed: Whether the table has the collaboration's names and units, as a plain file;
            otherwise it comes as the party's own tables did.
        encoders: Where the encoders that the model needs are; None: beside the reward.
    """
    reward = load_reward(reward_file)
    if reward.encoding is None:
        raise DataError(
            f"{reward_file}: it knows no column names; use fairpool.load_reward in Python instead"
        )
    encoding = reward.encoding.with_encoders(encoders or reward_file.parent)
    delivery = reward.delivery.without({encoding.target.name})
    if as_agreed:
        delivery = AS_AGREED
    source = replace(find_data(data), delivery=delivery)
    looked_at = look_at_data(source, encoding, progress)
    ids = looked_at.ids
    rows: list[list[Value]] = []
    for file in source.files:
        unread = _RowFaults()
        for batch in _batches(file, encoding, looked_at, unread=unread):
            reasons = _reasons_in(batch, encoding, unread)
            rows += _rows_of(batch, reward, encoding, ids=ids, reasons=reasons)
            progress(f"predicting {file.name}", len(rows))
    names = (*ids, *encoding.target.prediction_columns, REASON)
    notes = looked_at.notes
    without = sum(row[-1] is not None for row in rows)
    if without:
        text = f"{without} of {len(rows)} row(s) have no prediction; the column {REASON} says why"
        notes = [*notes, Note(code="no prediction", text=text)]
    else:
        names = names[:-1]
        rows = [row[:-1] for row in rows]
    return Predictions(names=names, rows=rows, notes=tuple(notes))


def _reasons_in(batch: Batch, encoding: TableEncoding, unread: _RowFaults) -> dict[int, str]:
    """The rows of a batch (from 0) for which nothing can be predicted, and why."""
    by_column = encoding.unusable(batch.columns)
    if unread.of_rows:
        for row, number in enumerate(batch.row_numbers.tolist()):
            # What stands in place of a value that could not be read is nobody's mistake.
            if number in unread.of_rows:
                by_column.setdefault(row, {}).update(unread.of_rows[number])
    return {row: "; ".join(reasons.values()) for row, reasons in by_column.items()}


def _rows_of(
    batch: Batch,
    reward: ModelReward,
    encoding: TableEncoding,
    *,
    ids: Sequence[str],
    reasons: dict[int, str],
) -> Iterator[list[Value]]:
    """What is given of each row: its names, its predictions if there are any, and the reason."""
    columns = batch.columns
    is_usable = np.ones(columns.num_rows, dtype=bool)
    is_usable[list(reasons)] = False
    # What overflows is refused below, in words.
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variance = reward.predict(encoding.encode(columns.filter(pa.array(is_usable))))
        predictions = encoding.target.predictions(mean, variance)
    _refuse_not_finite(predictions, batch, np.flatnonzero(is_usable))
    names = [columns[name].to_pylist() for name in ids]
    nothing = [None] * len(encoding.target.prediction_columns)
    predicted = zip(*(column.tolist() for column in predictions), strict=True)
    for row in range(columns.num_rows):
        own = [column[row] for column in names]
        own += nothing if row in reasons else next(predicted)
        yield [*own, reasons.get(row)]


def _batches(
    file: Path, encoding: TableEncoding, looked_at: "LookedAt", *, unread: Faults
) -> Iterator[Batch]:
    """The rows of a file, tolerantly where it has values that are no numbers.

    Refused after the last row of a file that no longer holds what was looked at.
    """
    piece = Piece(file=file)
    seen = looked_at.survey
    delivery = seen.source.delivery
    unread_values = [seen.faults.of_kind(kind) for kind in OF_ROWS]
    if any(fault.first.file == file for fault in chain.from_iterable(unread_values)):
        yield from read_tolerantly(piece, looked_at.columns, unread, delivery=delivery)
        return
    reading = Reading(
        piece=piece,
        numbers=encoding.numbers,
        texts=(*encoding.categories, *looked_at.ids),
        dates=encoding.dates,
        images=encoding.images,
        delivery=delivery,
        rules=encoding.rules,
    )
    yield from reading
    refuse_changed(seen.source.owner, [reading.passage], seen.contents)


def _refuse_not_finite(
    predictions: Sequence[NDArray[Any]], batch: Batch, rows: NDArray[np.intp]
) -> None:
    """Refuse predictions of some rows of a batch that are no finite numbers."""
    wrong = np.zeros(len(rows), dtype=bool)
    for column in predictions:
        if np.issubdtype(column.dtype, np.floating):  # a text is whatever it is
            wrong |= ~np.isfinite(column)
    if wrong.any():
        place = batch.place(int(rows[np.argmax(wrong)]))
        raise DataError(
            f"{place}: its prediction is not a finite number; look for a value that is far too"
            " large, or ask for the reward again"
        )


def find_data(data: Path, owner: str = "data to predict") -> Source:
    """The files that a path, folder or pattern stands for.

    Args:
        data: The path, folder or pattern.
        owner: What error texts call the data.
    """
    # Its own user chose the path, so a link in it may lead anywhere.
    return Source.find(owner, str(data), Path(), remedy="give another --data", follow_links=True)


def refuse_own_files(out: Path, reward_file: Path, data: Path) -> None:
    """Refuse to write a result over the reward or the data that it is made from."""
    if not out.exists():
        return
    for file in (reward_file, *find_data(data).files):
        if file.exists() and out.samefile(file):
            raise DataError(f"{out} is the reward or the data itself; give another --out")


class LookedAt(NamedTuple):
    """What was seen of the data.

    Attributes:
        survey: What they hold.
        columns: How they were read.
        ids: The columns that name rows, of those that all files have.
        notes: What the reader should know.
    """

    survey: Survey
    columns: Columns
    ids: tuple[str, ...]
    notes: list[Note]


def look_at_data(
    source: Source, encoding: TableEncoding, progress: Progress, *, with_labels: bool = False
) -> LookedAt:
    """Refuse what the model cannot use, with every problem; note levels that are not known.

    Args:
        source: The files.
        encoding: Which columns they need.
        progress: Called as rows are looked at.
        with_labels: Whether the target is one of these columns.
    """
    levels = {}
    for column in encoding.columns:
        if isinstance(column, CategoryColumn):
            levels[column.name] = column.levels
    problems: list[str] = []
    ids = encoding.ids
    for file in source.files:
        try:
            names = {*column_names(file, delivery=source.delivery)}
        except DataError as error:
            problems += error.problems
        else:
            ids = tuple(name for name in ids if name in names)
    if problems:
        raise DataError(*problems, *_hint_at_delivery(source))
    labels = None
    if with_labels:
        labels = TARGETS[encoding.target.kind].more_labels(encoding.target)
    columns = Columns(
        number_inputs=encoding.numbers,
        text_inputs=(*encoding.categories, *ids),
        dates=encoding.dates,
        target=labels,
        levels=levels,
        rules=encoding.rules,
        chosen=False,
        free_texts=encoding.free_texts,
        images=encoding.images,
    )
    seen = survey(source, columns, Workers(progress=progress))
    # Rows without a prediction do no harm; rows that a model learns from must be right.
    faults = _of_whole_files(seen.faults)
    remedy = None
    if with_labels:
        faults = seen.faults
        remedy = "fill in what is missing"
    wrong = worst_first(fault_problems(faults, columns, remedy, delivery=source.delivery))
    if wrong:
        texts = [f"{source.owner}: {problem.text}" for problem in wrong]
        raise DataError(*texts, *_hint_at_delivery(source))
    return LookedAt(seen, columns, ids, _notes_on(seen, encoding))


def _hint_at_delivery(source: Source) -> list[str]:
    """What may be wrong with all of a table that comes in another way than the party's own did."""
    if source.delivery.is_plain:
        return []
    return [
        f"{source.owner}: tables are read as your own for the collaboration were; give --as-agreed"
        " for one with commas, decimal points, and the collaboration's names and units"
    ]


def _of_whole_files(faults: Faults) -> Faults:
    """Those after which nothing of a table can be predicted."""
    chosen = Faults()
    for fault in faults.found.values():
        if fault.kind in REFUSED:
            chosen.note(fault)
    return chosen


def _notes_on(seen: Survey, encoding: TableEncoding) -> list[Note]:
    """What was imputed and clipped, and levels that count as none of the known ones."""
    notes = []
    for column in encoding.columns:
        unknown = seen.unknown.get(column.name)
        if unknown is not None and isinstance(column, CategoryColumn) and column.others:
            what = column.unknown_text(unknown.counts, unknown.rows)
            text = f"{unknown.first}, {seen.source.delivery.described(column.name)}: {what}"
            notes.append(Note(code="unknown level", text=text))
    notes += notes_of(IMPUTED, imputed_texts(encoding, seen))
    notes += notes_of(CLIPPED, clipped_texts(encoding, seen))
    return notes


def as_csv(predictions: Predictions) -> str:
    """Predictions as CSV, with every digit."""
    rows = [[_cell(value) for value in row] for row in predictions.rows]
    return csv_text(predictions.names, rows)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    # A text is out of the reward file, which somebody else wrote, or out of the table.
    return as_cell(value) if isinstance(value, str) else repr(value)


def describe_reward(content: bytes, name: str) -> dict[str, Any]:
    """What a reward file is, in words and numbers.

    Args:
        content: The file's bytes.
        name: What errors call it.
    """
    reward = decode_reward(content, name)
    encoding = reward.encoding
    target = encoding.target if encoding else LABELS
    weakened = reward.mechanism.words.inspected(reward.level, target)
    own_tables = {}
    if not reward.delivery.is_plain:
        own_tables["tables"] = reward.delivery.in_words
    entries = {
        "reward for": reward.party,
        "model": _model_in_words(reward.posterior.model),
        "predicts": encoding.target.name if encoding else "labels, as the model was trained on",
        "from": ", ".join(c.name for c in encoding.columns) if encoding else "inputs by position",
        **_encoders_in_words(encoding),
        **own_tables,
        "worth": f"{reward.value:.6g} nats of information",
        "updated": _update_in_words(reward.updated),
        "rho": reward.rho,
        weakened.name: weakened.text,
        "own data": "as sums with noise; fairpool update puts rows in their place",
        "others' inputs": "contained" if reward.holds_inputs_of_others else "not contained",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    if reward.updated is None:
        del entries["updated"]
    if not reward.own_noise:
        del entries["own data"]
    return entries


def _encoders_in_words(encoding: TableEncoding | None) -> dict[str, str]:
    """Which encoders a model needs beside its file, by column; none: nothing is said."""
    columns = encoding.columns if encoding else ()
    needed = [
        f'"{column.name}" by {column.pin}, {column.pin.dimensions} number(s) each'
        for column in columns
        if isinstance(column, EncodedColumn)
    ]
    return {"encoders": "; ".join(needed)} if needed else {}


def _model_in_words(model: Model) -> str:
    if isinstance(model, Classifier):
        words = f"{kind_of(model.base).title}, for each of {model.label_sets} classes"
        return words if model.shared else f"{words}, with a prior of its own"
    return kind_of(model).title


def _update_in_words(update: Update | None) -> str:
    if update is None:
        return ""
    what = "the recipient's own rows are now" if update.rows_are_all else "the recipient added"
    return (
        f"{what} {update.rows}; the operator made it worth {update.awarded:.6g} nats, and its worth"
        " was computed anew"
    )
