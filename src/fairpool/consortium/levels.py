"""The levels of categorical columns: where they come from, which are left out, and what to tell the
operator.

Levels go into every reward file. So they come from the configuration or the public data; otherwise
only those that at least two parties have are listed, since a level of one party alone would tell
the others about its rows. The warnings here name such levels: they are for the operator, and for
nobody else.
"""

from collections import Counter
from collections.abc import Sequence

from fairpool.consortium.configuration import Configuration
from fairpool.consortium.intake import Survey
from fairpool.consortium.tables import PUBLIC, TEST
from fairpool.errors import few

MANY_NUMBERS = 20
"""A category with more levels than this, all of them numbers, is more likely a quantity."""

REMEDY = "list all levels in the configuration to keep them apart"


def choose_levels(
    configuration: Configuration, name: str, parties: Sequence[Survey], public: Survey | None
) -> tuple[str, ...]:
    """The levels of a categorical column that models know."""
    if isinstance(configuration.categorical, dict):
        return tuple(configuration.categorical[name])
    if public is not None:
        return tuple(sorted(public.levels[name]))
    owners = Counter(level for party in parties for level in party.levels[name])
    return tuple(sorted(level for level, count in owners.items() if count > 1 or len(parties) == 1))


def level_problems(name: str, levels: Sequence[str], parties: Sequence[Survey]) -> list[str]:
    """A categorical column of which nothing can be told."""
    if levels:
        return []
    hidden = few(_unknown(name, levels, parties))
    return [f'categorical column "{name}": no level occurs at two parties ({hidden})']


def level_warnings(
    configuration: Configuration, name: str, levels: Sequence[str], surveys: dict[str, Survey]
) -> list[str]:
    """What the operator should know about a categorical column.

    Args:
        configuration: What the operator decided.
        name: The column.
        levels: Its levels, from `choose_levels`.
        surveys: Every source's data, by owner.
    """
    parties = [found for found in surveys.values() if found.source.is_party]
    column, warnings = f'categorical column "{name}"', []
    if isinstance(configuration.categorical, dict):
        seen = {level for found in surveys.values() for level in found.levels[name]}
        unused = [f'"{level}"' for level in levels if level not in seen]
        if unused:
            warnings.append(
                f"{column}: listed levels that no row has: {few(unused)}; look for another spelling"
            )
    else:
        warnings += _none_of_these(column, name, levels, surveys=surveys)
        warnings += _many_numbers(column, levels)
    if len({level for party in parties for level in party.levels[name]}) == 1:
        warnings.append(f'column "{name}" has the same value everywhere, and tells nothing')
    return warnings


def _none_of_these(
    column: str, name: str, levels: Sequence[str], *, surveys: dict[str, Survey]
) -> list[str]:
    parties = [found for found in surveys.values() if found.source.is_party]
    unknown, warnings = _unknown(name, levels, parties), []
    if unknown and PUBLIC in surveys:
        warnings.append(
            f'{column}: levels that public data lack ({few(unknown)}) count as "none of these";'
            f" {REMEDY}, or add rows"
            " with them to the public data"
        )
    elif unknown:
        warnings.append(
            f"{column}: levels that occur at one party only ({few(unknown)}) are not told to the"
            " others; they count as"
            f' "none of these" ({REMEDY})'
        )
    tested = _unknown(name, levels, [surveys[TEST]]) if TEST in surveys else []
    if tested:
        warnings.append(
            f'{column}: levels that models do not know ({few(tested)}) count as "none of these";'
            f" {REMEDY}"
        )
    return warnings


def _unknown(name: str, levels: Sequence[str], sources: Sequence[Survey]) -> list[str]:
    """The levels of some sources that models do not know, and whose they are; each once."""
    owners: dict[str, str] = {}
    for found in sources:
        for level in found.levels[name]:
            if level not in levels:
                owners.setdefault(level, found.source.owner)
    return [f'"{level}" of {owner}' for level, owner in sorted(owners.items())]


def _many_numbers(column: str, levels: Sequence[str]) -> list[str]:
    if len(levels) <= MANY_NUMBERS or not all(_is_number(level) for level in levels):
        return []
    return [
        f"{column} has {len(levels)} levels, all of them numbers; if it is a quantity, do not list"
        " it there"
    ]


def _is_number(level: str) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True
