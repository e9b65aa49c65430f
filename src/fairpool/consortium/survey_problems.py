"""Every problem of a source that was looked at, in words."""

from collections.abc import Sequence
from dataclasses import replace

from fairpool.consortium.fault_texts import fault_problems
from fairpool.consortium.faults import Columns
from fairpool.consortium.limits import Limits, beyond
from fairpool.consortium.problems import Problem, Severity
from fairpool.consortium.surveys import (
    MOST_LEVELS,
    Survey,
    UnknownLevels,
)
from fairpool.errors import few, shown
from fairpool.tables.columns import levels_in_words

MOST_DECLARED = 10
"""So many of the levels that a column may have are named in an error."""


MOSTLY = 0.5
"""A target that is no number in this share of rows is text."""


MISSING_REMEDY = 'fill them in, or set missing = "drop" to leave those rows out'


def survey_problems(
    found: Survey, columns: Columns, *, limits: Limits | None = None
) -> list[Problem]:
    """Every problem of a source, file by file, then the levels of its columns.

    Args:
        found: What was seen.
        columns: What was wanted; of columns whose levels it lists, no others are allowed, and its
            rules say where values may be missing.
        limits: What is allowed; None: anything.
    """
    rows = found.rows + found.dropped
    if limits is not None and rows > limits.rows:
        text = f"{found.source.owner}: {beyond(f'{rows} rows or more', limits.rows, 'rows')}"
        return [Problem(text=text, severity=Severity.FILE)]
    delivery = found.source.delivery
    classes = _is_mostly_text(found, columns.target_name)
    problems = fault_problems(
        found.faults, columns, MISSING_REMEDY, delivery=delivery, classes=classes
    )
    for name in columns.text_inputs:
        if name in found.unknown:
            column = delivery.described(name)
            unknown = found.unknown[name]
            text = _undeclared_text(column, unknown, columns.levels[name])
            problems.append(Problem(text=text, severity=Severity.ROWS, rows=unknown.rows))
        elif len(found.levels.get(name, ())) > MOST_LEVELS and name not in columns.levels:
            text = (
                f'the categorical column "{name}" has more than {MOST_LEVELS} levels; is it an'
                " identifier? leave it out of features"
            )
            problems.append(Problem(text=text, severity=Severity.COLUMN))
    if not problems and not found.rows:
        problems.append(Problem(text="no complete row to use", severity=Severity.FILE))
    owner = found.source.owner
    return [replace(problem, text=f"{owner}: {problem.text}") for problem in problems]


def _is_mostly_text(found: Survey, column: str) -> bool:
    """Whether a column that is read as numbers is text in most rows."""
    rows = found.rows + found.dropped
    for fault in found.faults.of_kind("number"):
        if fault.column == column and 1 < fault.count >= MOSTLY * rows:
            return True
    for fault in found.faults.of_kind("type"):
        if fault.column == column and "string" in fault.value:
            return True
    return False


def _undeclared_text(column: str, unknown: UnknownLevels, declared: Sequence[str]) -> str:
    levels = list(unknown.counts)
    which = f" ({levels_in_words(unknown.counts)})" if len(levels) > 1 else ""
    allowed = few([shown(level) for level in declared], MOST_DECLARED)
    return (
        f"{unknown.first}, {column}: {shown(levels[0])} is not among the levels listed under"
        f" categorical ({allowed}); {unknown.rows} row(s) have such a level{which}; correct the"
        " data, or add the level to the list"
    )
