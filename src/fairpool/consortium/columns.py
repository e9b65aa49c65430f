"""Which columns of the tables are used: as the configuration lists them, or all that are shared."""

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.fault_texts import plain_name, quoted
from fairpool.consortium.faults import Columns
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import is_parquet
from fairpool.errors import cut, few
from fairpool.tables.dialect import MISSING

UNNAMED = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?|__index_level_\d+__")
"""Columns without a name, and what pandas calls them: mostly the row numbers that it wrote."""

MOST_WARNED = 20
"""Of one kind, no more warnings than this are listed; the others are counted."""

FEWEST_COUNTED = 3
"""Of fewer rows, a column that counts them may be chance."""


def choose_features(plan: ColumnPlan, heads: dict[Path, tuple[str, ...]]) -> tuple[str, ...]:
    """The input columns: as listed, or those that all parties' files have.

    Args:
        plan: What is wanted of columns.
        heads: The columns of every party's files; those of the first decide on the order.
    """
    if plan.features is not None:
        return tuple(name for name in plan.features if plan.may_be_input(name))
    if not heads:
        return ()
    first, *others = heads.values()
    of_others = [{*names} for names in others]
    features = []
    for name in first:
        shared = all(name in names for names in of_others)
        if shared and plan.may_be_input(name) and not UNNAMED.fullmatch(name):
            features.append(name)
    return tuple(features)


def wanted_columns(plan: ColumnPlan, features: Sequence[str]) -> Columns:
    """How the features and the target are to be read."""
    inputs = [plan.column(name) for name in features]
    rules = {column.name: column.rules for column in inputs}
    rules[plan.target.name] = plan.column(plan.target.name).rules
    levels = {}
    for column in inputs:
        if column.levels is not None:
            levels[column.name] = column.levels
    return Columns(
        number_inputs=tuple(c.name for c in inputs if c.read_as in ("number", "date")),
        text_inputs=tuple(c.name for c in inputs if c.read_as in ("text", "image")),
        target=plan.target,
        dates=tuple(c.name for c in inputs if c.read_as == "date"),
        levels=levels,
        rules=rules,
        free_texts=tuple(c.name for c in inputs if c.is_free_text),
        images=tuple(c.name for c in inputs if c.read_as == "image"),
    )


def column_problems(
    configuration: Configuration, features: Sequence[str], heads: dict[Path, tuple[str, ...]]
) -> list[str]:
    """What the configuration says of columns, and cannot be."""
    if not features:
        return [
            "no column is shared by all parties; name the features, and give all files those"
            " columns"
        ]
    plan = configuration.plan
    known = {*features}
    listed = few([cut(feature) for feature in features], 20)
    problems = [
        f'categorical: "{cut(name)}" is not one of the features ({listed})'
        for name in configuration.categorical
        if name not in known
    ]
    problems += _sections_in_vain(configuration, features, heads)
    if not all(is_parquet(file) for file in heads):
        for column in plan.said.values():
            problems += _levels_that_are_missing_values(column.name, column.levels or ())
    return problems


def _sections_in_vain(
    configuration: Configuration, features: Sequence[str], heads: dict[Path, tuple[str, ...]]
) -> Iterator[str]:
    """Sections of columns that nobody has, or that are no inputs though they should be."""
    plan = configuration.plan
    in_files = {name for names in heads.values() for name in names}
    for name in configuration.columns:
        where = f"[columns.{cut(name)}]"
        if name not in in_files:
            near = difflib.get_close_matches(name, sorted(in_files), n=1)
            hint = "correct its name"
            if near:
                hint = f'did you mean "{cut(near[0])}"?'
            yield f"{where}: no file has such a column; {hint}"
        elif plan.features is None and plan.may_be_input(name) and name not in features:
            yield (
                f"{where}: not all parties have this column, so that it is no input; list the"
                ' features, or give it role = "ignore"'
            )


def _levels_that_are_missing_values(name: str, levels: Sequence[str]) -> list[str]:
    return [
        f'categorical, {name}: "{level}" stands for a missing value in a CSV file, not for a level;'
        " call it something else, there and here"
        for level in levels
        if level in MISSING
    ]


def unused_warnings(
    plan: ColumnPlan, features: Sequence[str], heads: dict[Path, tuple[str, ...]]
) -> list[str]:
    """Every column that is left out though nobody said so, and why."""
    if plan.features is not None:
        return []
    used = {*features, *plan.said}
    unused: dict[str, list[str]] = {}
    for file, names in heads.items():
        for name in dict.fromkeys(names):
            if name not in used:
                unused.setdefault(name, []).append(file.name)
    warnings = [_unused_warning(name, files) for name, files in unused.items()]
    alike: dict[str, list[str]] = {}
    for name in unused:
        alike.setdefault(plain_name(name), []).append(name)
    clashes = []
    for plain, names_alike in alike.items():
        if plain and len(names_alike) > 1:
            clashes.append(
                f"columns {' and '.join(quoted(names_alike[:MOST_WARNED]))} differ only in case or"
                " blanks; if they are the same, give them one name in all files"
            )
    return [*_at_most(warnings, "column(s) not used"), *_at_most(clashes, "such name(s)")]


def _at_most(warnings: list[str], what: str) -> list[str]:
    """The first warnings of one kind, and how many more there are: a file may have any columns."""
    more = len(warnings) - MOST_WARNED
    if more <= 0:
        return warnings
    return [*warnings[:MOST_WARNED], f"and {more} more {what}"]


def _unused_warning(name: str, files: Sequence[str]) -> str:
    where = few(files)
    if not name.strip():
        return (
            f"{where}: a column without a name is not used (pandas writes row numbers so); if it is"
            " data, name it"
        )
    if UNNAMED.fullmatch(name):
        return (
            f'{where}: column "{name}" is not used; pandas calls a column without a name so, mostly'
            " row numbers; if it is data, list all features in the configuration"
        )
    verb = "has" if len(files) == 1 else "have"
    return f'column "{name}" is not used: only {where} {verb} it'


def row_number_warnings(
    plan: ColumnPlan, features: Sequence[str], parties: Sequence[Survey]
) -> list[str]:
    """Columns that nobody listed, and that only count the rows of every file."""
    if plan.features is not None or not parties:
        return []
    warnings = []
    for name in features:
        counts = all(party.counting.get(name) for party in parties)
        if counts and all(party.rows >= FEWEST_COUNTED for party in parties):
            warnings.append(
                f'column "{name}" counts the rows of every file; if it is but a row number, list'
                " the features without it"
            )
    return warnings
