"""What was done to tables before anything was learned from them, and what seems to be meant.

Whoever reads a note here is told of one owner: the operator of all, every party of its own.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from fairpool.columns.date import as_date
from fairpool.columns.rules import Show, as_number
from fairpool.consortium.faults import Columns
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC
from fairpool.encoding import TableEncoding
from fairpool.errors import few, shown
from fairpool.notes import Note
from fairpool.report.treatment import Treatment
from fairpool.tables.delivery import OwnColumn

IMPUTED, CLIPPED = "imputed values", "clipped values"
"""The codes of notes about one owner's table."""

FEW_CLASSES = 10
"""A target with at most so many values, all of them whole numbers, may be classes."""

ROWS_PER_CLASS = 5
"""And of fewer rows than this for each value, it may be chance."""


def treatment_notes(
    encoding: TableEncoding, surveys: dict[str, Survey], parties: dict[str, str]
) -> Iterator[Note]:
    """How many of each owner's values are imputed or clipped, and with what.

    Args:
        encoding: How tables become numbers.
        surveys: What was seen of each owner's data.
        parties: The names of those owners that are parties.
    """
    for owner, seen in surveys.items():
        for text in imputed_texts(encoding, seen):
            yield Note(code=IMPUTED, party=parties.get(owner), text=f"{owner}: {text}")
        for text in clipped_texts(encoding, seen):
            yield Note(code=CLIPPED, party=parties.get(owner), text=f"{owner}: {text}")
    if PUBLIC in surveys:
        yield from _unmarked_notes(encoding, surveys)


def treatment_of(encoding: TableEncoding, seen: Survey, owner: str) -> Treatment:
    """What was done to one owner's table.

    Args:
        encoding: How tables become numbers.
        seen: What was seen of the owner's data.
        owner: The name that people know the owner by.
    """
    used = {*encoding.labelled_numbers, *encoding.labelled_texts}
    own_columns = [own for own in seen.source.delivery.columns if own.name in used]
    converted = {}
    for own in own_columns:
        if own.conversion is not None:
            converted[own.name] = (own.own_unit, own.unit)
    details = [
        *_delivery_texts(own_columns),
        *imputed_texts(encoding, seen),
        *clipped_texts(encoding, seen),
    ]
    return Treatment(
        owner=owner,
        read=seen.rows + seen.dropped,
        dropped=seen.dropped,
        imputed=dict(seen.imputed),
        clipped=dict(seen.clipped),
        converted=converted,
        details=tuple(details),
        contributions=tuple(one.file.digest for one in seen.arrived),
        epsilons=tuple(
            one.manifest.privacy.epsilon for one in seen.arrived if one.manifest.privacy is not None
        ),
        shown_rows=sum(len(one) for one in seen.arrived if not one.manifest.is_hidden),
    )


def _delivery_texts(columns: Sequence[OwnColumn]) -> Iterator[str]:
    """What was done to columns as they were read, one after the other."""
    for own in columns:
        if own.constant is not None:
            yield f'"{own.name}", which it lacks, was taken to be {shown(own.constant)} in all rows'
        if own.named and own.named != own.name:
            yield f'the column "{own.named}" was taken as "{own.name}"'
        if own.conversion is not None:
            yield f'"{own.name}" was converted from {own.own_unit} to {own.unit}'


def imputed_texts(encoding: TableEncoding, seen: Survey) -> Iterator[str]:
    """What is imputed in one owner's table, column by column."""
    for column in encoding.columns:
        count = seen.imputed[column.name]
        if count:
            yield (
                f'{count} missing value(s) of "{column.name}" are taken to be {column.filling}; the'
                " rows count as complete"
            )


def clipped_texts(encoding: TableEncoding, seen: Survey) -> Iterator[str]:
    """What is clipped in one owner's table, column by column."""
    for name, rules in encoding.rules.items():
        count = seen.clipped[name]
        if count and rules.bounds is not None:
            bounds = rules.bounds.in_words(_show(encoding, name))
            yield f'{count} value(s) of "{name}" outside {bounds} are taken to be its nearer end'


def _show(encoding: TableEncoding, name: str) -> Show:
    return as_date if name in encoding.dates else as_number


def _unmarked_notes(encoding: TableEncoding, surveys: dict[str, Survey]) -> Iterator[Note]:
    """Columns that parties lack values of, and public data do not: no input tells which."""
    for name in sorted(encoding.imputed):
        lacking = [
            owner for owner, seen in surveys.items() if seen.source.is_party and seen.imputed[name]
        ]
        if lacking and not surveys[PUBLIC].imputed[name]:
            text = (
                f'column "{name}": {few(lacking)} lack values, but public data lack none, so that'
                " no input tells the model where a value is imputed; add public rows that lack it"
            )
            yield Note(code="unmarked values", text=text)


def class_notes(columns: Columns, parties: Sequence[Survey]) -> Iterator[Note]:
    """The question whether classes are meant, where a target is a number of few values."""
    if columns.target is None or columns.target.type != pa.float64():
        return
    samples = [survey.sample.values[:, -1] for survey in parties if len(survey.sample.keys)]
    if not samples:
        return
    labels = np.concatenate(samples)
    rules = columns.rules_of(columns.target.name)
    # Twelve digits: a logarithm and back changes the last ones.
    values = np.unique([float(f"{rules.original(v):.12g}") for v in np.unique(labels)])
    are_whole = len(values) <= FEW_CLASSES and bool((values == np.round(values)).all())
    if len(labels) < ROWS_PER_CLASS * len(values) or not (len(values) == 2 or are_whole):
        return
    listed = few([f"{value:g}" for value in values], FEW_CLASSES)
    text = (
        f'the target "{columns.target.name}" has only the values {listed}: are classes meant? It is'
        ' predicted as a number, which may lie between them or beyond; say kind = "classes" in'
        " [target] if they are"
    )
    yield Note(code="classes", text=text)
