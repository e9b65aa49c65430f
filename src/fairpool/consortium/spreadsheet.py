"""CSV that people open in a spreadsheet, where a cell that begins like a formula is one."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from fairpool.errors import printable

FORMULA = re.compile(
    r"""
    (^ | [;\t|])          # a cell begins here, or where another sign than the comma separates cells
    ([\s"']*)             # blanks and quotes, which some spreadsheets take away
    (?= [=+\-@＝＋－＠])  # also as they are typed in East Asia
    """,
    re.VERBOSE,
)
"""What a spreadsheet takes for the beginning of a formula, with the settings of any country."""


def csv_text(names: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as CSV: names that somebody else may have chosen, and rows of our own.

    Args:
        names: The columns.
        rows: Numbers, and texts that `as_cell` made.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(as_cell(name) for name in names)
    writer.writerows(rows)
    return stream.getvalue()


def as_cell(name: str) -> str:
    """A name as a cell that is a text in every spreadsheet, and that no terminal obeys.

    Where a formula would begin there is an apostrophe; nearly all names stay as they are.

    >>> as_cell("=1+1"), as_cell("a;-1"), as_cell("age")
    ("'=1+1", "a;'-1", 'age')
    """
    return printable(FORMULA.sub(r"\1\2'", name))
