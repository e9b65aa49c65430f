"""Workbooks: the sheet of an Excel or OpenDocument file that has a table.

A workbook is read whole, by calamine; `workbook_bombs` looks at it before that. A cell with an
error, or with a formula that was never calculated, has no value there, and is missing.
"""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from fairpool.consortium.limits import Limits
from fairpool.consortium.workbook_bombs import refuse_bombs
from fairpool.errors import DataError, cut, few
from fairpool.tables.dialect import PLAIN, Dialect

Cell = int | float | str | bool | date | datetime | time | timedelta
"""What a cell has; an empty text: nothing."""

OLE = b"\xd0\xcf\x11\xe0"
"""How an old Excel file begins, and a new one that has a password."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sheet:
    """A table in a workbook.

    Attributes:
        headers: The names of its columns.
        rows: The cells of every row below, of which trailing ones may be empty.
        sha256: The hash of the whole file.
    """

    headers: tuple[str, ...]
    rows: list[list[Cell]]
    sha256: str


def sheet_of(
    file: Path, dialect: Dialect, *, limits: Limits | None = None, head_only: bool = False
) -> Sheet:
    """The table in a workbook: on the sheet that is named, or else the only one that is not empty.

    Args:
        file: The workbook.
        dialect: Which sheet it is.
        limits: What it may be at most; None: anything.
        head_only: Whether rows may be left out.
    """
    content = _content_of(file, limits)
    above = dialect.header - 1
    cells = _cells_of(content, file, dialect, rows=dialect.header if head_only else None)
    headers: tuple[str, ...] = ()
    if len(cells) > above:
        headers = tuple(text_of_cell(cell) for cell in cells[above])
    rows = cells[dialect.header :]
    return Sheet(headers=headers, rows=rows, sha256=hashlib.sha256(content).hexdigest())


def first_rows(file: Path, count: int, *, limits: Limits) -> list[list[Cell]]:
    """The first rows of the only sheet that is not empty, whatever stands there."""
    content = _content_of(file, limits)
    return _cells_of(content, file, PLAIN, rows=count, checked=False)


def _content_of(file: Path, limits: Limits | None) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror})") from None
    if limits is not None:
        refuse_bombs(content, file, limits)
    return content


def _cells_of(
    content: bytes, file: Path, dialect: Dialect, *, rows: int | None, checked: bool = True
) -> list[list[Cell]]:
    # It takes a while to load, and most tables are none of its.
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(content)) as book:
            sheet = _chosen_sheet(book, file, dialect)
            if checked:
                _refuse_merged_head(sheet, file, dialect)
            cells: list[list[Cell]] = sheet.to_python(skip_empty_area=False, nrows=rows)
            return cells
    except PasswordError:
        raise DataError(f"{file}: it has a password; save it without one") from None
    except CalamineError as error:
        if content.startswith(OLE) and file.suffix.lower() == ".xlsx":
            what = "an old Excel file, or one with a password; save it as .xlsx without one"
        else:
            what = "not a workbook, or damaged; ask for it again"
        raise DataError(f"{file}: {what} ({cut(str(error))})") from None
    except DataError:
        raise
    except BaseException as error:
        # What calamine does not expect comes as a panic, which is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise DataError(f"{file}: damaged; ask for it again") from None


def _chosen_sheet(book: Any, file: Path, dialect: Dialect) -> Any:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    visible = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible]
    every = [sheet.name for sheet in book.sheets_metadata]
    names = few([f'"{cut(name)}"' for name in every])
    if dialect.sheet:
        if dialect.sheet not in every:
            raise DataError(f'{file}: no sheet "{cut(dialect.sheet)}"; it has {names}')
        return book.get_sheet_by_name(dialect.sheet)
    if not visible:
        raise DataError(
            f"{file}: all its sheets are hidden ({names}); say which one has the table, as sheet in"
            " its reading"
        )
    if len(visible) == 1:
        return book.get_sheet_by_name(visible[0])
    filled = []
    for name in visible:
        sheet = book.get_sheet_by_name(name)
        if sheet.end is not None:
            filled.append(sheet)
    if len(filled) == 1:
        return filled[0]
    if not filled:
        return book.get_sheet_by_name(visible[0])
    which = few([f'"{cut(sheet.name)}"' for sheet in filled])
    largest = max(filled, key=lambda sheet: (sheet.height, sheet.width))
    raise DataError(
        f"{file}: it has {len(filled)} sheets with data, {which}; say which one has the table:"
        f' sheet = "{cut(largest.name)}" in its reading'
    )


def _refuse_merged_head(sheet: Any, file: Path, dialect: Dialect) -> None:
    row = dialect.header
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if top < row <= bottom + 1:
            where = f"{letters(left)}{row}"
            if right > left:
                where += f" to {letters(right)}{row}"
            what = "its first row"
            if row > 1:
                what = f"row {row}"
            raise DataError(
                f"{file}: cells of {what} are merged ({where}); the row that names the columns must"
                " have one name for every column; if it is another one, say which: header = 2 in"
                " its reading"
            )


def letters(column: int) -> str:
    """What a spreadsheet calls a column, counted from 0.

    >>> letters(0), letters(27)
    ('A', 'AB')
    """
    name = ""
    column += 1
    while column:
        column, last = divmod(column - 1, 26)
        name = chr(ord("A") + last) + name
    return name


def is_blank(row: Sequence[Cell]) -> bool:
    """Whether a row has nothing in it."""
    return all(cell == "" for cell in row)


def text_of_cell(cell: Cell) -> str:
    """A cell as it would stand in a CSV file."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        if cell.is_integer():  # a spreadsheet has no whole numbers, but shows them so
            return str(int(cell))
        return repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)
