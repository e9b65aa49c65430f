"""What is wrong with tables, in words: where, which value, how often, and what to do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fairpool.columns.date import as_date
from fairpool.consortium.date_forms import ambiguous_text
from fairpool.consortium.faults import KINDS, Columns, Fault, Faults
from fairpool.consortium.reading import free_text_remedy
from fairpool.consortium.tables import ENCODING_REMEDY, headers_of, is_workbook
from fairpool.errors import cut, few, shown
from fairpool.tables.arrays import LARGEST
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.dialect import Dialect

MOST_LISTED = 20
"""Of one file, no more problems than this are listed; the others are counted."""

CATEGORY_HINT = "list it under categorical, or leave it out of features"
DATE_REMEDY = (
    'correct it, or say how the file writes dates, such as date_format = "%d.%m.%Y" in its columns'
)
DATE_HINT = "turn it into a number (such as days since a date), or leave it out of features"
CLASSES_QUESTION = "; are classes meant? Give every class a number, such as 0 and 1"
"""Asked of a target that is text in most rows."""

DECIMAL = {",": r"\s*[+-]?\d+(,\d+)+\s*", ".": r"\s*[+-]?\d+(\.\d+)+\s*"}
"""What numbers look like whose decimals, or thousands, are set off by each sign."""

THOUSANDS = (",", ".", "'", " ", "\u00a0", "\u202f")
"""Signs between thousands in many countries."""


def fault_texts(
    faults: Faults,
    columns: Columns,
    remedy: str | None,
    *,
    delivery: Delivery = AS_AGREED,
    classes: bool = False,
) -> list[str]:
    """A text for each fault: file by file, in the order of the columns.

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
    texts = []
    for file, own in by_file.items():
        own.sort(key=lambda fault: _order(fault, at))
        texts += _FileTexts(file, columns, delivery, classes).of(own, remedy)
    return texts


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

    def of(self, faults: list[Fault], remedy: str | None) -> list[str]:
        """The texts, in order; see `fault_texts`."""
        lacking = [fault.column for fault in faults if fault.kind == "lacking"]
        missing = [fault for fault in faults if self._is_refused_gap(fault)]
        others = [fault for fault in faults if fault.kind not in ("lacking", "missing")]
        texts = [self._lacking(lacking)] if lacking else []
        texts += [self._text(fault) for fault in others[:MOST_LISTED]]
        if len(others) > MOST_LISTED:
            texts.append(f"{self.file}: and {len(others) - MOST_LISTED} more problem(s)")
        if missing and remedy is not None:
            texts.append(self._missing(missing, remedy))
        return texts

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
        if not columns.chosen:
            return "correct it"
        label = _label_in_words(fault, columns)
        if label is not None:
            question = CLASSES_QUESTION if self.classes else ""
            return f"correct it (a target must be {label}){question}"
        if _is_date(fault.value):
            return DATE_HINT
        return f"correct it, or if the whole column is text, {CATEGORY_HINT}"

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
        text += f" {few(names, MOST_LISTED)}"
        alike = {plain_name(name): name for name in names}
        near = [alike[plain_name(name)] for name in lacking if plain_name(name) in alike]
        if near:
            return f"{text} (is it {', '.join(quoted(near))}? names must agree in case and blanks)"
        return text


def _range_text(fault: Fault, columns: Columns) -> str:
    bounds = columns.rules_of(fault.column).bounds
    if bounds is not None and fault.column in columns.dates:
        return f"{as_date(float(fault.value))} is outside {bounds.in_words(as_date)}"
    return f"{fault.value} is outside {bounds}"


def _range_remedy(fault: Fault, columns: Columns) -> str:
    if not columns.chosen:
        return "correct it"
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
    if fault.column in columns.text_inputs:
        return "categories"
    return "text"


def _type_remedy(fault: Fault, columns: Columns, *, classes: bool) -> str:
    if not columns.chosen:
        return "give it as the model needs it"
    label = _label_in_words(fault, columns)
    if label is not None:
        return f"a target must be {label}{CLASSES_QUESTION if classes else ''}"
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
