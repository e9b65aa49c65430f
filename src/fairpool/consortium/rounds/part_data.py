"""A part of a party's rows as it is kept, and as the model learns from it."""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.sums import summary_of
from fairpool.models import Classifier, Model, WeightModel
from fairpool.models.weight_model import RowSums
from fairpool.parties import (
    ClassSummary,
    Party,
    PartyData,
    PartySummary,
    SummedClassRows,
    SummedRows,
)
from fairpool.rounds.party_batches import Assignment
from fairpool.tables.arrays import FloatArray


def data_of(arrays: Arrays, model: Model, *, name: str, rows: int, inputs: int) -> PartyData:
    """A part, as the model learns from it: sums whose noise is summed up, or rows."""
    if "X" in arrays:
        return Party(name, arrays["X"], arrays["y"])
    assert isinstance(model, WeightModel | Classifier)  # other models need rows
    if "noise" in arrays:  # a party's own, on sums whose rows nobody here has
        return summary_of(arrays, model, name=name, rows=rows, inputs=inputs)
    sums = RowSums(arrays["gram"], arrays["moment"], arrays["squares"])
    summary = model.summary_of(name, sums, rows=rows, inputs=inputs)
    entries = {entry.name: getattr(summary, entry.name) for entry in fields(summary)}
    if isinstance(summary, ClassSummary):
        return SummedClassRows(**entries)
    assert isinstance(summary, PartySummary)
    return SummedRows(**entries)


def arrays_of(sums: RowSums) -> dict[str, FloatArray]:
    """Sums over rows, by name."""
    return {
        "gram": np.asarray(sums.gram),
        "moment": np.asarray(sums.moment),
        "squares": np.asarray(sums.squares, dtype=float),
    }


def together(one: Arrays, other: Arrays) -> Arrays:
    """Sums over both ones' rows, or both ones' rows."""
    if "X" in one:
        return {name: np.concatenate([one[name], other[name]]) for name in one}
    return {name: one[name] + other[name] for name in one}


def rows_of_part(identities: Identities, assignment: Assignment, place: int) -> NDArray[np.intp]:
    """The rows of a part, in the order of its keys."""
    rows = np.flatnonzero(assignment.groups == place)
    return rows[np.argsort(identities.keys[rows])]
