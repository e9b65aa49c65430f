"""What a party does with its reward: look at it, and predict with it."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairpool.compute.files import write_atomically
from fairpool.compute.workers import Progress, Workers, no_progress
from fairpool.consortium.fault_texts import fault_texts
from fairpool.consortium.faults import Columns
from fairpool.consortium.intake import survey
from fairpool.consortium.tables import Source, column_names, read_batches, sha256
from fairpool.contributions.estimates import Z_95
from fairpool.errors import DataError
from fairpool.model_kinds import kind_of
from fairpool.notes import Note
from fairpool.realisation import load_reward
from fairpool.tables.encoding import CategoryColumn, TableEncoding

COLUMNS = ("standard_deviation", "lower_95", "upper_95")


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """Predictions of a table.

    Attributes:
        names: What the numbers of a row are.
        rows: One list of numbers per row.
        notes: What the reader should know.
    """

    names: tuple[str, ...]
    rows: list[list[float]]
    notes: tuple[Note, ...] = ()


def predict_file(
    reward_file: Path, data: Path, out: Path | None, progress: Progress = no_progress
) -> Predictions:
    """Predict every row of a table: mean, standard deviation and 95% interval, in the target's own
    units.

    Args:
        reward_file: The model.
        data: The table, which may be a folder or a pattern.
        out: A CSV file to write, atomically.
        progress: Called as rows are done.

    A level that the model does not know is treated as none of the known ones, with a note for its
    column.
    """
    reward = load_reward(reward_file)
    if reward.encoding is None:
        raise DataError(
            f"{reward_file}: it knows no column names; use fairpool.load_reward in Python instead"
        )
    encoding = reward.encoding
    source = Source.find("data to predict", str(data), Path(), remedy="give another --data")
    if (
        out is not None
        and out.exists()
        and any(out.samefile(file) for file in (reward_file, *source.files))
    ):
        raise DataError(f"{out} is the reward or the data itself; give another --out")
    notes = _look_at_data(source, encoding, progress)
    rows: list[list[float]] = []
    for file in source.files:
        for batch in read_batches(file, encoding.numbers, encoding.categories):
            mean, variance = encoding.decode(*reward.predict(encoding.encode(batch.columns)))
            deviation = np.sqrt(variance)
            rows += np.column_stack(
                [mean, deviation, mean - Z_95 * deviation, mean + Z_95 * deviation]
            ).tolist()
            progress(f"predicting {file.name}", len(rows))
    predictions = Predictions(names=(encoding.target, *COLUMNS), rows=rows, notes=tuple(notes))
    if out is not None:
        write_atomically(out, as_csv(predictions).encode())
    return predictions


def _look_at_data(source: Source, encoding: TableEncoding, progress: Progress) -> list[Note]:
    """Refuse what cannot be predicted, with every problem; note levels that the model does not know."""
    levels = {
        column.name: column.levels
        for column in encoding.columns
        if isinstance(column, CategoryColumn)
    }
    columns = Columns(encoding.numbers, encoding.categories, levels=levels, chosen=False)
    problems: list[str] = []
    for file in source.files:
        try:
            column_names(file)
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(*problems)
    found = survey(source, columns, Workers(progress=progress))
    problems = fault_texts(
        found.faults, columns, "fill it in" if found.missing.total() == 1 else "fill them in"
    )
    if problems:
        raise DataError(*(f"{source.owner}: {problem}" for problem in problems))
    notes = []
    for column in encoding.columns:
        unknown = found.unknown.get(column.name)
        if unknown and isinstance(column, CategoryColumn):
            text = f'{unknown.first}, column "{column.name}": {column.unknown_text(unknown.counts, unknown.rows)}'
            notes.append(Note(code="unknown level", text=text))
    return notes


def as_csv(predictions: Predictions) -> str:
    """Predictions as CSV, with every digit."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(predictions.names)
    writer.writerows([repr(value) for value in row] for row in predictions.rows)
    return stream.getvalue()


def describe_reward(file: Path) -> dict[str, Any]:
    """What a reward file is, in words and numbers."""
    reward = load_reward(file)
    noise, on_others = reward.mechanism.words.inspected(reward.level)
    encoding = reward.encoding
    return {
        "reward for": reward.party,
        "model": kind_of(reward.posterior.model).title,
        "predicts": encoding.target if encoding else "labels, as the model was trained on",
        "from": ", ".join(c.name for c in encoding.columns) if encoding else "inputs by position",
        "worth": f"{reward.value:.6g} nats of information",
        "rho": reward.rho,
        noise: on_others,
        "others' inputs": "contained" if reward.holds_inputs_of_others else "not contained",
        "sha256": sha256(file),
    }
