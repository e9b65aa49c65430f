"""What is wrong with tables, in words: where, which value, how often, and what to do."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from fairpool.consortium.faults import KINDS, Columns, Fault, Faults
from fairpool.consortium.reading import free_text_remedy
from fairpool.consortium.tables import column_names
from fairpool.errors import cut, few, shown
from fairpool.tables.arrays import LARGEST

MOST_LISTED = 20
"""Of one file, no more problems than this are listed; the others are counted."""

CATEGORY_HINT = "list it under categorical, or leave it out of features"
DATE_HINT = "turn it into a number (such as days since a date), or leave it out of features"


def fault_texts(faults: Faults, columns: Columns, remedy: str | None) -> list[str]:
    """A text for each fault: file by file, in the order of the columns.

    Args:
        faults: What was found.
        columns: What was wanted.
        remedy: What to do about missing values; None: they are no fault.
    """
    at = {name: number for number, name in enumerate(columns.names)}
    by_file: dict[Path, list[Fault]] = {}
    for fault in faults.found.values():
        by_file.setdefault(fault.first.file, []).append(fault)
    texts = []
    for file, own in by_file.items():
        own.sort(key=lambda fault: _order(fault, at))
        texts += _texts_of_file(file, own, columns, remedy=remedy)
    return texts


def _order(fault: Fault, at: dict[str, int]) -> tuple[int, int]:
    column = at[fault.column] if fault.column else -1
    return column, KINDS.index(fault.kind)


def _texts_of_file(
    file: Path, faults: list[Fault], columns: Columns, *, remedy: str | None
) -> list[str]:
    lacking = [fault.column for fault in faults if fault.kind == "lacking"]
    missing = [fault for fault in faults if fault.kind == "missing"]
    others = [fault for fault in faults if fault.kind not in ("lacking", "missing")]
    texts = [_lacking_text(file, lacking)] if lacking else []
    texts += [_text(fault, columns) for fault in others[:MOST_LISTED]]
    if len(others) > MOST_LISTED:
        texts.append(f"{file}: and {len(others) - MOST_LISTED} more problem(s)")
    if missing and remedy is not None:
        texts.append(_missing_text(missing, remedy))
    return texts


def _text(fault: Fault, columns: Columns) -> str:
    more = f" (and {fault.count - 1} more)" if fault.count > 1 else ""
    where = f'{fault.first}, column "{fault.column}"'
    match fault.kind:
        case "unreadable":
            return fault.value
        case "encoding":
            return f"{fault.first}: not UTF-8 text ({fault.value}){more}; save it as UTF-8"
        case "width":
            rows = f" (and {fault.count - 1} more such row(s))" if fault.count > 1 else ""
            remedy = "a value with a comma in it needs quotes, and a number a decimal point"
            return f"{fault.first}: {fault.value}{rows}; {remedy}"
        case "type":
            has = f'{fault.first.file}: column "{fault.column}" has type {fault.value}'
            return f"{has}, not {_wanted_type(fault, columns)}; {_type_remedy(fault, columns)}"
        case "number":
            remedy = _number_remedy(fault, columns)
            return f"{where}: {shown(fault.value)} is not a number{more}; {remedy}"
        case "infinite":
            return f"{where}: {fault.value} is infinite or beyond {LARGEST:g}{more}; correct it"
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


def _label_in_words(fault: Fault, columns: Columns) -> str | None:
    """What a label must be; None if the fault is in another column than the target."""
    if columns.target is None or fault.column != columns.target.name:
        return None
    return columns.target.in_words


def _level_or_label(fault: Fault, columns: Columns) -> str:
    return "level" if fault.column in columns.text_inputs else "label"


def _wanted_type(fault: Fault, columns: Columns) -> str:
    if fault.column in columns.numbers:
        return "numbers"
    if fault.column in columns.text_inputs:
        return "categories"
    return "text"


def _type_remedy(fault: Fault, columns: Columns) -> str:
    if not columns.chosen:
        return "give it as the model needs it"
    label = _label_in_words(fault, columns)
    if label is not None:
        return f"a target must be {label}"
    if fault.column in columns.texts:
        return "leave it out of features"
    if fault.value.startswith(("date", "time", "duration")):
        return DATE_HINT
    return CATEGORY_HINT


def _number_remedy(fault: Fault, columns: Columns) -> str:
    if re.fullmatch(r"\s*[+-]?\d+(,\d+)+\s*", fault.value):
        return "write numbers with a decimal point, and without commas"
    if not columns.chosen:
        return "correct it"
    label = _label_in_words(fault, columns)
    if label is not None:
        return f"correct it (a target must be {label})"
    if _is_date(fault.value):
        return DATE_HINT
    return f"correct it, or if the whole column is text, {CATEGORY_HINT}"


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value.strip())
    except ValueError:
        return False
    return True


def _missing_text(faults: list[Fault], remedy: str) -> str:
    total = sum(fault.count for fault in faults)
    by_column = sorted(faults, key=lambda fault: fault.column)
    counts = [f"{fault.column} {fault.count}" for fault in by_column]
    first = min(faults, key=lambda fault: fault.first.row)
    where = f'{first.first}, column "{first.column}"'
    return f"{total} missing value(s) ({few(counts, MOST_LISTED)}), first at {where}; {remedy}"


def _lacking_text(file: Path, lacking: Sequence[str]) -> str:
    names = column_names(file)
    what = "column" if len(lacking) == 1 else "columns"
    text = (
        f"{file}: no {what} {few(quoted(lacking), MOST_LISTED)}; it has {few(names, MOST_LISTED)}"
    )
    alike = {plain_name(name): name for name in names}
    near = [alike[plain_name(name)] for name in lacking if plain_name(name) in alike]
    if near:
        text += f" (is it {', '.join(quoted(near))}? names must agree in case and blanks)"
    return text


def plain_name(name: str) -> str:
    """A column's name without what is easily mistaken: case and blanks."""
    return " ".join(name.casefold().split())


def quoted(names: Sequence[str]) -> list[str]:
    """Each name in quotes, the beginning of one that is long."""
    return [f'"{cut(name)}"' for name in names]
