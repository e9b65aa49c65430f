"""What is wrong with tables, as values: of which kind, where it is seen first, and how often."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from fairpool.columns.rules import NO_RULES, Rules
from fairpool.consortium.tables import Place
from fairpool.encoding import with_target
from fairpool.targets import Labels

KINDS = (
    "unreadable",
    "lacking",
    "encoding",
    "width",
    "type",
    "number",
    "date",
    "image",
    "order",
    "infinite",
    "range",
    "log",
    "label",
    "control",
    "long",
    "missing",
)
"""What can be wrong: see `fault_texts.py`."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns of a table are wanted, and as what.

    Attributes:
        number_inputs: Input columns to be read as numbers.
        text_inputs: Input columns to be read as text.
        target: What is to be predicted; None: the table need not have it.
        dates: Those of the number inputs that are dates, and come as days.
        levels: Of some of the inputs that are text, the only levels that are known.
        rules: What is done to the values of columns, the target's among them.
        chosen: Whether there is a configuration in which other columns can be chosen.
        free_texts: Those of the text inputs whose texts may be anything, images among them.
        images: Those of them that name images, or hold them.
    """

    number_inputs: tuple[str, ...]
    text_inputs: tuple[str, ...] = ()
    target: Labels | None = None
    dates: tuple[str, ...] = ()
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rules: Mapping[str, Rules] = field(default_factory=dict)
    chosen: bool = True
    free_texts: tuple[str, ...] = ()
    images: tuple[str, ...] = ()

    @property
    def target_name(self) -> str:
        """The column to be predicted; empty: none."""
        return "" if self.target is None else self.target.name

    @property
    def numbers(self) -> tuple[str, ...]:
        """All columns to be read as numbers; the target is the last one, if it is one of them."""
        return with_target(self.number_inputs, self.target, pa.float64())

    @property
    def texts(self) -> tuple[str, ...]:
        """All columns to be read as text; the target is the last one, if it is one of them."""
        return with_target(self.text_inputs, self.target, pa.string())

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in a fixed order."""
        return (*self.numbers, *self.texts)

    def rules_of(self, name: str) -> Rules:
        """What is done to the values of a column."""
        return self.rules.get(name, NO_RULES)

    @property
    def imputed(self) -> frozenset[str]:
        """The columns whose missing values are imputed."""
        return frozenset(name for name, rules in self.rules.items() if rules.imputes)


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

    def forget(self, kind: str, other: Fault) -> None:
        """Leave out what is wrong in one way with the column of another fault."""
        self.found.pop((other.first.file, kind, other.column), None)

    def merge(self, other: "Faults") -> None:
        """Take in what was found further on."""
        for fault in other.found.values():
            self.note(fault)

    def of_kind(self, kind: str) -> list[Fault]:
        """Those of one kind."""
        return [fault for fault in self.found.values() if fault.kind == kind]
