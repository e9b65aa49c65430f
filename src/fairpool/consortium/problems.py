"""What keeps a collaboration from being run, as values, and in which order people are told."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """How much is lost by a problem, the worst first."""

    SETTING = 0
    """The configuration says something that cannot be."""

    FILE = 1
    """There is no such file, or nothing of it can be read."""

    COLUMN = 2
    """A column is lacking, or nothing of it can be used."""

    ROWS = 3
    """Some rows have values that cannot be used."""

    GAPS = 4
    """Values are missing, which an operator may allow."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong.

    Attributes:
        text: In words: where, what, and what to do.
        severity: How bad it is.
        rows: How many rows it concerns; 0: that is not known, or not the point.
    """

    text: str
    severity: Severity
    rows: int = 0


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    """The worst problems first; of equally bad ones, those of most rows; then as they come."""
    return sorted(problems, key=lambda problem: (problem.severity, -problem.rows))


def problems_of(texts: Iterable[str], severity: Severity) -> list[Problem]:
    """Equally bad problems, of which the words are known."""
    return [Problem(text=text, severity=severity) for text in texts]
