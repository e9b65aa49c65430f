"""Which line names the columns: mostly the first, but a title or an address may stand above."""

from collections.abc import Sequence
from statistics import median

from fairpool.consortium.guessing.numerals import PLAIN

MOST_LOOKED_AT = 30
"""Names are looked for in so many lines."""

LEAST_NAMES = 0.6
"""The line that names columns has at least so large a share of as many cells as rows have."""


def guess_header(rows: Sequence[Sequence[str]]) -> int:
    """The number, from 0, of the first row that may name the columns of those below.

    The very first does, unless most of its cells are empty where those of other rows are not. Then
    it is the first row that is filled as others are, with words and no numbers.

    Args:
        rows: The first rows of a table, each with its cells; empty ones among them.
    """
    filled = [_filled(row) for row in rows]
    several = [count for count in filled if count > 1]
    if not several:
        return 0
    typical = median(several)
    least = max(2.0, LEAST_NAMES * typical)
    for number, row in enumerate(rows[:MOST_LOOKED_AT]):
        if filled[number] >= least and not any(_is_number(cell) for cell in row):
            return number
        if number == 0 and 2 * filled[number] >= typical:
            return 0  # its names may be years, or some may be lacking
    return 0


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_number(cell: str) -> bool:
    return PLAIN.fullmatch(cell.strip()) is not None
