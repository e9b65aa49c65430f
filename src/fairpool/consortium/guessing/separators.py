"""What separates the columns of a CSV file."""

import contextlib
import csv
from collections.abc import Sequence
from dataclasses import dataclass

SEPARATORS = (",", ";", "\t", "|")
WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True)
class SeparatorGuess:
    """A separator, and what it rests on."""

    sign: str
    why: str


def guess_separator(lines: Sequence[str]) -> SeparatorGuess:
    """The sign by which most lines have as many values as the first has names.

    Args:
        lines: The first lines of a file, of which the very first names the columns.
    """
    best = SeparatorGuess(",", "it seems to have one column")
    best_score = (0.0, 0)
    for sign in SEPARATORS:
        widths = [len(row) for row in split_rows(lines, sign)]
        if not widths or widths[0] < 2:
            continue
        width, *others = widths
        alike = sum(other == width for other in others)
        # A file that has nothing but a head is separated by whatever gives most names.
        share = alike / len(others) if others else 1.0
        if (share, width) > best_score:
            best_score = share, width
            why = f"{alike} of {len(others)} rows then have {width} values, as the first line does"
            best = SeparatorGuess(sign, why)
    return best


def split_rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The values of each row that is not empty, as far as quotes can be understood."""
    rows: list[list[str]] = []
    # An endless field ends it; what came before must do.
    with contextlib.suppress(csv.Error):
        rows.extend(csv.reader(lines, delimiter=separator))
    return [row for row in rows if row]
