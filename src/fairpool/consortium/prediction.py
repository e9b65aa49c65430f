"""What a party does with its reward: look at it, and predict with it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Progress, Workers, no_progress
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.fault_texts import fault_texts
from fairpool.consortium.faults import Columns
from fairpool.consortium.intake import survey
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.spreadsheet import as_cell, csv_text
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Batch, Source, column_names
from fairpool.encoding import TableEncoding
from fairpool.errors import DataError
from fairpool.model_kinds import kind_of
from fairpool.notes import Note
from fairpool.realisation import Update, load_reward
from fairpool.realisation.reward_file import decode_reward
from fairpool.tables.columns import CategoryColumn


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """Predictions of a table.

    Attributes:
        names: What the values of a row are.
        rows: One list of numbers and texts per row.
        notes: What the reader should know.
    """

    names: tuple[str, ...]
    rows: list[list[float | str]]
    notes: tuple[Note, ...] = ()


def predict_file(reward_file: Path, data: Path, progress: Progress = no_progress) -> Predictions:
    """Predict every row of a table: what the target gives, in its own units.

    A level that the model does not know is treated as none of the known ones, with a note for its
    column.

    Args:
        reward_file: The model.
        data: The table, which may be a folder or a pattern.
        progress: Called as rows are done.
    """
    reward = load_reward(reward_file)
    if reward.encoding is None:
        raise DataError(
            f"{reward_file}: it knows no column names; use fairpool.load_reward in Python instead"
        )
    encoding = reward.encoding
    source = find_data(data)
    seen, notes = look_at_data(source, encoding, progress)
    rows: list[list[float | str]] = []
    for file in source.files:
        reading = Reading(
            piece=Piece(file=file), numbers=encoding.numbers, texts=encoding.categories
        )
        for batch in reading:
            # What overflows is refused below, in words.
            with np.errstate(over="ignore", invalid="ignore"):
                mean, variance = reward.predict(encoding.encode(batch.columns))
                predictions = encoding.target.predictions(mean, variance)
            _refuse_not_finite(predictions, batch)
            values = [column.tolist() for column in predictions]
            rows += [list(row) for row in zip(*values, strict=True)]
            progress(f"predicting {file.name}", len(rows))
        refuse_changed(source.owner, [reading.passage], seen.contents)
    return Predictions(names=encoding.target.prediction_columns, rows=rows, notes=tuple(notes))


def _refuse_not_finite(predictions: Sequence[NDArray[Any]], batch: Batch) -> None:
    wrong = np.zeros(batch.columns.num_rows, dtype=bool)
    for column in predictions:
        if np.issubdtype(column.dtype, np.floating):  # a text is whatever it is
            wrong |= ~np.isfinite(column)
    if wrong.any():
        place = batch.place(int(np.argmax(wrong)))
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
    """What was seen of the data, and what the reader should know about it."""

    survey: Survey
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
    columns = Columns(
        number_inputs=encoding.numbers,
        text_inputs=encoding.categories,
        target=encoding.target.labels if with_labels else None,
        levels=levels,
        chosen=False,
    )
    problems: list[str] = []
    for file in source.files:
        try:
            column_names(file)
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(*problems)
    seen = survey(source, columns, Workers(progress=progress))
    remedy = "fill it in" if seen.missing.total() == 1 else "fill them in"
    problems = fault_texts(seen.faults, columns, remedy)
    if problems:
        raise DataError(*(f"{source.owner}: {problem}" for problem in problems))
    notes = []
    for column in encoding.columns:
        unknown = seen.unknown.get(column.name)
        if unknown is not None and isinstance(column, CategoryColumn):
            what = column.unknown_text(unknown.counts, unknown.rows)
            text = f'{unknown.first}, column "{column.name}": {what}'
            notes.append(Note(code="unknown level", text=text))
    return LookedAt(seen, notes)


def as_csv(predictions: Predictions) -> str:
    """Predictions as CSV, with every digit."""
    rows = [[_cell(value) for value in row] for row in predictions.rows]
    return csv_text(predictions.names, rows)


def _cell(value: float | str) -> str:
    # A text is out of the reward file, which somebody else wrote.
    return as_cell(value) if isinstance(value, str) else repr(value)


def describe_reward(content: bytes, name: str) -> dict[str, Any]:
    """What a reward file is, in words and numbers.

    Args:
        content: The file's bytes.
        name: What errors call it.
    """
    reward = decode_reward(content, name)
    weakened = reward.mechanism.words.inspected(reward.level)
    encoding = reward.encoding
    entries = {
        "reward for": reward.party,
        "model": kind_of(reward.posterior.model).title,
        "predicts": encoding.target.name if encoding else "labels, as the model was trained on",
        "from": ", ".join(c.name for c in encoding.columns) if encoding else "inputs by position",
        "worth": f"{reward.value:.6g} nats of information",
        "updated": _update_in_words(reward.updated),
        "rho": reward.rho,
        weakened.name: weakened.text,
        "others' inputs": "contained" if reward.holds_inputs_of_others else "not contained",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    if reward.updated is None:
        del entries["updated"]
    return entries


def _update_in_words(update: Update | None) -> str:
    if update is None:
        return ""
    what = "the recipient's own rows are now" if update.rows_are_all else "the recipient added"
    return (
        f"{what} {update.rows}; the operator made it worth {update.awarded:.6g} nats, and its worth"
        " was computed anew"
    )
