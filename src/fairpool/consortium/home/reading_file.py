"""How a party's own table is written, where that is not as the plan has it: a small TOML file.

It has the keys that an operator would write for the party under [[parties]]: [reading] and
[columns.NAME].
"""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from fairpool.consortium.column_sections import ColumnSection
from fairpool.consortium.reading_sections import (
    ReadingSection,
    SourceSection,
    delivery_of,
    delivery_problems,
)
from fairpool.errors import ConfigurationError, shown
from fairpool.exchange.plan import Plan
from fairpool.tables.delivery import Delivery

KEYS = ("reading", "columns")


def read_delivery(path: Path, plan: Plan) -> Delivery:
    """How tables come, of a file with [reading] and [columns.NAME].

    Args:
        path: The file.
        plan: What columns there are, in which units.
    """
    try:
        values = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from None
    unknown = [shown(name) for name in values if name not in KEYS]
    if unknown:
        raise ConfigurationError(
            f"{path}: it has {', '.join(unknown)}; it takes [reading] and [columns.NAME] alone"
        )
    try:
        section = SourceSection.model_validate(values)
    except ValidationError as error:
        texts = []
        for problem in error.errors():
            where = ", ".join(str(part) for part in problem["loc"])
            texts.append(f"{path}: {where}: {problem['msg']}")
        raise ConfigurationError(*texts) from None
    declared = {}
    names = [column.name for column in plan.encoding.columns]
    for name in (*names, plan.encoding.target.name):
        declared[name] = ColumnSection(unit=plan.units.get(name))
    problems = delivery_problems(str(path), section, ReadingSection(), declared=declared)
    problems += [
        f"{path}: columns, {shown(name)}: the plan has no such column; correct its name"
        for name in section.columns
        if name not in declared
    ]
    if problems:
        raise ConfigurationError(*problems)
    return delivery_of(section, ReadingSection(), declared)
