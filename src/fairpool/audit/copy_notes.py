"""What near copies are to people: notes to the operator, who is told where to look."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from fairpool.audit.duplicates import Duplicates
from fairpool.audit.near_copies import NearCopies, RepeatedRows, SharedRows
from fairpool.notes import Note

QUESTION = "is one a copy of the other?"

Where = Callable[[int, int], str]
"""Says where a row is, given a party's number and the row's."""


def by_number(_party: int, row: int) -> str:
    """A row of an array."""
    return f"row {row}"


def copy_notes(
    copies: NearCopies, duplicates: Duplicates, *, where: Where = by_number, seen: float = 1.0
) -> Iterator[Note]:
    """One note per party or pair with copies.

    Args:
        copies: What nearly agrees.
        duplicates: What agrees exactly. It is told where there is too little of it to tell it from
            chance otherwise, but not where chance explains it.
        where: Says where the rows of an example are.
        seen: The share of rows that were compared; counts are scaled up by it.
    """
    for repeated in copies.repeated:
        yield Note(
            code="repeated rows",
            party=copies.names[repeated.party],
            text=_repeated_text(repeated, copies, where=where, seen=seen),
        )
    for shared in copies.shared:
        yield Note(code="shared rows", text=_shared_text(shared, copies, where=where, seen=seen))
    yield from without_judged(duplicates, copies).notes


def without_judged(duplicates: Duplicates, copies: NearCopies) -> Duplicates:
    """The exact copies of parties and pairs of which nothing else is known."""
    within = duplicates.within.copy()
    shared = duplicates.shared.copy()
    judged = {*copies.explained}
    judged |= {(finding.party, finding.party) for finding in copies.repeated}
    judged |= {(finding.first, finding.second) for finding in copies.shared}
    for i, j in judged:
        if i == j:
            within[i] = 0
        shared[i, j] = shared[j, i] = 0
    return replace(duplicates, within=within, shared=shared)


def _repeated_text(repeated: RepeatedRows, copies: NearCopies, *, where: Where, seen: float) -> str:
    name = _named(copies, repeated.party)
    first, second = (where(repeated.party, row) for row in repeated.example)
    times = f", {repeated.typical_group} in a typical group" if repeated.typical_group > 2 else ""
    agree = f"agree with others of its own {repeated.alteration.words('in the later row')}"
    return (
        f"{name} has {_count(repeated.rows, seen)} row(s) that {agree},"
        f" in {_count(repeated.groups, seen)} groups{times}"
        f" (by chance: {repeated.by_chance / seen:.0f} at most); for example {first} and {second};"
        " copies inflate its value"
    )


def _shared_text(shared: SharedRows, copies: NearCopies, *, where: Where, seen: float) -> str:
    first = _named(copies, shared.first)
    second = _named(copies, shared.second)
    rows = [_count(count, seen) for count in shared.rows]
    there = where(shared.first, shared.example[0])
    here = where(shared.second, shared.example[1])
    example = f"for example {there} and {here}"
    if shared.alteration.kind == "exact":
        return f"{first} and {second} share {min(rows)} identical row(s), {example}; {QUESTION}"
    agree = f"agree {shared.alteration.words(f'at {second}')}"
    return (
        f"{rows[0]} row(s) of {first} and {rows[1]} of {second} {agree}"
        f" (by chance: {shared.by_chance / seen:.0f} at most), {example}; {QUESTION}"
    )


def _count(rows: int, seen: float) -> int:
    return round(rows / seen)


def _named(copies: NearCopies, party: int) -> str:
    return f'"{copies.names[party]}"'
