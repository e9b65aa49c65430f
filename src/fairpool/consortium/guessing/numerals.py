"""How a file writes numbers: with which decimal sign, and whether thousands are set apart."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

BLANKS = " \u00a0\u202f"
PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
GROUPS = {
    ",": re.compile(r"[+-]?\d{1,3}(,\d{3})+"),
    ".": re.compile(r"[+-]?\d{1,3}(\.\d{3})+"),
    "'": re.compile(r"[+-]?\d{1,3}('\d{3})+(\.\d+)?"),
    " ": re.compile(r"[+-]?\d{1,3}([ \u00a0\u202f]\d{3})+([.,]\d+)?"),
}
"""Numbers whose thousands are set apart by a sign; with commas and points, whole ones alone."""

BOTH = {
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+"),
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+"),
}
"""Numbers in which the other sign sets thousands apart, by their decimal sign."""

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
NOT_THOUSANDS = re.compile(r"[+-]?(0\d*|\d{4,}|)[.,]\d+|[+-]?\d*[.,](\d{1,2}|\d{4,})([eE].*)?")
"""Numbers whose one sign cannot set thousands apart."""


@dataclass(frozen=True)
class Notation:
    """How numbers are written.

    Attributes:
        decimal: The decimal sign.
        thousands: What sets thousands apart; empty: nothing.
        why: What that rests on: a number of the file.
        doubt: A number that may be read in two ways; empty: there is none.
    """

    decimal: str = "."
    thousands: str = ""
    why: str = ""
    doubt: str = ""

    def read(self, text: str) -> float | None:
        """A text as a number; None if it is none."""
        plain = text.strip()
        if self.thousands and not self._is_grouped(plain):
            return None
        signs = self.thousands
        if signs == " ":
            signs = BLANKS
        for sign in signs:
            plain = plain.replace(sign, "")
        if self.decimal == ",":
            if "." in plain:
                return None
            plain = plain.replace(",", ".")
        if not plain.isascii() or PLAIN.fullmatch(plain) is None:
            return None
        return float(plain)

    def _is_grouped(self, text: str) -> bool:
        """Whether thousands stand in groups of three, if they are set apart at all."""
        whole = text.partition(self.decimal)[0]
        for blank in BLANKS:
            whole = whole.replace(blank, " ")
        first, *groups = whole.split(self.thousands)
        if not groups:
            return True
        return len(first.lstrip("+-")) <= 3 and all(len(group) == 3 for group in groups)


USUAL = Notation()


@dataclass
class _Evidence:
    """What cells tell; the first of each kind, and how many there are."""

    first: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def note(self, kind: str, cell: str) -> None:
        self.first.setdefault(kind, cell)
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def count(self, kind: str) -> int:
        return self.counts.get(kind, 0)


def guess_notation(cells: Iterable[str]) -> Notation:
    """How the numbers among a file's cells are written.

    `1,234` may be two numbers. Where nothing else tells which, the usual notation stays, with the
    number as a doubt.
    """
    seen = _Evidence()
    for cell in cells:
        kind = _kind_of(cell.strip())
        if kind:
            seen.note(kind, cell.strip())
    decimal = "."
    kinds = ("decimal ,", "both ,", "decimal .", "both .")
    if seen.count("decimal ,") + seen.count("both ,") > seen.count("decimal .") + seen.count(
        "both ."
    ):
        decimal = ","
    other = "." if decimal == "," else ","
    certain = any(seen.count(kind) for kind in kinds)
    thousands = ""
    if seen.count(f"both {decimal}") or (certain and seen.count(f"groups {other}")):
        thousands = other
    elif seen.count("groups  "):
        thousands = " "
    elif seen.count("groups '"):
        thousands = "'"
    why = _why(seen, decimal, thousands)
    doubt = ""
    if not certain:
        doubt = seen.first.get("groups ,", "")
    return Notation(decimal=decimal, thousands=thousands, why=why, doubt=doubt)


def _why(seen: _Evidence, decimal: str, thousands: str) -> str:
    kinds = (f"decimal {decimal}", f"both {decimal}", f"groups {thousands}")
    shown = [seen.first[kind] for kind in kinds if kind in seen.first]
    return ", ".join(dict.fromkeys(shown))


def _kind_of(cell: str) -> str:
    """What a cell tells of the notation; empty: nothing."""
    if not cell or not cell.lstrip("+-.,")[:1].isdigit():
        return ""
    for decimal, pattern in BOTH.items():
        if pattern.fullmatch(cell):
            return f"both {decimal}"
    if "." in cell and PLAIN.fullmatch(cell) and NOT_THOUSANDS.fullmatch(cell):
        return "decimal ."
    if DECIMAL_COMMA.fullmatch(cell) and NOT_THOUSANDS.fullmatch(cell):
        return "decimal ,"
    for sign, pattern in GROUPS.items():
        if pattern.fullmatch(cell):
            return f"groups {sign}"
    return ""
