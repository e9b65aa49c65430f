"""A table of columns by party: what a person looks at to see what does not fit."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairpool.columns.date import as_date
from fairpool.columns.rules import Rules
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.faults import Columns
from fairpool.consortium.guessing.places import Quartiles
from fairpool.consortium.guessing.units import UnitSuspicion, suspect_units
from fairpool.consortium.surveys import MOST_LEVELS, Survey
from fairpool.notes import Note

MOST_UNREAD = 0.01
"""A column in which a larger share of values is no number has no median to look at."""

UNIT = "unit"
"""The code of notes about units."""


@dataclass(frozen=True, kw_only=True)
class ColumnCell:
    """What one owner has in one column.

    Attributes:
        owner: Whose it is: a party's name, or "public data", "test data".
        quartiles: Of a sample of its numbers; None: there are none, or many cannot be read.
        missing: The share of its rows in which the column has no value.
        levels: How often each level occurs, most frequent first.
        question: What to ask about it; empty: nothing.
    """

    owner: str
    quartiles: Quartiles | None = None
    missing: float = 0.0
    levels: tuple[tuple[str, int], ...] = ()
    question: str = ""


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """One column at everybody who has it.

    Attributes:
        name: The column.
        kind: How it is read: "number", "date", "category", "text" or "image"; "target" is what is
            predicted.
        cells: What each owner has, in the configuration's order.
        suspicions: Whose unit seems to be another.
    """

    name: str
    kind: str
    cells: tuple[ColumnCell, ...]
    suspicions: tuple[UnitSuspicion, ...] = ()

    def shown(self, value: float) -> str:
        """One of its numbers for people; dates are days in tables of numbers."""
        if self.kind == "date":
            return as_date(value)
        return f"{value:.4g}"


def columns_by_party(
    columns: Columns, surveys: Mapping[str, Survey], plan: ColumnPlan
) -> tuple[ColumnSummary, ...]:
    """Every column that is used, at every owner whose data could be looked at.

    Args:
        columns: How they are read.
        surveys: What was seen, by the names that people know owners by.
        plan: What the configuration says of columns, their units among it.
    """
    summaries = []
    by_owner = {owner: _places(survey, columns) for owner, survey in surveys.items()}
    for k, name in enumerate(columns.numbers):
        places = {owner: own[k] for owner, own in by_owner.items()}
        suspicions: list[UnitSuspicion] = []
        if name not in columns.dates:
            known = {owner: place for owner, place in places.items() if place is not None}
            suspicions = suspect_units(name, known, unit=plan.column(name).unit or "")
        questions = {suspicion.party: suspicion.question for suspicion in suspicions}
        cells = []
        for owner, survey in surveys.items():
            cells.append(
                ColumnCell(
                    owner=owner,
                    quartiles=places[owner],
                    missing=_missing_share(survey, name),
                    question=questions.get(owner, ""),
                )
            )
        kind = "number"
        if name == columns.target_name:
            kind = "target"
        elif name in columns.dates:
            kind = "date"
        summaries.append(
            ColumnSummary(name=name, kind=kind, cells=tuple(cells), suspicions=tuple(suspicions))
        )
    for name in columns.texts:
        kind = "category"
        if name == columns.target_name:
            kind = "target"
        elif name in columns.images:
            kind = "image"
        elif name in columns.free_texts:
            kind = "text"
        cells = [_text_cell(name, owner, survey) for owner, survey in surveys.items()]
        summaries.append(ColumnSummary(name=name, kind=kind, cells=tuple(cells)))
    return tuple(summaries)


def _places(survey: Survey, columns: Columns) -> list[Quartiles | None]:
    """Where an owner's values lie, in the columns' own units even where logarithms are taken."""
    names = columns.numbers
    values = survey.present.sample.values
    if values.shape[1] != len(names):  # nothing was seen
        return [None] * len(names)
    places = Quartiles.of_columns(values)
    unread = _unread(survey)
    for k, name in enumerate(names):
        place = places[k]
        rules = columns.rules_of(name)
        if unread[name] > MOST_UNREAD * len(values):
            places[k] = None  # what is no number was taken to be 0
        elif place is not None and rules.log:
            places[k] = _original(place, rules)
    return places


def _unread(survey: Survey) -> Counter[str]:
    """How many values of each column are no numbers or dates."""
    counts = Counter[str]()
    for kind in ("number", "date"):
        for fault in survey.faults.of_kind(kind):
            counts[fault.column] += fault.count
    return counts


def _original(place: Quartiles, rules: Rules) -> Quartiles:
    return Quartiles(
        low=rules.original(place.low),
        median=rules.original(place.median),
        high=rules.original(place.high),
        count=place.count,
    )


def _missing_share(survey: Survey, name: str) -> float:
    rows = survey.rows + survey.dropped
    return survey.missing[name] / max(rows, 1)


def _text_cell(name: str, owner: str, survey: Survey) -> ColumnCell:
    counts = survey.present.levels.get(name, Counter[str]())
    levels = tuple(counts.most_common(MOST_LEVELS))
    return ColumnCell(owner=owner, missing=_missing_share(survey, name), levels=levels)


def unit_notes(summaries: Sequence[ColumnSummary], parties: Sequence[str]) -> Iterator[Note]:
    """A note for each party and column whose unit seems to be another than the others'.

    Args:
        summaries: The columns.
        parties: The names of those owners that are parties.
    """
    for summary in summaries:
        for suspicion in summary.suspicions:
            party = suspicion.party if suspicion.party in parties else None
            yield Note(code=UNIT, party=party, text=f"{suspicion} {_remedy(suspicion)}")


def _remedy(suspicion: UnitSuspicion) -> str:
    if not suspicion.own:
        return "If so, have it converted, or give it a range in which values must lie"
    return (
        f'If so, say columns.{suspicion.column}.from = "{suspicion.own}" where its data are named,'
        f' and unit = "{suspicion.unit}" in [columns.{suspicion.column}]'
    )


def as_plain(summaries: Sequence[ColumnSummary]) -> list[dict[str, Any]]:
    """The table for a program: plain lists and numbers."""
    plain = []
    for summary in summaries:
        cells = [_plain_cell(cell, summary) for cell in summary.cells]
        plain.append({"column": summary.name, "kind": summary.kind, "by": cells})
    return plain


def _plain_cell(cell: ColumnCell, summary: ColumnSummary) -> dict[str, Any]:
    plain: dict[str, Any] = {"owner": cell.owner, "missing": cell.missing}
    if cell.quartiles is not None:
        places: list[Any] = [cell.quartiles.median, cell.quartiles.low, cell.quartiles.high]
        if summary.kind == "date":
            places = [as_date(place) for place in places]
        plain["median"] = places[0]
        plain["quartiles"] = places[1:]
    if cell.levels:
        plain["levels"] = dict(cell.levels)
    if cell.question:
        plain["question"] = cell.question
    return plain
