"""What is wanted of every column: sections and shorthands of the configuration, put together.

`[columns.NAME]`, `features`, `categorical`, `missing` and `[target]` are read here, once, and
nowhere else: reading, checks, encoding and disclosure ask the plan.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairpool.columns import COLUMNS, Bounds, Declared, Rules, TextColumn
from fairpool.columns.rules import NO_RULES, is_number
from fairpool.consortium.column_sections import (
    TARGET_KIND,
    ColumnSection,
    MissingSection,
    needs_encoder,
    never_an_input,
)
from fairpool.encoders import OpenEncoder
from fairpool.errors import cut, few, shown
from fairpool.targets import TARGETS, ClassTarget, Labels
from fairpool.targets.classes import same_levels

Categorical = Sequence[str] | Mapping[str, Sequence[str]]
"""Columns, or columns with all their levels."""


def read_as(kind: str) -> str:
    """As what a kind of column is read: "number", "text", "date" or "image"."""
    if kind in COLUMNS:
        return COLUMNS[kind].read_as
    return "text"


@dataclass(frozen=True, kw_only=True)
class PlannedColumn:
    """What is wanted of one column.

    Attributes:
        name: The column.
        kind: One of `COLUMNS`, "id" or "target".
        unit: The collaboration's unit; None: nobody said.
        rules: What is done to its values.
        levels: All levels, where they are declared.
        is_input: Whether it may be one of the model's inputs.
        encoder_folder: Of text or images, where its encoder is, as the configuration says it.
        encoder_sha256: Which encoder that must be.
        encoder: The encoder, once it is opened.
    """

    name: str
    kind: str = "number"
    unit: str | None = None
    rules: Rules = NO_RULES
    levels: tuple[str, ...] | None = None
    is_input: bool = True
    encoder_folder: str | None = None
    encoder_sha256: str | None = None
    encoder: OpenEncoder | None = None

    @property
    def is_free_text(self) -> bool:
        """Whether its texts may be anything."""
        return self.kind in COLUMNS and COLUMNS[self.kind].is_free_text

    @property
    def read_as(self) -> str:
        """As what it is read: "number", "text", "date" or "image"."""
        return read_as(self.kind)

    @property
    def declared(self) -> Declared:
        """What its kind needs to know."""
        return Declared(
            name=self.name,
            rules=_of_present(self.rules),
            levels=self.levels,
            encoder=self.encoder,
        )


@dataclass(frozen=True, kw_only=True)
class ColumnPlan:
    """What is wanted of all columns.

    Attributes:
        target: What is predicted, as its kind reads it.
        features: The inputs, where they are listed; None: every column that all parties share.
        said: The columns of which the configuration says something, the target among them.
        missing: What is done about missing values of all other columns.
    """

    target: Labels
    features: tuple[str, ...] | None
    said: Mapping[str, PlannedColumn]
    missing: str = "error"

    @classmethod
    def of(
        cls,
        *,
        target: Any,
        features: Sequence[str] | None,
        categorical: Categorical,
        missing: str,
        sections: Mapping[str, ColumnSection],
    ) -> "ColumnPlan":
        """The plan of a configuration; of what contradicts itself, see `plan_problems`.

        Args:
            target: The [target] section.
            features: The inputs, if they are listed.
            categorical: The shorthand.
            missing: The shorthand.
            sections: [columns.NAME], by name.
        """
        said = {}
        for name in dict.fromkeys([target.column, *categorical, *sections]):
            section = sections.get(name, ColumnSection())
            said[name] = _planned(name, section, categorical=categorical, missing=missing)
        said[target.column] = _of_target(said[target.column])
        kind = TARGETS[target.kind]
        labels = kind.labels(target)
        if kind.declared is not None:
            labels = kind.declared(labels, _of_present(said[target.column].rules))
        if kind.listed is not None:
            levels = target.levels or said[target.column].levels
            if levels is not None:
                labels = kind.listed(labels, levels)
                said[target.column] = replace(said[target.column], levels=tuple(levels))
        listed = None
        if features is not None:
            listed = tuple(dict.fromkeys(features))  # each once, in the same order
        return cls(target=labels, features=listed, said=said, missing=missing)

    def column(self, name: str) -> PlannedColumn:
        """What is wanted of a column; of one that is nowhere mentioned, too."""
        if name in self.said:
            return self.said[name]
        return PlannedColumn(name=name, rules=Rules(missing=self.missing))

    def may_be_input(self, name: str) -> bool:
        """Whether a column may be one of the inputs."""
        return self.column(name).is_input

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that are kept through predictions, and never learned from."""
        return tuple(column.name for column in self.said.values() if column.kind == "id")


def _planned(
    name: str, section: ColumnSection, *, categorical: Categorical, missing: str
) -> PlannedColumn:
    """One column, as its section and the shorthands say."""
    levels = section.levels
    if levels is None and isinstance(categorical, Mapping):
        levels = categorical.get(name)  # type: ignore[assignment]  # any sequence will do
    kind = _kind_of(section)
    if section.kind is None and (name in categorical or levels is not None):
        kind = "category"
    bounds = None
    if section.range is not None:
        bounds = Bounds(section.range.lowest, section.range.highest)
    tokens: tuple[str, ...] = ()
    do = None
    if section.missing is not None:
        tokens = tuple(section.missing.tokens or ())
        do = section.missing.do
    rules = Rules(
        tokens=tokens,
        bounds=bounds,
        clips=section.outside == "clip",
        log=section.transform == "log",
        missing=do or missing,
        blanks=kind in COLUMNS and COLUMNS[kind].is_free_text,
    )
    may_be_input = kind in COLUMNS and not never_an_input(kind, section.encoder)
    all_levels: tuple[str, ...] | None = None
    if levels is not None:
        all_levels = tuple(levels)
    return PlannedColumn(
        name=name,
        kind=kind,
        unit=section.unit,
        rules=rules,
        levels=all_levels,
        is_input=may_be_input and section.role != "ignore",
        encoder_folder=section.encoder,
        encoder_sha256=section.encoder_sha256,
    )


def _of_present(rules: Rules) -> Rules:
    """The same for rows that were not dropped, as encodings and reward files know them."""
    if rules.imputes:
        return rules
    return replace(rules, missing="error")


def _of_target(column: PlannedColumn) -> PlannedColumn:
    """The column that is predicted; what is made up is no label, so none is imputed."""
    rules = column.rules
    if rules.imputes:
        rules = replace(rules, missing="error")
    return replace(column, kind=TARGET_KIND, rules=rules, is_input=False)


def plan_problems(
    *,
    target: Any,
    features: Sequence[str] | None,
    categorical: Categorical,
    missing: str | None,
    sections: Mapping[str, ColumnSection],
) -> list[str]:
    """What the sections of columns say that does not fit together, or contradicts a shorthand.

    Args:
        target: The [target] section.
        features: The inputs, if they are listed.
        categorical: The shorthand.
        missing: The shorthand; None: it is not in the file.
        sections: [columns.NAME], by name.
    """
    problems: list[str] = []
    for name, section in sections.items():
        where = f"[columns.{cut(name)}]"
        if name == target.column:
            problems += _problems_of_target(where, section, target)
        else:
            problems += _problems_of_input(where, section)
            problems += _contradictions(where, name, section, categorical=categorical)
            problems += _contradictory_role(where, name, section, features=features)
            if section.kind == TARGET_KIND:
                problems.append(
                    f'{where} says kind = "target", but the target is "{cut(target.column)}"; say'
                    f' target = "{cut(name)}", or give the column another kind'
                )
        read_type = _read_as(section)
        if name == target.column:
            read_type = "number" if TARGETS[target.kind].of_numbers else "text"
        problems += _problems_of_values(where, section, read_type)
        problems += _contradictory_missing(
            where, section, missing=missing, is_target=name == target.column
        )
    return problems


def _problems_of_target(where: str, section: ColumnSection, target: Any) -> Iterator[str]:
    """What cannot be said of the target."""
    allowed = [None, TARGET_KIND, target.kind]
    if target.kind == ClassTarget.kind:
        allowed.append("category")  # which is what classes are
    if section.kind not in allowed:
        yield (
            f'{where} says kind = "{section.kind}", but target says that it is predicted, as kind ='
            f' "{target.kind}"; say kind = "target" there, or predict another column'
        )
    if section.role is not None:
        yield (
            f'{where} says role = "{section.role}", but target says that it is predicted; leave the'
            " role out"
        )
    if section.levels is not None:
        yield from _problems_of_target_levels(where, section.levels, target)
    of_numbers = (section.range, section.transform, section.outside)
    if not TARGETS[target.kind].of_numbers and any(key is not None for key in of_numbers):
        yield (
            f'{where}: range, outside and transform have no meaning for a target of kind = "'
            f'{target.kind}"; leave them out'
        )
    declares = (section.range, section.transform, section.missing)
    if TARGETS[target.kind].declared is None and any(key is not None for key in declares):
        yield (
            f'{where}: range, transform and missing have no meaning for a target of kind = "'
            f'{target.kind}"; leave them out'
        )
    if section.missing is not None and section.missing.do == "impute":
        yield (
            f'{where}: missing = "impute" has no meaning for the target, since nothing is learned'
            ' from labels that were made up; use "drop" or "error"'
        )


def _problems_of_target_levels(where: str, levels: Sequence[str], target: Any) -> Iterator[str]:
    """What is wrong with the levels of what is predicted."""
    if TARGETS[target.kind].listed is None:
        yield (
            f'{where}: levels have no meaning for a target of kind = "{target.kind}"; if they are'
            f' classes, say target = {{ column = "{cut(target.column)}", kind = "classes" }}'
        )
        return
    try:
        TARGETS[target.kind].keys["levels"].check(list(levels))
    except ValueError as error:
        yield f"{where}, levels: {error}"
    if target.levels is not None and not same_levels(levels, target.levels):
        yield (
            f"{where} lists other levels than [target] does: {few([*map(shown, levels)])} there,"
            f" {few([*map(shown, target.levels)])} here; leave one of the lists out"
        )


def _problems_of_input(where: str, section: ColumnSection) -> Iterator[str]:
    """Keys that have no meaning for the kind of column."""
    kind = _kind_of(section)
    if kind == TARGET_KIND:
        return
    allowed: Collection[str] = ()
    if kind in COLUMNS:
        allowed = COLUMNS[kind].keys
    for key in ("range", "outside", "levels", "transform", "encoder", "encoder_sha256"):
        if getattr(section, key) is not None and key not in allowed:
            having = [name for name, other in COLUMNS.items() if key in other.keys]
            yield (
                f'{where}: {key} has no meaning for kind = "{kind}" (only for'
                f" {', '.join(having)}); leave it out"
            )
    if needs_encoder(kind) and section.encoder is None and section.encoder_sha256 is not None:
        yield f"{where}: encoder_sha256 needs an encoder; give its folder, or leave the line out"
    if never_an_input(kind, section.encoder):
        if section.role == "input":
            yield (
                f'{where} says kind = "{kind}" and role = "input", but such a column is never an'
                f" input{_but_by_encoder(kind)}; leave the role out, or give it another kind"
            )
        for key in ("unit", "missing"):
            if getattr(section, key) is not None:
                yield f'{where}: {key} has no meaning for kind = "{kind}"; leave it out'


def _but_by_encoder(kind: str) -> str:
    """Where a column of a kind could be an input after all."""
    return " without an encoder" if needs_encoder(kind) else ""


def _kind_of(section: ColumnSection) -> str:
    """The kind of an input, as its section alone tells it."""
    if section.kind is not None:
        return section.kind
    if section.encoder is not None:
        return TextColumn.kind
    if section.levels is not None:
        return "category"
    return "number"


def _read_as(section: ColumnSection) -> str:
    return read_as(_kind_of(section))


def _problems_of_values(where: str, section: ColumnSection, read_type: str) -> Iterator[str]:
    """Ranges, levels and tokens of a column that do not fit together, or to how it is read."""
    if section.outside is not None and section.range is None:
        yield f"{where}: outside = {shown(section.outside)} needs a range; give one"
    if section.range is not None:
        if section.range.of_dates and read_type != "date":
            yield f'{where}: a range of dates needs kind = "date"; give it, or a range of numbers'
        if read_type == "date" and not section.range.of_dates:
            yield (
                f'{where}: the range of kind = "{section.kind}" must be two dates, such as'
                " [2015-01-01, 2024-12-31]"
            )
        if section.transform == "log" and section.range.lowest <= 0:
            yield (
                f'{where}: transform = "log" needs a range above 0, and it begins at'
                f" {section.range.lowest:g}; begin it at the smallest value that can be measured"
            )
    for level, count in Counter(section.levels or []).items():
        if count > 1:
            yield f'{where}: the level "{cut(level)}" is listed twice; leave one of them out'
    missing = section.missing or MissingSection()
    for token in missing.tokens or []:
        if read_type == "date":
            yield (
                f"{where}: missing, tokens: {shown(token)}: give tokens of dates under missing in"
                " [reading], which is for all columns"
            )
        elif read_type == "number" and not is_number(token):
            yield (
                f"{where}: missing, tokens: {shown(token)} is not a number, and the column is read"
                " as numbers; list it under missing in [reading], which is for all columns"
            )
        elif token in (section.levels or []):
            yield f'{where}: "{cut(token)}" is both a level and a token of missing values'


def _contradictions(
    where: str, name: str, section: ColumnSection, *, categorical: Categorical
) -> Iterator[str]:
    """Where `categorical` says something else."""
    if name not in categorical:
        return
    if section.kind not in (None, "category"):
        yield (
            f'categorical lists "{cut(name)}", but {where} says kind = "{section.kind}"; leave one'
            " of them out"
        )
    elif section.encoder is not None:
        yield (
            f'categorical lists "{cut(name)}", but {where} gives it an encoder; leave one of them'
            " out"
        )
    if section.levels is None or not isinstance(categorical, Mapping):
        return
    if list(categorical[name]) != list(section.levels):
        yield (
            f'categorical lists other levels of "{cut(name)}" than {where} does; leave one of the'
            " lists out"
        )


def _contradictory_role(
    where: str, name: str, section: ColumnSection, *, features: Sequence[str] | None
) -> Iterator[str]:
    """Where `features` says something else."""
    if features is None:
        return
    if name in features:
        if section.kind is not None and never_an_input(section.kind, section.encoder):
            yield (
                f'features lists "{cut(name)}", but {where} says kind = "{section.kind}", which is'
                f" never an input{_but_by_encoder(section.kind)}; leave one of them out"
            )
        if section.role == "ignore":
            yield (
                f'features lists "{cut(name)}", but {where} says role = "ignore"; leave one of'
                " them out"
            )
    elif section.role == "input":
        yield (
            f'{where} says role = "input", but features does not list "{cut(name)}"; add it there,'
            " or leave the role out"
        )


def _contradictory_missing(
    where: str, section: ColumnSection, *, missing: str | None, is_target: bool
) -> Iterator[str]:
    """Where `missing` says something else."""
    do = (section.missing or MissingSection()).do
    if missing is None or do is None or do == missing:
        return
    if is_target and missing == "impute":
        return  # labels are never imputed, so that only the section can say what becomes of them
    yield (
        f'missing = "{missing}" is for all columns, but {where} says missing = "{do}"; leave out'
        " the first, and say it column by column"
    )
