"""What the operator should look at before handing anything out: outliers, overlaps, few rows, odd
labels.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairpool.audit import places_in
from fairpool.collaboration import Collaboration
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.tables import line_of
from fairpool.notes import Note
from fairpool.parties import Party
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import NumberColumn

SUSPICIOUS_RESIDUAL = 2.0
"""Labels that are this many predicted standard deviations off, on average, deserve a look."""

FAR = 1000.0
"""A value this many median deviations from the median is more likely an error than a rare case."""

Sample = tuple[FloatArray, FloatArray, NDArray[np.uint64]]
"""Rows, labels, and keys to find copies by."""

FEW_ROWS = "few rows"
"""The code of notes about models that tell much about each of few rows."""


def outlier_notes(preparation: Preparation, parties: Sequence[Party]) -> Iterator[Note]:
    """Values that are far from all others, by the median and the median deviation, which they cannot move."""
    encoding = preparation.encoding
    X, y = (np.concatenate([getattr(party, a) for party in parties]) for a in ("X", "y"))
    at = {name: k for k, name in enumerate(encoding.features)}
    scaling = {
        c.name: (X[:, at[c.name]], c.mean, c.scale)
        for c in encoding.columns
        if isinstance(c, NumberColumn)
    }
    scaling[encoding.target] = (y, encoding.mean, encoding.scale)
    for name, (values, mean, scale) in scaling.items():
        middle = float(np.median(values))
        spread = float(np.median(np.abs(values - middle)))
        for section, found in zip(
            preparation.configuration.parties, preparation.parties, strict=True
        ):
            for extreme in found.extremes.get(name, []):
                if spread and abs((extreme.value - mean) / scale - middle) > FAR * spread:
                    where = line_of(extreme.file, extreme.row)
                    text = (
                        f'{found.source.owner}: {extreme.file}, {where}, column "{name}":'
                        f" {extreme.value:g} is far from"
                        f" all others (the middle is {mean + scale * middle:g}); if it is an error,"
                        " correct it"
                    )
                    yield Note(code="outlier", party=section.name, text=text)


def overlap_notes(
    samples: Sequence[Sample], test_keys: NDArray[np.uint64], seen: float
) -> Iterator[Note]:
    """Test rows that took part in training."""
    wanted = np.unique(test_keys)
    found = np.zeros(len(wanted), dtype=bool)
    for *_, keys in samples:  # one party after the other: their rows may be millions
        found[places_in(wanted, np.sort(keys))] = True
    shared = int(found.sum())
    if shared:
        text = f"{round(shared / seen)} test row(s) are also among the parties' rows; scores on them are too good"
        yield Note(code="test rows in training", text=text)


def few_rows_notes(result: Collaboration) -> Iterator[Note]:
    """A model of d weights holds a sum over rows; of fewer than d rows, it tells much about each."""
    for i, (name, model) in enumerate(zip(result.game.names, result.models, strict=True)):
        others = sum(result.game.rows) - result.game.rows[i]
        weights = model.posterior.weight_count
        if 0 < others < weights and model.tau:
            text = (
                f"the others together have {others} rows, fewer than the {weights} weights of the"
                f' model for "{name}": it tells much about each of those rows'
            )
            yield Note(code=FEW_ROWS, party=name, text=text)


def residual_notes(parties: Sequence[Party], residuals: FloatArray) -> Iterator[Note]:
    """Labels that disagree with everybody else's."""
    for party, residual in zip(parties, residuals, strict=True):
        if residual > SUSPICIOUS_RESIDUAL:
            text = (
                f'the labels of "{party.name}" are {residual:.1f} predicted standard deviations'
                " from what the others'"
                " data predict; look for another unit, a shifted column, or wrong labels (its value"
                " does not show them)"
            )
            yield Note(code="odd labels", party=party.name, text=text)
