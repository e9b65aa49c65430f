"""What is wrong with tables, as values: of which kind, where it is seen first, and how often."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from fairpool.consortium.tables import Place

KINDS = (
    "unreadable",
    "lacking",
    "encoding",
    "width",
    "type",
    "number",
    "infinite",
    "control",
    "long",
    "missing",
)
"""What can be wrong: see `fault_texts.py`."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns of a table are wanted, and as what.

    Attributes:
        numbers: To be read as numbers.
        texts: To be read as text.
        target: Which of the numbers is to be predicted; empty: none.
        levels: Of some of the texts, the only levels that are known.
        chosen: Whether there is a configuration in which other columns can be chosen.
    """

    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    target: str = ""
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    chosen: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in a fixed order."""
        return (*self.numbers, *self.texts)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong in one way with one column of a file or, without a column, with its rows.

    Attributes:
        kind: One of `KINDS`.
        column: Its name; empty: it is about rows, or the whole file.
        first: Where it is seen first.
        value: What is there.
        count: How often it is so.
    """

    kind: str
    column: str = ""
    first: Place
    value: str = ""
    count: int = 1


@dataclass
class Faults:
    """All faults of some files: no more than their columns times the kinds, for any number of rows.

    It is not frozen: faults are noted here while files are read, and then no more.
    """

    found: dict[tuple[Path, str, str], Fault] = field(default_factory=dict)

    def note(self, fault: Fault) -> None:
        """Take in a fault; of one kind and column, the first is kept and all are counted."""
        key = fault.first.file, fault.kind, fault.column
        known = self.found.get(key)
        if known is None:
            self.found[key] = fault
        else:
            self.found[key] = replace(known, count=known.count + fault.count)

    def merge(self, other: "Faults") -> None:
        """Take in what was found further on."""
        for fault in other.found.values():
            self.note(fault)

    def of_kind(self, kind: str) -> list[Fault]:
        """Those of one kind."""
        return [fault for fault in self.found.values() if fault.kind == kind]
