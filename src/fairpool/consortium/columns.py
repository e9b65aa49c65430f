"""Which columns of the tables are used: as the configuration lists them, or all that are shared."""

import re
from collections.abc import Sequence
from pathlib import Path

from fairpool.consortium.configuration import Configuration
from fairpool.consortium.fault_texts import plain_name, quoted
from fairpool.consortium.faults import Columns
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import MISSING, is_parquet
from fairpool.errors import cut, few

UNNAMED = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?|__index_level_\d+__")
"""Columns without a name, and what pandas calls them: mostly the row numbers that it wrote."""

MOST_WARNED = 20
"""Of one kind, no more warnings than this are listed; the others are counted."""

FEWEST_COUNTED = 3
"""Of fewer rows, a column that counts them may be chance."""


def choose_features(
    configuration: Configuration, heads: dict[Path, tuple[str, ...]]
) -> tuple[str, ...]:
    """The input columns: as listed, or those that all parties' files have.

    Args:
        configuration: What the operator decided.
        heads: The columns of every party's files; those of the first decide on the order.
    """
    if configuration.features is not None:
        listed = dict.fromkeys(configuration.features)  # each once, in the same order
        return tuple(name for name in listed if name != configuration.target.column)
    if not heads:
        return ()
    first, *others = heads.values()
    of_others = [{*names} for names in others]
    features = []
    for name in first:
        shared = all(name in names for names in of_others)
        if shared and name != configuration.target.column and not UNNAMED.fullmatch(name):
            features.append(name)
    return tuple(features)


def wanted_columns(configuration: Configuration, features: Sequence[str]) -> Columns:
    """How the features and the target are to be read."""
    categorical = {*configuration.categorical}
    texts = tuple(name for name in features if name in categorical)
    numbers = tuple(name for name in features if name not in categorical)
    levels = {}
    if isinstance(configuration.categorical, dict):
        levels = {name: tuple(configuration.categorical[name]) for name in texts}
    return Columns(
        number_inputs=numbers,
        text_inputs=texts,
        target=configuration.labels,
        levels=levels,
    )


def column_problems(
    configuration: Configuration, features: Sequence[str], files: Sequence[Path]
) -> list[str]:
    """What the configuration says of columns, and cannot be."""
    if not features:
        return [
            "no column is shared by all parties; name the features, and give all files those"
            " columns"
        ]
    known = {*features}
    problems = []
    for name in configuration.categorical:
        if name not in known:
            listed = few([cut(feature) for feature in features], 20)
            problems.append(f'categorical: "{cut(name)}" is not one of the features ({listed})')
    if isinstance(configuration.categorical, dict) and not all(is_parquet(file) for file in files):
        for name, levels in configuration.categorical.items():
            problems += _levels_that_are_missing_values(name, levels)
    return problems


def _levels_that_are_missing_values(name: str, levels: Sequence[str]) -> list[str]:
    return [
        f'categorical, {name}: "{level}" stands for a missing value in a CSV file, not for a level;'
        " call it something else, there and here"
        for level in levels
        if level in MISSING
    ]


def unused_warnings(
    configuration: Configuration, features: Sequence[str], heads: dict[Path, tuple[str, ...]]
) -> list[str]:
    """Every column that is left out though nobody said so, and why."""
    if configuration.features is not None:
        return []
    used = {*features, configuration.target.column}
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
    configuration: Configuration, features: Sequence[str], parties: Sequence[Survey]
) -> list[str]:
    """Columns that nobody listed, and that only count the rows of every file."""
    if configuration.features is not None:
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
