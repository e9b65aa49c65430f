"""Which columns of several sources are the same under different names."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairpool.consortium.guessing.crowd import Crowd
from fairpool.consortium.guessing.looks import ColumnLook, SourceLook
from fairpool.consortium.guessing.places import Quartiles
from fairpool.consortium.guessing.units import (
    FORGOTTEN,
    PLURALS,
    unit_in_name,
)
from fairpool.tables.units import conversion

CLOSE = 0.8
"""Names that agree in this share of their letters may be the same word."""

SHORTEST_PART = 4
"""A name of so many letters may be the beginning of another: temp, temperature."""

LEVELS_IN_COMMON = 0.5
MOST_COMPARED = 200
"""Of wider tables, columns of different names are not compared pair by pair."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """A column of a source that seems to be one of the collaboration's.

    Attributes:
        source: Whose it is.
        own: Its own name.
        column: The collaboration's.
        certain: Whether nothing else is likely.
        why: What that rests on.
        own_unit: Its own unit; empty: the same, or unknown.
        unit: The collaboration's; empty: unknown.
    """

    source: str
    own: str
    column: str
    certain: bool
    why: str
    own_unit: str = ""
    unit: str = ""


def plain_key(name: str) -> str:
    """A name without case, blanks and signs.

    >>> plain_key("Soil pH "), plain_key("soil_ph")
    ('soilph', 'soilph')
    """
    letters = re.sub(r"[\W_]+", "", name.casefold())
    return letters or name.strip().casefold()


def match_columns(sources: Sequence[SourceLook]) -> list[Match]:
    """Columns that seem to be the same under two names; those of one name are not listed.

    Args:
        sources: The parties, of whose names the most frequent one is the collaboration's, then
            public and test data.
    """
    matches = _same_up_to_signs(sources)
    matches += _same_up_to_unit(sources, matches)
    matches += _alike(sources, matches)
    return matches


def _named(sources: Sequence[SourceLook], matches: Sequence[Match]) -> dict[str, dict[str, str]]:
    """Each source's columns by the collaboration's names, as far as they are known."""
    renamed = {(match.source, match.own): match.column for match in matches}
    named: dict[str, dict[str, str]] = {}
    for source in sources:
        named[source.name] = {}
        for own in source.columns:
            named[source.name].setdefault(renamed.get((source.name, own), own), own)
    return named


def _same_up_to_signs(sources: Sequence[SourceLook]) -> list[Match]:
    spellings: dict[str, Counter[str]] = {}
    for source in sources:
        for name in source.columns:
            spellings.setdefault(plain_key(name), Counter())[name] += 1
    matches = []
    for source in sources:
        for name in source.columns:
            key = plain_key(name)
            common = spellings[key].most_common(1)[0][0]
            if name == common or common in source.columns:
                continue
            twice = [own for own in source.columns if plain_key(own) == key]
            if len(twice) == 1:
                why = "the same but for case, blanks and signs"
                matches.append(
                    Match(source=source.name, own=name, column=common, certain=True, why=why)
                )
    return matches


def _same_up_to_unit(sources: Sequence[SourceLook], known: Sequence[Match]) -> list[Match]:
    """Names of one stem that end with different units, such as rain_mm and rain_in."""
    named = _named(sources, known)
    by_stem: dict[str, Counter[str]] = {}
    for columns in named.values():
        for column in columns:
            by_stem.setdefault(plain_key(unit_in_name(column).stem), Counter())[column] += 1
    matches = []
    for source in sources:
        for column, own in named[source.name].items():
            stem = plain_key(unit_in_name(column).stem)
            common = by_stem[stem].most_common(1)[0][0]
            if column == common or common in named[source.name]:
                continue
            others = _places_of(common, sources, named)
            matches += _unit_match(source, source.columns[own], common=common, others=others)
    return matches


def _unit_match(
    source: SourceLook, own: ColumnLook, *, common: str, others: Sequence[Quartiles]
) -> list[Match]:
    own_unit = unit_in_name(own.name).unit
    unit = unit_in_name(common).unit
    fits = False
    if own_unit and unit and own.quartiles is not None and others:
        try:
            fits = Crowd.of(others).is_reached_by(own.quartiles, conversion(own_unit, unit))
        except ValueError:  # they measure different things: rain_mm and rain_h
            return []
    why = f"the same but for the unit in its name, and in {unit} where the others are"
    if not fits:
        why = "the same but for the unit in its name; is it the same column?"
    return [
        Match(
            source=source.name,
            own=own.name,
            column=common,
            certain=fits,
            why=why,
            own_unit=own_unit,
            unit=unit,
        )
    ]


def _places_of(
    column: str, sources: Sequence[SourceLook], named: Mapping[str, Mapping[str, str]]
) -> list[Quartiles]:
    """Where the values of a column lie at everybody who has it."""
    places = []
    for source in sources:
        own = named[source.name].get(column)
        if own is not None:
            quartiles = source.columns[own].quartiles
            if quartiles is not None and quartiles.spread > 0:
                places.append(quartiles)
    return places


def _alike(sources: Sequence[SourceLook], known: Sequence[Match]) -> list[Match]:
    """Columns of other names that are close in spelling or place, and in what they hold."""
    named = _named(sources, known)
    holders = Counter[str]()
    for columns in named.values():
        holders.update(columns.keys())
    matches = []
    for source in sources:
        own_columns = named[source.name]
        lacking = []
        for column, count in holders.items():
            if column not in own_columns and count * 2 >= len(sources):
                lacking.append(column)
        spare = [column for column in own_columns if holders[column] * 2 < len(sources)]
        if len(sources) == 2:  # neither has the majority; the first one's names are kept
            spare = [column for column in own_columns if holders[column] == 1]
            if source is sources[0]:
                continue
        if len(lacking) > MOST_COMPARED or len(spare) > MOST_COMPARED:
            continue
        matches += _best_pairs(
            source, [own_columns[column] for column in spare], lacking, sources=sources, named=named
        )
    return matches


@dataclass(frozen=True)
class _Pair:
    score: float
    match: Match


def _best_pairs(
    source: SourceLook,
    spare: Sequence[str],
    lacking: Sequence[str],
    *,
    sources: Sequence[SourceLook],
    named: Mapping[str, Mapping[str, str]],
) -> list[Match]:
    """Each column at most once, the likeliest pairs first."""
    pairs = []
    for column in lacking:
        holders = []
        for other in sources:
            own = named[other.name].get(column)
            if own is not None:
                holders.append(other.columns[own])
        for own in spare:
            pair = _pair(source, source.columns[own], column, holders=holders)
            if pair is not None:
                pairs.append(pair)
    pairs.sort(key=lambda pair: -pair.score)
    matches: list[Match] = []
    taken: set[str] = set()
    for pair in pairs:
        if taken.isdisjoint((pair.match.own, pair.match.column)):
            matches.append(pair.match)
            taken |= {pair.match.own, pair.match.column}
    return matches


def _pair(
    source: SourceLook, own: ColumnLook, column: str, *, holders: Sequence[ColumnLook]
) -> _Pair | None:
    """How likely a column is the collaboration's; None if hardly."""
    kinds = {holder.guess.kind for holder in holders}
    if own.guess.kind not in kinds:
        return None
    reasons = []
    score = 0.0
    spelling = _spelling(own.name, column)
    if spelling >= CLOSE:
        reasons.append("nearly the same name")
        score += spelling
    if own.at in {holder.at for holder in holders}:
        reasons.append("same place")
        score += 0.5
    if not reasons:
        return None
    content = _content(own, holders)
    if content is None and spelling < CLOSE:
        return None
    own_unit = ""
    unit = ""
    if content is not None:
        score += 1
        reasons.append(content.why)
        own_unit = content.own_unit
        unit = content.unit
    return _Pair(
        score,
        Match(
            source=source.name,
            own=own.name,
            column=column,
            certain=False,
            why=", ".join(reasons),
            own_unit=own_unit,
            unit=unit,
        ),
    )


def _spelling(own: str, column: str) -> float:
    """How alike two names are, without their units: 1 if one begins with the other."""
    first = plain_key(unit_in_name(own).stem)
    second = plain_key(unit_in_name(column).stem)
    shorter = min(first, second, key=len)
    if len(shorter) >= SHORTEST_PART and first.startswith(shorter) and second.startswith(shorter):
        return 1.0
    return difflib.SequenceMatcher(None, first, second).ratio()


@dataclass(frozen=True)
class _Content:
    """That a column holds what others' does, up to a unit."""

    why: str
    own_unit: str = ""
    unit: str = ""


def _content(own: ColumnLook, holders: Sequence[ColumnLook]) -> _Content | None:
    if own.guess.kind == "category":
        levels = {*own.guess.levels}
        others: set[str] = set()
        for holder in holders:
            others |= {*holder.guess.levels}
        common = levels & others
        if len(common) >= LEVELS_IN_COMMON * len(levels | others):
            return _Content(f"{len(common)} level(s) in common")
        return None
    if own.guess.kind != "number":
        return _Content(f"{own.guess.kind}s, too")
    if own.quartiles is None:
        return None
    known = [holder.quartiles for holder in holders if holder.quartiles is not None]
    places = [place for place in known if place.spread > 0]
    if not places:
        return None
    others_places = Crowd.of(places)
    return _same_place(own.quartiles, others_places) or _converted(
        own, own.quartiles, others_places
    )


def _same_place(own: Quartiles, others: Crowd) -> _Content | None:
    if others.low <= own.median <= others.high and others.spreads_like(own):
        return _Content(f"median {own.median:.4g}, as the others'")
    return None


def _converted(own: ColumnLook, quartiles: Quartiles, others: Crowd) -> _Content | None:
    """The unit in which a column would be where the others are."""
    named = unit_in_name(own.name).unit
    for first, second in _both_ways():
        if named and first != named:
            continue
        if others.is_reached_by(quartiles, conversion(first, second)):
            words = PLURALS.get(first, first)
            return _Content(f"{_size(quartiles, others)}: {words}?", first, second)
    return None


def _both_ways() -> Iterator[tuple[str, str]]:
    """All pairs of units that are taken for each other, either first."""
    for pairs in FORGOTTEN.values():
        yield from pairs
        for first, second in pairs:
            yield second, first


def _size(own: Quartiles, others: Crowd) -> str:
    middle = others.medians[len(others) // 2]
    if not middle:
        return "elsewhere"
    return f"{own.median / middle:.2g} times as large"
