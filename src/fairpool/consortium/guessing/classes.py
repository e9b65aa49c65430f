"""Whether the column to predict holds classes, and which of them are too rare to be told apart."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from fairpool.consortium.guessing.looks import ColumnLook
from fairpool.consortium.treatment import ROWS_PER_CLASS
from fairpool.errors import few, shown
from fairpool.parties.class_coding import MOST_CLASSES
from fairpool.realisation.disclosure import FEWEST_ROWS
from fairpool.targets.classes import tidied

OTHER = "other"
"""What classes that are merged are called, unless there is one of that name already."""

MOST_NUMBERS = 5
"""More whole numbers than these are rather amounts; `check` asks, if there are not many more."""

MOST_SHOWN = 5
"""So many classes are named in one sentence."""


@dataclass(frozen=True, kw_only=True)
class ClassProposal:
    """The classes of a target.

    Attributes:
        levels: Those that are told apart.
        other: What all others count as; empty: there are no others.
        why: What it rests on that these are classes.
        are_numbers: Whether they are written as numbers, so that they may be amounts after all.
        rare: Parties that have some rows of a class, but too few, in words.
    """

    levels: tuple[str, ...]
    other: str
    why: str
    are_numbers: bool
    rare: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len({*self.levels, *([self.other] if self.other else [])})


def propose_classes(
    kind: str, holders: dict[str, ColumnLook], parties: Collection[str]
) -> ClassProposal | None:
    """The classes that a column holds; None where it does not seem to hold any.

    Args:
        kind: What the column seems to hold at most sources.
        holders: What each source holds.
        parties: Which of the sources are parties.
    """
    seen = {source: _counts(holder) for source, holder in holders.items()}
    levels: set[str] = set()
    for counts in seen.values():
        levels |= {*counts}
    if not 2 <= len(levels) <= MOST_CLASSES:
        return None
    of_parties = {source: counts for source, counts in seen.items() if source in parties}
    rows = sum(counts.total() for counts in of_parties.values())
    if kind == "category":
        why = f"text with {len(levels)} different values in {rows} rows"
    elif kind == "number" and _are_few_numbers(holders, levels, rows):
        listed = few(sorted(levels, key=float), MOST_NUMBERS)
        why = f"the only values in {rows} rows are {listed}"
    else:
        return None
    merged = _merged(of_parties, levels)
    kept = [level for level in levels if level not in merged]
    return ClassProposal(
        levels=tuple(sorted(kept, key=float if kind == "number" else None)),
        other=_name_of_other(kept) if merged else "",
        why=why,
        are_numbers=kind == "number",
        rare=tuple(_rare_in_words(of_parties)),
    )


def _counts(holder: ColumnLook) -> Counter[str]:
    """How often each label occurs, accents and blanks being written in one way."""
    counts = Counter[str]()
    for level, count in zip(tidied(list(holder.counts)), holder.counts.values(), strict=True):
        counts[level] += count
    return counts


def _are_few_numbers(holders: dict[str, ColumnLook], levels: Collection[str], rows: int) -> bool:
    """Whether numbers are two, or a few whole ones, each written in one way and in many rows."""
    numbers: set[float] = set()
    for holder in holders.values():
        numbers |= {*holder.guess.numbers}
    # "1" and "1.0" are one number, but two labels. A decimal comma is none of float's.
    if len(numbers) != len(levels) or not all(_is_float(level) for level in levels):
        return False
    are_whole = len(numbers) <= MOST_NUMBERS and all(map(float.is_integer, numbers))
    return rows >= ROWS_PER_CLASS * len(numbers) and (len(numbers) == 2 or are_whole)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rare(counts: Counter[str]) -> dict[str, int]:
    """The classes that a party has some rows of, but too few."""
    return {level: count for level, count in counts.items() if 0 < count < FEWEST_ROWS}


def _rare_in_words(parties: dict[str, Counter[str]]) -> list[str]:
    sentences = []
    for party, counts in parties.items():
        rare = [f"{count} of {shown(level)}" for level, count in sorted(_rare(counts).items())]
        if rare:
            sentences.append(f"{party} has {few(rare, MOST_SHOWN)}")
    return sentences


def _merged(parties: dict[str, Counter[str]], levels: set[str]) -> set[str]:
    """The classes that count as one, so that nobody has few rows of any; none if that cannot be.

    First all rare ones; as long as somebody has too few rows of all these together, the class that
    all parties together have fewest rows of is added.
    """
    merged: set[str] = set()
    for counts in parties.values():
        merged |= {*_rare(counts)}
    totals = Counter[str]()
    for counts in parties.values():
        totals += counts
    # A class that only test or public data have is no reason, but has no rows to learn from.
    merged |= {level for level in levels if merged and not totals[level]}
    while merged and len(merged) < len(levels):
        together = [sum(counts[level] for level in merged) for counts in parties.values()]
        if not any(0 < rows < FEWEST_ROWS for rows in together):
            return merged
        merged.add(min(levels - merged, key=lambda level: (totals[level], level)))
    return set()


def _name_of_other(kept: Collection[str]) -> str:
    """A name that no class has which is told apart."""
    name = OTHER
    while name in kept:
        name += "s"
    return name
