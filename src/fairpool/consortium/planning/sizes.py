"""How many rows each party is taken to have, before anybody has sent any."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from fairpool.consortium.configuration import LONGEST_NAME
from fairpool.errors import PlanError, is_printable, shown

MOST_ROWS = 1_000_000
"""Of all parties together; that many are simulated in seconds, and more would tell nothing new."""

MOST_PARTIES = 100

EXAMPLES = "such as --sizes 200,80,1200, or --sizes North=200,South=80"


class Size(NamedTuple):
    """A party, and how many rows it is taken to have.

    Attributes:
        name: What it is called.
        rows: How many there are.
    """

    name: str
    rows: int


def sizes_of(text: str, names: Sequence[str]) -> tuple[Size, ...]:
    """What `--sizes` says; refused where it makes no sense.

    >>> sizes_of("200, North=80", [])
    Traceback (most recent call last):
    fairpool.errors.PlanError: --sizes: some numbers have a name and some have none; ...
    >>> sizes_of("200,80", ["Ash", "Elm"])
    (Size(name='Ash', rows=200), Size(name='Elm', rows=80))

    Args:
        text: Numbers with commas between them, each with a name before it, or none of them.
        names: The configuration's parties, whose sizes numbers without names are if there are as
            many; otherwise they are those of "party 1", "party 2" and so on.
    """
    entries = [entry.strip() for entry in text.split(",")]
    named = ["=" in entry for entry in entries]
    if any(named) and not all(named):
        raise PlanError(
            f"--sizes: some numbers have a name and some have none; name all, or none, {EXAMPLES}"
        )
    if not any(named) and len(names) != len(entries):
        names = [f"party {number}" for number in range(1, len(entries) + 1)]
    sizes = []
    for k, entry in enumerate(entries):
        before, _, number = entry.rpartition("=")
        name = before.strip() if all(named) else names[k]
        sizes.append(Size(name, _rows(number.strip())))
    _refuse_names([size.name for size in sizes])
    _refuse_too_many(sizes)
    return tuple(sizes)


def _rows(text: str) -> int:
    # Thirty digits are refused here, and not first made a number of.
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(MOST_ROWS)) or not int(text):
        raise PlanError(
            f"--sizes: {shown(text)} is no number of rows from 1 to {MOST_ROWS}; give one for each"
            f" party, {EXAMPLES}"
        )
    return int(text)


def _refuse_names(names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if not name or not is_printable(name) or len(name) > LONGEST_NAME:
            raise PlanError(f"--sizes: {shown(name)} is no name of a party; {EXAMPLES}")
        if count > 1:
            raise PlanError(f"--sizes: {shown(name)} is named twice; name every party once")


def _refuse_too_many(sizes: Sequence[Size]) -> None:
    total = sum(size.rows for size in sizes)
    if total > MOST_ROWS:
        raise PlanError(
            f"--sizes: {total} rows together are more than the {MOST_ROWS} that are simulated; give"
            " smaller numbers in the same proportion"
        )
    if len(sizes) > MOST_PARTIES:
        raise PlanError(
            f"--sizes: {len(sizes)} parties are more than the {MOST_PARTIES} that are simulated"
        )
