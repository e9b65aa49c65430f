"""What is wrong with tables, in words: where, which value, how often, and what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fairpool.columns.date import as_date
from fairpool.consortium.date_forms import ambiguous_text
from fairpool.consortium.faults import KINDS, Columns, Fault, Faults
from fairpool.consortium.heads import ENCODING_REMEDY, headers_of
from fairpool.consortium.problems import Problem, Severity, worst_first
from fairpool.consortium.reading import LONG_TEXT_REMEDY, free_text_remedy
from fairpool.consortium.tables import is_workbook
from fairpool.errors import NO_NAME, cut, few, shown
from fairpool.tables.arrays import LARGEST
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.dialect import Dialect

MOST_LISTED = 20
"""Of one file, no more problems than this are listed; the others are counted."""

HEADER_HINT = "is that a title? say which line names the columns, such as header = 3 in its reading"
CATEGORY_HINT = "list it under categorical, or leave it out of features"
DATE_REMEDY = (
    'correct it, or say how the file writes dates, such as date_format = "%d.%m.%Y" in its columns'
)
DATE_HINT = "turn it into a number (such as days since a date), or leave it out of features"
CLASSES_QUESTION = '; are classes meant? Say so: target = { column = "...", kind = "classes" }'
"""Asked of a target that is text in most rows."""

DECIMAL = {",": r"\s*[+-]?\d+(,\d+)+\s*", ".": r"\s*[+-]?\d+(\.\d+)+\s*"}
"""What numbers look like whose decimals, or thousands, are set off by each sign."""

SIGNED = re.compile(
    r"(?P<before>[^\w\s.,+-]?)\s*[+-]?\d[\d., '\u00a0\u202f]*?\s*(?P<after>[^\d\s.,+-]{0,5})"
)
"""A number with a sign of a currency before it, or a unit behind it."""

THOUSANDS = (",", ".", "'", " ", "\u00a0", "\u202f")
"""Signs between thousands in many countries."""


SEVERITIES = {
    "unreadable": Severity.FILE,
    "encoding": Severity.FILE,
    "lacking": Severity.COLUMN,
    "type": Severity.COLUMN,
    "order": Severity.COLUMN,
    "missing": Severity.GAPS,
}
"""How bad each kind of fault is; all others are of single rows."""


def fault_problems(
    faults: Faults,
    columns: Columns,
    remedy: str | None,
    *,
    delivery: Delivery = AS_AGREED,
    classes: bool = False,
) -> list[Problem]:
    """A problem for each fault: file by file, the worst first.

    Args:
        faults: What was found.
        columns: What was wanted.
        remedy: What to do about missing values; None: they are no fault. Nor are they where they
            are dropped or imputed.
        delivery: How the files come; texts name columns by their own headers.
        classes: Whether the target must be a number, and is text in most rows.
    """
    at = {name: number for number, name in enumerate(columns.names)}
    by_file: dict[Path, list[Fault]] = {}
    for fault in faults.found.values():
        by_file.setdefault(fault.first.file, []).append(fault)
    problems: list[Problem] = []
    for file, own in by_file.items():
        own.sort(key=lambda fault: _order(fault, at))
        problems += _FileTexts(file, columns, delivery, classes).of(own, remedy)
    return problems


def _order(fault: Fault, at: dict[str, int]) -> tuple[int, int]:
    column = at[fault.column] if fault.column else -1
    return column, KINDS.index(fault.kind)


@dataclass(frozen=True)
class _FileTexts:
    """Texts for the faults of a file."""

    file: Path
    columns: Columns
    delivery: Delivery
    classes: bool

    def of(self, faults: list[Fault], remedy: str | None) -> list[Problem]:
        """The problems, the worst first; see `fault_problems`."""
        lacking = [fault.column for fault in faults if fault.kind == "lacking"]
        missing = [fault for fault in faults if self._is_refused_gap(fault)]
        others = [fault for fault in faults if fault.kind not in ("lacking", "missing")]
        problems = worst_first(map(self._problem, others))
        more = len(problems) - MOST_LISTED
        if more > 0:
            text = f"{self.file}: and {more} more problem(s)"
            problems[MOST_LISTED:] = [Problem(text=text, severity=Severity.ROWS)]
        if lacking:
            problems.insert(0, Problem(text=self._lacking(lacking), severity=Severity.COLUMN))
        if missing and remedy is not None:
            rows = sum(fault.count for fault in missing)
            text = self._missing(missing, remedy)
            problems.append(Problem(text=text, severity=Severity.GAPS, rows=rows))
        return worst_first(problems)

    def _problem(self, fault: Fault) -> Problem:
        severity = SEVERITIES.get(fault.kind, Severity.ROWS)
        rows = 0
        if severity == Severity.ROWS:
            rows = fault.count
        return Problem(text=self._text(fault), severity=severity, rows=rows)

    def _is_refused_gap(self, fault: Fault) -> bool:
        rules = self.columns.rules_of(fault.column)
        return fault.kind == "missing" and rules.missing == "error"

    def _text(self, fault: Fault) -> str:
        columns = self.columns
        more = f" (and {fault.count - 1} more)" if fault.count > 1 else ""
        where = f"{fault.first}, {self.delivery.described(fault.column)}"
        match fault.kind:
            case "unreadable":
                return fault.value
            case "encoding":
                return f"{fault.first}: not UTF-8 text ({fault.value}){more}; {ENCODING_REMEDY}"
            case "width":
                rows = f" (and {fault.count - 1} more such row(s))" if fault.count > 1 else ""
                return f"{fault.first}: {fault.value}{rows}; {self._width_remedy()}"
            case "type":
                column = self.delivery.described(fault.column)
                has = f"{fault.first.file}: {column} has type {fault.value}"
                remedy = _type_remedy(fault, columns, classes=self.classes)
                return f"{has}, not {_wanted_type(fault, columns)}; {remedy}"
            case "number":
                remedy = self._number_remedy(fault)
                return f"{where}: {shown(fault.value)} is not a number{more}; {remedy}"
            case "date":
                return f"{where}: {shown(fault.value)} is not a date{more}; {DATE_REMEDY}"
            case "image":
                return f"{where}: {fault.value}{more}"
            case "order":
                return f"{where}: {ambiguous_text(fault.value)}"
            case "infinite":
                return f"{where}: {fault.value} is infinite or beyond {LARGEST:g}{more}; correct it"
            case "range":
                remedy = _range_remedy(fault, columns)
                return f"{where}: {_range_text(fault, columns)}{more}; {remedy}"
            case "log":
                remedy = 'correct it, or leave out transform = "log"'
                return f"{where}: {fault.value} has no logarithm{more}; {remedy}"
            case "label":
                label = _label_in_words(fault, columns)
                wrong = f"{shown(fault.value)} is not {label}{more}"
                return f"{where}: {wrong}; correct it (a target must be {label})"
            case "long" if fault.column in columns.free_texts:
                length = f"{len(fault.value)} characters{more}"
                return f"{where}: a text of {length}; {LONG_TEXT_REMEDY}"
            case "long":
                length = f"{len(fault.value)} characters{more}"
                what = f"is too long for a {_level_or_label(fault, columns)}"
                remedy = free_text_remedy(is_target=fault.column not in columns.text_inputs)
                return f"{where}: {shown(fault.value)}, {length}, {what}; {remedy}"
            case _:
                what = f"the {_level_or_label(fault, columns)} {shown(fault.value)} cannot be shown"
                return f"{where}: {what}{more}; remove control signs"

    def _width_remedy(self) -> str:
        sign = self.delivery.dialect.separator
        if sign == ",":
            return "a value with a comma in it needs quotes, and a number a decimal point"
        return f"a value with {shown(sign)} in it needs quotes"

    def _number_remedy(self, fault: Fault) -> str:
        columns = self.columns
        other = self._other_dialect(fault.value)
        if other:
            return other
        sign = _sign_beside_number(fault.value)
        remedy = "correct it"
        if sign:
            remedy = f"write numbers without {sign}"
        if not columns.chosen:
            return remedy
        label = _label_in_words(fault, columns)
        if label is not None:
            question = CLASSES_QUESTION if self.classes else ""
            return f"{remedy} (a target must be {label}){question}"
        if _is_date(fault.value):
            return DATE_HINT
        return f"{remedy}, or if the whole column is text, {CATEGORY_HINT}"

    def _other_dialect(self, value: str) -> str:
        """What to do about a number that is one in another dialect; empty: it is in none."""
        dialect = self.delivery.dialect
        keys = []
        for sign, pattern in DECIMAL.items():
            if sign != dialect.decimal and re.fullmatch(pattern, value):
                keys.append(f'decimal = "{sign}"')
        for sign in THOUSANDS:
            grouped = Dialect(decimal=dialect.decimal, thousands=sign).grouped
            is_other = sign not in (dialect.decimal, dialect.thousands)
            if is_other and re.match(grouped, value.strip()):
                keys.append(f'thousands = "{sign}"')
        if not keys:
            return ""
        plainly = "write numbers with a decimal point, and without commas"
        if dialect.decimal == ",":
            plainly = "write numbers with a decimal comma, and without points"
        if not self.columns.chosen:
            return plainly
        return f"{plainly}, or say {' or '.join(keys)} in its reading"

    def _missing(self, faults: list[Fault], remedy: str) -> str:
        total = sum(fault.count for fault in faults)
        by_column = sorted(faults, key=lambda fault: fault.column)
        counts = [f"{self.delivery.header(fault.column)} {fault.count}" for fault in by_column]
        first = min(faults, key=lambda fault: fault.first.row)
        where = f"{first.first}, {self.delivery.described(first.column)}"
        text = f"{total} missing value(s) ({few(counts, MOST_LISTED)}), first at {where}; {remedy}"
        if is_workbook(self.file):
            text += " (a cell with an error, or a formula that was never calculated, has no value)"
        return text

    def _lacking(self, lacking: Sequence[str]) -> str:
        names = headers_of(self.file, dialect=self.delivery.dialect)
        what = "column" if len(lacking) == 1 else "columns"
        text = f"{self.file}: no {what} {few(quoted(lacking), MOST_LISTED)}; it has"
        text += f" {few([name or NO_NAME for name in names], MOST_LISTED)}"
        if self.delivery.dialect.header == 1 and 2 * sum(map(bool, names)) < len(names):
            return f"{text} ({HEADER_HINT})"
        alike = {plain_name(name): name for name in names}
        near = [alike[plain_name(name)] for name in lacking if plain_name(name) in alike]
        if near:
            return f"{text} (is it {', '.join(quoted(near))}? names must agree in case and blanks)"
        return text


def _sign_beside_number(value: str) -> str:
    """A sign before a number, or a sign or unit behind it; empty: there is none.

    >>> _sign_beside_number("91.7%"), _sign_beside_number("$2,260.15"), _sign_beside_number("A 4")
    ('%', '$', '')
    """
    match = SIGNED.fullmatch(value.strip())
    if match is None:
        return ""
    before = match["before"]
    after = match["after"]
    if before and after:
        return ""
    return before or after


def _range_text(fault: Fault, columns: Columns) -> str:
    bounds = columns.rules_of(fault.column).bounds
    if bounds is not None and fault.column in columns.dates:
        return f"{as_date(float(fault.value))} is outside {bounds.in_words(as_date)}"
    return f"{fault.value} is outside {bounds}"


def _range_remedy(fault: Fault, columns: Columns) -> str:
    if not columns.chosen:
        return "correct it if it is wrong; if it is right, ask the operator for a wider range"
    return f'correct it, or say outside = "clip" in [columns.{cut(fault.column)}]'


def _label_in_words(fault: Fault, columns: Columns) -> str | None:
    """What a label must be; None if the fault is in another column than the target."""
    if columns.target is None or fault.column != columns.target.name:
        return None
    return columns.target.in_words


def _level_or_label(fault: Fault, columns: Columns) -> str:
    return "level" if fault.column in columns.text_inputs else "label"


def _wanted_type(fault: Fault, columns: Columns) -> str:
    if fault.column in columns.dates:
        return "dates"
    if fault.column in columns.numbers:
        return "numbers"
    if fault.column in columns.images:
        return "images or their names"
    if fault.column in columns.free_texts:
        return "text"
    if fault.column in columns.text_inputs:
        return "categories"
    return "text"


def _type_remedy(fault: Fault, columns: Columns, *, classes: bool) -> str:
    if not columns.chosen:
        return "give it as the model needs it"
    section = f"[columns.{cut(fault.column)}]"
    label = _label_in_words(fault, columns)
    if label is not None:
        return f"a target must be {label}{CLASSES_QUESTION if classes else ''}"
    if fault.column in columns.dates:
        return f'give dates or texts such as 2024-12-31, or say kind = "number" in {section}'
    if fault.column in columns.texts:
        return "leave it out of features"
    if fault.value.startswith(("date", "time", "duration")):
        return DATE_HINT
    return CATEGORY_HINT


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value.strip())
    except ValueError:
        return False
    return True


def plain_name(name: str) -> str:
    """A column's name without what is easily mistaken: case and blanks."""
    return " ".join(name.casefold().split())


def quoted(names: Sequence[str]) -> list[str]:
    """Each name in quotes, the beginning of one that is long."""
    return [f'"{cut(name)}"' for name in names]
