"""What separates the columns of a CSV file."""

import contextlib
import csv
from collections.abc import Sequence
from dataclasses import dataclass

from fairpool.consortium.guessing.headings import guess_header

SEPARATORS = (",", ";", "\t", "|")
WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True, kw_only=True)
class SeparatorGuess:
    """A separator, and what it rests on.

    Attributes:
        sign: What stands between columns.
        why: What that rests on.
        header: The line that names the columns, from 1.
    """

    sign: str
    why: str
    header: int = 1


@dataclass(frozen=True)
class NumberedRow:
    """A row of a CSV file, and the line on which it begins, from 1."""

    line: int
    cells: list[str]


def guess_separator(lines: Sequence[str]) -> SeparatorGuess:
    """The sign by which most lines have as many values as there are names of columns.

    Args:
        lines: The first lines of a file.
    """
    best = SeparatorGuess(sign=",", why="it seems to have one column")
    best_score = (0.0, 0)
    for sign in SEPARATORS:
        rows = numbered_rows(lines, sign)
        cells = [row.cells for row in rows]
        head = guess_header(cells)
        widths = [len(row) for row in cells[head:]]
        if not widths or widths[0] < 2:
            continue
        width, *others = widths
        alike = sum(other == width for other in others)
        share = 1.0
        if others:  # a file that has nothing but a head is separated by what gives most names
            share = alike / len(others)
        if (share, width) > best_score:
            best_score = (share, width)
            header = rows[head].line
            line = "the first line" if header == 1 else f"line {header}"
            why = f"{alike} of {len(others)} rows then have {width} values, as {line} does"
            best = SeparatorGuess(sign=sign, why=why, header=header)
    return best


def split_rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The values of each row that is not empty, as far as quotes can be understood."""
    return [row.cells for row in numbered_rows(lines, separator)]


def numbered_rows(lines: Sequence[str], separator: str) -> list[NumberedRow]:
    """The rows that are not empty, and where each begins."""
    rows: list[NumberedRow] = []
    reader = csv.reader(lines, delimiter=separator)
    line = 1
    # An endless field ends it; what came before must do.
    with contextlib.suppress(csv.Error):
        for cells in reader:
            if cells:
                rows.append(NumberedRow(line, cells))
            line = reader.line_num + 1
    return rows
