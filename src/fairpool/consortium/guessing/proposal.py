"""What the collaboration of a folder seems to be: all that `fairpool init --from` guesses."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairpool.consortium.guessing.classes import ClassProposal, propose_classes
from fairpool.consortium.guessing.folder import FoundFolder
from fairpool.consortium.guessing.looks import ColumnLook, SourceLook, look_at_source
from fairpool.consortium.guessing.places import Quartiles
from fairpool.consortium.guessing.same_columns import Match, match_columns
from fairpool.consortium.guessing.units import UnitSuspicion, suspect_units, unit_in_name
from fairpool.errors import ConfigurationError, few, shown
from fairpool.tables.units import conversion

LIKELY_TARGETS = re.compile(
    r"y|target|label|outcome|response|yield|ertrag|price|value|result|score"
    r"|class|klasse|diagnosis|diagnose|disease|default",
    re.IGNORECASE,
)
"""Names that are often predicted."""


@dataclass(frozen=True, kw_only=True)
class ColumnProposal:
    """A column of the collaboration.

    Attributes:
        name: The collaboration's name of it.
        kind: What it seems to hold at most sources.
        unit: Its unit, where one is known and a source has another.
        holders: What each source that has it holds, by source.
        lacking: The sources that do not have it, as far as is certain.
        levels: Of a category, all that were seen; None where others may exist.
    """

    name: str
    kind: str
    unit: str
    holders: dict[str, ColumnLook]
    lacking: tuple[str, ...]
    levels: tuple[str, ...] | None

    @property
    def kinds_differ(self) -> bool:
        """Whether it holds one thing at one source, and another thing at another."""
        kinds = {holder.guess.kind for holder in self.holders.values() if holder.guess.kind}
        return len(kinds) > 1

    @property
    def empty_at(self) -> tuple[str, ...]:
        """The sources whose tables have the column, and no value in it."""
        return tuple(source for source, own in self.holders.items() if not own.guess.kind)

    @property
    def kinds_in_words(self) -> list[str]:
        """What it holds at each source; where that is unusual, with a value."""
        words = []
        for source, own in self.holders.items():
            if own.guess.kind == self.kind or not own.guess.kind:
                words.append(f"{own.guess.kind or 'empty'} at {source}")
            else:
                words.append(f"{own.guess.kind} at {source} ({shown(own.example)})")
        return words

    def other_levels(self) -> dict[str, tuple[str, ...]]:
        """The sources with levels of a category of which nobody else has any, and these."""
        if self.kind != "category":
            return {}
        alone = {}
        levels = {source: {*own.guess.levels} for source, own in self.holders.items()}
        for source, own in levels.items():
            others: set[str] = set()
            for other, theirs in levels.items():
                if other != source:
                    others |= theirs
            if len(own) > 1 and others and own.isdisjoint(others):
                alone[source] = tuple(sorted(own))
        return alone

    def missing(self) -> dict[str, float]:
        """The share of values that is missing, by source, where any is."""
        shares = {}
        for source, holder in self.holders.items():
            if holder.guess.missing:
                shares[source] = holder.guess.missing / max(holder.rows, 1)
        return shares


@dataclass(frozen=True, kw_only=True)
class TargetProposal:
    """The column to predict; a guess unless it was asked for.

    Attributes:
        name: The column.
        why: What the guess rests on; empty: it was asked for.
        classes: What it holds, where these seem to be classes.
    """

    name: str
    why: str
    classes: ClassProposal | None = None


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """All guesses about a folder.

    Attributes:
        parties: What each seems to be.
        others: Test and public data.
        columns: Of the collaboration, in the order of the first party.
        target: The column to predict.
        matches: Columns that seem to be the same under two names.
        suspicions: Columns that seem to be in another unit somewhere.
        unused: Files that are no tables.
    """

    parties: tuple[SourceLook, ...]
    others: tuple[SourceLook, ...]
    columns: tuple[ColumnProposal, ...]
    target: TargetProposal
    matches: tuple[Match, ...]
    suspicions: tuple[UnitSuspicion, ...]
    unused: tuple[str, ...]

    @property
    def sources(self) -> tuple[SourceLook, ...]:
        """The parties, then public and test data."""
        return (*self.parties, *self.others)


def propose(found: FoundFolder, *, target: str | None = None) -> Proposal:
    """Look at every source of a folder, and guess what the collaboration is.

    Args:
        found: The folder's sources.
        target: The column to predict, by the name that most files have; None: it is guessed.
    """
    parties = []
    others = []
    for source in found.sources:
        look = look_at_source(source.name, source.data, source.files)
        if source.is_party:
            parties.append(look)
        else:
            others.append(look)
    _refuse_unreadable(parties)
    looks = [*parties, *others]
    matches = match_columns(looks)
    columns = _columns_of(parties, looks, matches)
    suspicions: list[UnitSuspicion] = []
    for column in columns:
        suspicions += _unit_suspicions(column, matches)
    return Proposal(
        parties=tuple(parties),
        others=tuple(others),
        columns=tuple(columns),
        target=_with_classes(_target_of(columns, target), columns, parties),
        matches=tuple(matches),
        suspicions=tuple(suspicions),
        unused=found.unused,
    )


def _refuse_unreadable(parties: Sequence[SourceLook]) -> None:
    """Refuse a folder of which no party's table can be read."""
    problems: list[str] = []
    for party in parties:
        if party.columns:
            return
        problems += party.problems
    raise ConfigurationError(*problems)


def _columns_of(
    parties: Sequence[SourceLook], looks: Sequence[SourceLook], matches: Sequence[Match]
) -> list[ColumnProposal]:
    """The collaboration's columns; guesses about names count only where they are certain."""
    renamed = {}
    for match in matches:
        if match.certain:
            renamed[match.source, match.own] = match.column
    holders: dict[str, dict[str, ColumnLook]] = {}
    for look in looks:
        for own, column in look.columns.items():
            name = renamed.get((look.name, own), own)
            holders.setdefault(name, {}).setdefault(look.name, column)
    whole = {look.name for look in looks if look.whole}
    columns = []
    for name, own_columns in holders.items():
        # Public and test data may have more columns than anybody learns from.
        if not any(party.name in own_columns for party in parties) or not name.strip():
            continue
        # Whose tables could not be read may have any column.
        readable = [party.name for party in parties if party.columns]
        lacking = [party for party in readable if party not in own_columns]
        kinds = Counter(own.guess.kind for own in own_columns.values() if own.guess.kind)
        kind = kinds.most_common(1)[0][0] if kinds else ""
        unit = ""
        for match in matches:
            if match.column == name and match.unit:
                unit = match.unit
        columns.append(
            ColumnProposal(
                name=name,
                kind=kind,
                unit=unit,
                holders=own_columns,
                lacking=tuple(lacking),
                levels=_levels_of(kind, own_columns, whole),
            )
        )
    return columns


def _levels_of(
    kind: str, holders: dict[str, ColumnLook], whole: set[str]
) -> tuple[str, ...] | None:
    """All levels of a category, if every row of every source was looked at."""
    if kind != "category" or not whole.issuperset(holders):
        return None
    levels: set[str] = set()
    for holder in holders.values():
        levels |= {*holder.guess.levels}
    return tuple(sorted(levels))


def _unit_suspicions(column: ColumnProposal, matches: Sequence[Match]) -> list[UnitSuspicion]:
    """Who seems to give a column in another unit, those aside whose unit is known by their name."""
    if column.kind != "number":
        return []
    converted = {}
    for match in matches:
        if match.column == column.name and match.certain and match.own_unit:
            converted[match.source] = match
    places = {}
    for source, holder in column.holders.items():
        if holder.quartiles is not None:
            places[source] = _common_quartiles(holder.quartiles, converted.get(source))
    return suspect_units(column.name, places, unit=column.unit)


def _common_quartiles(own: Quartiles, match: Match | None) -> Quartiles:
    if match is None:
        return own
    change = conversion(match.own_unit, match.unit)
    return own.converted(change.factor, change.offset)


def _with_classes(
    target: TargetProposal, columns: Sequence[ColumnProposal], parties: Sequence[SourceLook]
) -> TargetProposal:
    """The column to predict, and its classes, where everybody who has it has such."""
    (column,) = [column for column in columns if column.name == target.name]
    if column.kinds_differ:
        return target
    classes = propose_classes(
        column.kind, column.holders, parties=[party.name for party in parties]
    )
    return replace(target, classes=classes)


def _target_of(columns: Sequence[ColumnProposal], target: str | None) -> TargetProposal:
    names = [column.name for column in columns]
    if target is not None:
        if target not in names:
            listed = few([shown(name) for name in names], 20)
            raise ConfigurationError(
                f"target: {shown(target)} is no column of these tables; there are {listed}"
            )
        return TargetProposal(name=target, why="")
    shared = [column for column in columns if not column.lacking]
    for column in shared:
        is_likely = LIKELY_TARGETS.fullmatch(unit_in_name(column.name).stem)
        if is_likely and column.kind in ("number", "category"):
            return TargetProposal(
                name=column.name, why="by its name; is this what is to be predicted?"
            )
    for kind, words in (("number", "numbers"), ("category", "classes")):
        of_kind = [column.name for column in shared if column.kind == kind]
        if of_kind:
            why = f"the last column of {words} that all parties have"
            return TargetProposal(name=of_kind[-1], why=f"{why}; is this what is to be predicted?")
    why = "no column of numbers or classes is in everybody's tables; which one is to be predicted?"
    return TargetProposal(name=names[-1], why=why)
