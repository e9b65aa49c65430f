"""Whether a party gives a column in another unit than the others do.

Judged by median and quartiles alone, and only where two things hold at once, since honest parties
differ: hot places from cold ones, large farms from small ones.

- The party is clearly elsewhere: its middle half and the others' have nothing in common, and the
  gap between them is large beside the others' own spread and beside how far they lie apart.
- A conversion that people forget brings it back to where the others are, with a spread like theirs;
  or, without any that does, it is `FAR_OFF` times as large or small, and otherwise of their shape.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from statistics import median

from fairpool.consortium.guessing.crowd import Crowd, in_logarithms
from fairpool.consortium.guessing.places import Quartiles
from fairpool.tables.units import Conversion, conversion

FEWEST_VALUES = 8
"""Of fewer values, quartiles tell little."""

GAP = 2.0
"""The gap to the others, in what they spread and lie apart: at least this much is clearly off."""

WIDE_GAP = 5.0
"""And this much, where no conversion fits."""

FAR_OFF = 15.0
"""Without a conversion that fits, only a party this many times off is asked about."""

APART = 2.0
APART_WITHOUT_UNIT = 1.5
"""Others whose medians lie further apart than this many of their spreads do not agree."""

FORGOTTEN = {
    "length": (
        ("inch", "mm"),
        ("inch", "cm"),
        ("foot", "m"),
        ("foot", "mm"),
        ("mile", "km"),
        ("cm", "mm"),
        ("m", "mm"),
        ("m", "cm"),
        ("m", "km"),
    ),
    "temperature": (("fahrenheit", "celsius"), ("kelvin", "celsius")),
    "mass": (("lb", "kg"), ("oz", "g"), ("g", "kg"), ("kg", "t")),
    "share": (("fraction", "percent"),),
}
"""Pairs of units that are taken for each other: the party's, then the others'."""

STRIKING = {("inch", "mm"), ("foot", "mm"), ("fahrenheit", "celsius"), ("kelvin", "celsius")}
"""Those that change numbers so much that nothing else explains it, even of unknown units."""

TOPICS = {
    "length": re.compile(r"rain|precip|niederschlag|height|length|depth|width|distance|elevation"),
    "temperature": re.compile(r"temp|tmin|tmax|tavg"),
    "mass": re.compile(r"weight|mass|gewicht"),
}
"""What names of columns tell of what is measured."""

SUFFIXES = {
    "in": "inch",
    "inch": "inch",
    "inches": "inch",
    "ft": "foot",
    "feet": "foot",
    "mi": "mile",
    "miles": "mile",
    "c": "celsius",
    "°c": "celsius",
    "degc": "celsius",
    "celsius": "celsius",
    "f": "fahrenheit",
    "°f": "fahrenheit",
    "degf": "fahrenheit",
    "fahrenheit": "fahrenheit",
    "k": "kelvin",
    "kelvin": "kelvin",
    "mm": "mm",
    "cm": "cm",
    "m": "m",
    "km": "km",
    "g": "g",
    "kg": "kg",
    "t": "t",
    "lb": "lb",
    "lbs": "lb",
    "oz": "oz",
    "%": "percent",
    "pct": "percent",
    "percent": "percent",
}
"""How names of columns end, and which unit that is."""

PLURALS = {
    "inch": "inches",
    "foot": "feet",
    "mile": "miles",
    "mm": "millimetres",
    "cm": "centimetres",
    "m": "metres",
    "km": "kilometres",
    "lb": "pounds",
    "oz": "ounces",
    "g": "grams",
    "kg": "kilograms",
    "t": "tonnes",
    "celsius": "degrees Celsius",
    "fraction": "fractions",
}
"""Units as questions call them."""

NAME_WITH_UNIT = re.compile(
    r"(?P<stem>.*?\w)\s*(?:[_\s]+(?P<plain>[^\W\d_]+|°[cf])|[(\[](?P<set>[^)\]]+)[)\]])"
)


@dataclass(frozen=True)
class NamedUnit:
    """The name of a column without its unit, and the unit; empty: none."""

    stem: str
    unit: str


def unit_in_name(name: str) -> NamedUnit:
    """What the name of a column says of its unit.

    >>> unit_in_name("rain_mm"), unit_in_name("Temp (°F)").unit, unit_in_name("plan_b").unit
    (NamedUnit(stem='rain', unit='mm'), 'fahrenheit', '')
    """
    match = NAME_WITH_UNIT.fullmatch(name.strip())
    if match is None:
        return NamedUnit(name.strip(), "")
    ending = match["plain"] or match["set"]
    unit = SUFFIXES.get(ending.strip().casefold(), "")
    if not unit:
        return NamedUnit(name.strip(), "")
    return NamedUnit(match["stem"], unit)


@dataclass(frozen=True, kw_only=True)
class UnitSuspicion:
    """A party whose values of a column seem to be in another unit.

    Attributes:
        party: Its name.
        column: The column.
        median: Of its values.
        lowest: The lowest of the others' medians.
        highest: The highest of them.
        own: The unit that it seems to use; empty: none that we know.
        unit: The unit that the others then use.
    """

    party: str
    column: str
    median: float
    lowest: float
    highest: float
    own: str
    unit: str

    @property
    def question(self) -> str:
        """The unit, as a question."""
        if not self.own:
            return "Another unit?"
        words = PLURALS.get(self.own, self.own)
        return f"{words[0].upper()}{words[1:]}?"

    def __str__(self) -> str:
        others = f"{self.lowest:.4g}"
        if self.highest > self.lowest:
            others += f" to {self.highest:.4g}"
        return (
            f"{self.column} at {self.party}: median {self.median:.4g}; the others' {others}."
            f" {self.question}"
        )


def suspect_units(
    column: str, places: Mapping[str, Quartiles], *, unit: str = ""
) -> list[UnitSuspicion]:
    """The parties whose values of a column seem to be in another unit than the others'.

    Args:
        column: Its name, which may end with a unit.
        places: Where each party's values lie, by party.
        unit: The column's unit, if it is declared.
    """
    named = _naming(column, unit or unit_in_name(column).unit)
    judged = {party: place for party, place in places.items() if _can_be_judged(place)}
    suspicions = []
    for party, place in judged.items():
        others = _others(party, judged, is_unit_known=bool(named.unit))
        if not others:
            continue
        fitting = _fitting(place, Crowd.of(others), named)
        if fitting is None:
            continue
        medians = Crowd.of(others).medians
        suspicions.append(
            UnitSuspicion(
                party=party,
                column=column,
                median=place.median,
                lowest=medians[0],
                highest=medians[-1],
                own=fitting.own,
                unit=fitting.unit,
            )
        )
    return suspicions


def _can_be_judged(place: Quartiles) -> bool:
    return place.count >= FEWEST_VALUES and place.spread > 0


def _others(party: str, places: Mapping[str, Quartiles], *, is_unit_known: bool) -> list[Quartiles]:
    """Those that a party is judged by: all that it has nothing in common with, if they are more.

    Two parties may have made the same mistake, and would hide each other.
    """
    own = places[party]
    elsewhere = []
    for other, place in places.items():
        overlaps = place.low <= own.high and own.low <= place.high
        if other != party and not overlaps:
            elsewhere.append(place)
    alike = len(places) - len(elsewhere)
    if len(elsewhere) > alike or (is_unit_known and len(elsewhere) == alike):
        return elsewhere
    return []


@dataclass(frozen=True)
class _Naming:
    """What is known of a column: its unit, and what it measures; empty: nothing."""

    unit: str
    dimension: str


def _naming(column: str, unit: str) -> _Naming:
    for dimension, pairs in FORGOTTEN.items():
        if unit and any(unit in pair for pair in pairs):
            return _Naming(unit, dimension)
    for dimension, words in TOPICS.items():
        if not unit and words.search(column.casefold()):
            return _Naming("", dimension)
    return _Naming(unit, "other" if unit else "")


@dataclass(frozen=True)
class _Fit:
    """A unit that a party seems to use, and the others'; empty: none that we know."""

    own: str
    unit: str


def _fitting(own: Quartiles, others: Crowd, named: _Naming) -> _Fit | None:
    """What explains that a party is off; None if it is not, or nothing does."""
    most_apart = 1.0
    if named.unit:
        most_apart = APART
    elif named.dimension:
        most_apart = APART_WITHOUT_UNIT
    if _apart(others) > most_apart:
        return None  # they differ among themselves, so that nobody is the odd one
    gap = _gap(own, others)
    if gap < GAP:
        return None
    for own_unit, common in _candidates(named, is_wide=gap >= WIDE_GAP and len(others) > 1):
        if others.is_reached_by(own, conversion(own_unit, common)):
            return _Fit(own_unit, common)
    enough = 2 if named.dimension else 3
    if len(others) >= enough and gap >= WIDE_GAP and _is_scaled(own, others):
        return _Fit("", named.unit)
    return None


def _candidates(named: _Naming, *, is_wide: bool) -> list[tuple[str, str]]:
    """The pairs of units that may have been taken for each other.

    Where the unit is not known, few: among all pairs of units, one fits nearly any two parties.
    """
    pairs = []
    for first, second in FORGOTTEN.get(named.dimension, ()):
        if named.unit == second or (not named.unit and (first, second) in STRIKING):
            pairs.append((first, second))
        if named.unit == first or (not named.unit and is_wide and (first, second) in STRIKING):
            pairs.append((second, first))
    return pairs


def _apart(others: Crowd) -> float:
    """How far others' medians lie apart, in what each of them spreads."""
    if others.low > 0:
        others = others.in_logarithms()
    return others.apart / others.typical_spread


def _gap(own: Quartiles, others: Crowd) -> float:
    """The gap between a party and the others, in what these spread and lie apart.

    On a logarithmic scale, too, if all are positive: there is no room below a small number.
    """
    gap = _plain_gap(own, others)
    if min(own.low, others.low) > 0:
        gap = max(gap, _plain_gap(in_logarithms(own), others.in_logarithms()))
    return gap


def _plain_gap(own: Quartiles, others: Crowd) -> float:
    below = others.low - own.high
    above = own.low - others.high
    return max(below, above) / (others.typical_spread + others.apart)


def _is_scaled(own: Quartiles, others: Crowd) -> bool:
    """Whether a party has values as the others do, but many times larger or smaller."""
    if min(own.low, others.low) <= 0:
        return False
    middle = in_logarithms(own)
    logs = others.in_logarithms()
    shift = middle.median - median(logs.medians)
    return exp(abs(shift)) >= FAR_OFF and logs.is_reached_by(middle, Conversion(1.0, -shift))
