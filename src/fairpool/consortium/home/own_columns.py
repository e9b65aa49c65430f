"""What stands in a party's own columns, beside what the plan allows: for the person alone.

Nobody else can see that a table has inches where everybody else has millimetres.
"""

from collections import Counter
from dataclasses import dataclass

from fairpool.columns.date import as_date
from fairpool.consortium.guessing.places import Quartiles
from fairpool.consortium.home.own_table import OwnTable, columns_of
from fairpool.errors import few, shown

MOST_LEVELS = 6
"""So many of a column's levels are told, the most frequent first."""


@dataclass(frozen=True, kw_only=True)
class OwnColumn:
    """One column of the table.

    Attributes:
        name: The column.
        seen: What stands in it, in words.
        allowed: What the plan says may stand in it; empty: anything.
    """

    name: str
    seen: str
    allowed: str = ""

    def __str__(self) -> str:
        return self.seen if not self.allowed else f"{self.seen} (the plan has {self.allowed})"


def own_columns(table: OwnTable) -> tuple[OwnColumn, ...]:
    """Every column that rows are made of, over the complete rows.

    Args:
        table: What was seen of it is enough; it is not read again.
    """
    columns = columns_of(table.plan)
    numbers = []
    places = Quartiles.of_columns(table.survey.sample.values)
    for name, place in zip(columns.numbers, places, strict=False):
        numbers.append(_of_numbers(name, place, table))
    categories = [name for name in columns.texts if name not in columns.free_texts]
    return (*numbers, *(_of_levels(name, table) for name in categories))


def _of_numbers(name: str, place: Quartiles | None, table: OwnTable) -> OwnColumn:
    rules = columns_of(table.plan).rules_of(name)
    is_date = name in table.plan.encoding.dates
    unit = table.plan.units.get(name, "")
    ends = table.survey.extremes.get(name)
    if place is None or ends is None:
        return OwnColumn(name=name, seen="no value")
    lowest, median, highest = [
        as_date(value) if is_date else f"{rules.original(value):.6g}"
        for value in (ends.lowest.value, place.median, ends.highest.value)
    ]
    allowed = ""
    if rules.bounds is not None:
        allowed = rules.bounds.in_words(as_date) if is_date else str(rules.bounds)
    return OwnColumn(
        name=name,
        seen=f"{lowest} to {highest}, half of them below {median}",
        allowed=" ".join(filter(None, [allowed, unit])),
    )


def _of_levels(name: str, table: OwnTable) -> OwnColumn:
    counts = table.survey.levels.get(name, Counter[str]())
    in_turn = sorted(counts.items(), key=lambda level: (-level[1], level[0]))
    seen = [f"{shown(level)} {count}" for level, count in in_turn]
    return OwnColumn(name=name, seen=few(seen, MOST_LEVELS) or "no value")
