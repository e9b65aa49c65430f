"""The levels of categorical columns: where they come from, and which are left out.

Levels go into every reward file. So they come from the configuration or the public data, and tell
nothing of anybody's rows. Otherwise they are learned: those that at least two parties have are
listed, since a level of one party alone would tell the others about its rows. Even so a party
learns which of its own levels others have, all the more the more levels it has: the operator is
told, and every letter says what the others' files tell about its reader. The warnings here name
levels of one party: they are for the operator, and for nobody else.
"""

from collections.abc import Iterable, Sequence

from fairpool.columns import CategoryColumn
from fairpool.consortium.column_plan import ColumnPlan
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, TEST
from fairpool.errors import few

MANY_NUMBERS = 20
"""A category with more levels than this, all of them numbers, is more likely a quantity."""

REMEDY = "list all levels in the configuration to keep them apart"


def levels_are_learned(
    plan: ColumnPlan, name: str, *, parties: Sequence[Survey], public: Survey | None
) -> bool:
    """Whether levels come from the parties' rows, so that files tell one party about another."""
    return plan.column(name).levels is None and public is None and len(parties) > 1


def level_sentences(columns: Sequence[CategoryColumn], own: Survey, *, parties: int) -> list[str]:
    """What a party's letter says of levels that were learned from the parties' rows.

    It names no level but the party's own: of others it tells what the party's file tells.

    Args:
        columns: The categorical columns, with the levels that every file lists.
        own: The party's data.
        parties: How many parties there are.
    """
    sentences = []
    for column in columns:
        listed = [f'"{level}"' for level in column.levels if level in own.levels[column.name]]
        yours = ", ".join(listed) or "none"
        if parties == 2:
            sentences.append(
                f'Both files list the levels of "{column.name}" that both of you have ({yours}): by'
                " them the other party learns which of its levels you have and which you have not,"
                " and you learn the same of its rows."
            )
        else:
            sentences.append(
                f'All files list the levels of "{column.name}" that at least two parties have;'
                f" yours among them: {yours}. By them a party learns which of its own levels some"
                " other party has, and which nobody else has."
            )
    return sentences


def level_problems(name: str, levels: Sequence[str], parties: Sequence[Survey]) -> list[str]:
    """A categorical column of which nothing can be told."""
    if levels:
        return []
    hidden = few(_unknown(name, levels, parties))
    return [f'categorical column "{name}": no level occurs at two parties ({hidden})']


def level_warnings(
    plan: ColumnPlan, name: str, *, levels: Sequence[str], surveys: dict[str, Survey]
) -> list[str]:
    """What the operator should know about a categorical column.

    Args:
        plan: What is wanted of columns.
        name: The column.
        levels: Its levels, declared or learned.
        surveys: Every source's data, by owner.
    """
    if plan.column(name).levels is not None:
        warnings = _listed_in_vain(name, levels, surveys)
    else:
        warnings = [
            *_learned_from_parties(plan, name, surveys),
            *_none_of_these(name, levels, surveys),
            *_many_numbers(name, levels),
        ]
    if len(_levels_of(name, _parties_in(surveys))) == 1:
        warnings.append(f'column "{name}" has the same value everywhere, and tells nothing')
    return warnings


def _parties_in(surveys: dict[str, Survey]) -> list[Survey]:
    return [survey for survey in surveys.values() if survey.source.is_party]


def _levels_of(name: str, surveys: Iterable[Survey]) -> set[str]:
    """All levels of a column that somebody's rows have."""
    levels: set[str] = set()
    for survey in surveys:
        levels.update(survey.levels[name])
    return levels


def _listed_in_vain(name: str, levels: Sequence[str], surveys: dict[str, Survey]) -> list[str]:
    present = _levels_of(name, surveys.values())
    unused = [f'"{level}"' for level in levels if level not in present]
    if not unused:
        return []
    return [
        f'categorical column "{name}": listed levels that no row has: {few(unused)}; look for'
        " another spelling"
    ]


def _learned_from_parties(plan: ColumnPlan, name: str, surveys: dict[str, Survey]) -> list[str]:
    parties = _parties_in(surveys)
    if not levels_are_learned(plan, name, parties=parties, public=surveys.get(PUBLIC)):
        return []
    return [
        f'categorical column "{name}": its levels are learned from the parties\' rows and listed in'
        " every reward file, so that each party learns which of its own levels others have; list"
        " all levels in the configuration, or add public data, and files tell nothing of that"
    ]


def _none_of_these(name: str, levels: Sequence[str], surveys: dict[str, Survey]) -> list[str]:
    """Levels that models do not know: the parties', and those of the test data."""
    column = f'categorical column "{name}"'
    warnings = []
    unknown = _unknown(name, levels, _parties_in(surveys))
    if unknown and PUBLIC in surveys:
        warnings.append(
            f'{column}: levels that public data lack ({few(unknown)}) count as "none of these";'
            f" {REMEDY}, or add rows with them to the public data"
        )
    elif unknown:
        warnings.append(
            f"{column}: levels that occur at one party only ({few(unknown)}) are not told to the"
            f' others; they count as "none of these" ({REMEDY})'
        )
    if TEST in surveys:
        tested = _unknown(name, levels, [surveys[TEST]])
        if tested:
            warnings.append(
                f'{column}: levels that models do not know ({few(tested)}) count as "none of'
                f' these"; {REMEDY}'
            )
    return warnings


def _unknown(name: str, levels: Sequence[str], surveys: Sequence[Survey]) -> list[str]:
    """The levels of some sources that models do not know, and whose they are; each once."""
    owners: dict[str, str] = {}
    for survey in surveys:
        for level in survey.levels[name]:
            if level not in levels:
                owners.setdefault(level, survey.source.owner)
    return [f'"{level}" of {owner}' for level, owner in sorted(owners.items())]


def _many_numbers(name: str, levels: Sequence[str]) -> list[str]:
    if len(levels) <= MANY_NUMBERS or not all(_is_number(level) for level in levels):
        return []
    return [
        f'categorical column "{name}" has {len(levels)} levels, all of them numbers; if it is a'
        " quantity, do not list it there"
    ]


def _is_number(level: str) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True
