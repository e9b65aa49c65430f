"""The names of a file's columns, from its head alone: refused where they cannot be used."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from fairpool.consortium.limits import Limits, beyond
from fairpool.consortium.tables import byte_not_utf8, first_line, is_parquet, is_workbook, open_csv
from fairpool.consortium.workbooks import sheet_of
from fairpool.errors import DataError, shown
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.dialect import PLAIN, Dialect

ENCODING_REMEDY = "save it as UTF-8, or give its encoding in its reading"


MOST_NAMES = 20
"""Of names that cannot be used, so many are listed and the others counted."""


def column_names(
    file: Path, limits: Limits | None = None, delivery: Delivery = AS_AGREED
) -> tuple[str, ...]:
    """What the collaboration calls a file's columns, from its head alone.

    Args:
        file: The file.
        limits: What a head may be at most; None: anything.
        delivery: How the file is read.
    """
    return delivery.names_of(headers_of(file, limits, delivery.dialect), str(file))


def headers_of(
    file: Path, limits: Limits | None = None, dialect: Dialect = PLAIN
) -> tuple[str, ...]:
    """The names of a file's columns as they stand in it."""
    if is_parquet(file):
        names = _parquet_names(file)
    elif is_workbook(file):
        names = sheet_of(file, dialect, limits=limits, head_only=True).headers
    else:
        names = _csv_names(file, limits, dialect)
        _refuse_other_separator(file, names, dialect)
    if not names and dialect.header > 1:
        raise DataError(
            f"{file}: it has no line {dialect.header}, which is to name the columns; correct header"
            " in its reading"
        )
    if not names:
        raise DataError(f"{file}: the file is empty; its first line must name the columns")
    if not any(names):
        raise DataError(
            f"{file}: line {dialect.header} names no column; say which one does, such as header = 3"
            " in its reading"
        )
    if limits is not None:
        _refuse_wide(file, names, limits)
    problems = []
    for name, count in Counter(names).items():
        if not name.isprintable():
            problems.append(
                f"{file}: the column name {shown(name)} has a control character or line break;"
                " rename it"
            )
        # Columns without a name are never used, so any number of them will do.
        if name.strip() and count > 1:
            problems.append(f'{file}: two columns are named "{name}"; rename or remove one of them')
    if len(problems) > MOST_NAMES:
        more = len(problems) - MOST_NAMES
        problems[MOST_NAMES:] = [f"{file}: and {more} more such column name(s)"]
    if problems:
        raise DataError(*problems)
    return names


SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}
"""What may separate columns, in words."""


def _refuse_other_separator(file: Path, names: Sequence[str], dialect: Dialect) -> None:
    """Refuse a head of one long column that another sign takes apart."""
    if len(names) != 1:
        return
    for sign, word in SEPARATORS.items():
        if sign != dialect.separator and sign in names[0]:
            written = "\\t" if sign == "\t" else sign
            expected = SEPARATORS.get(dialect.separator, repr(dialect.separator))
            raise DataError(
                f"{file}: its columns are separated by {word}; save it with {expected}, or say"
                f' separator = "{written}" in its reading'
            )


def _refuse_wide(file: Path, names: Sequence[str], limits: Limits) -> None:
    problems = []
    if len(names) > limits.columns:
        problems.append(beyond(f"{len(names)} columns", limits.columns, "columns"))
    longest = max(names, key=len)
    if len(longest) > limits.name_length:
        what = f"the {len(longest)} characters of the column name {shown(longest)}"
        problems.append(beyond(what, limits.name_length, "name_length"))
    if problems:
        raise DataError(*(f"{file}: {problem}" for problem in problems))


def _parquet_names(file: Path) -> tuple[str, ...]:
    try:
        return tuple(pa_parquet.read_schema(file).names)
    except UnicodeDecodeError:
        raise DataError(
            f"{file}: a column name is not UTF-8 text; rename it, or save the file again"
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file}: not a Parquet file, or damaged; ask for it again ({first_line(error)})"
        ) from None


def _csv_names(file: Path, limits: Limits | None, dialect: Dialect) -> tuple[str, ...]:
    try:
        with open_csv(file, dialect) as stream:
            lines: Iterator[str] = stream
            if limits is not None:
                lines = _short_lines(stream, limits)
            lines = islice(lines, dialect.header - 1, None)
            names = tuple(next(csv.reader(lines, delimiter=dialect.separator), ()))
    except PermissionError:
        raise DataError(f"{file}: no permission to read it") from None
    except (OSError, csv.Error) as error:
        raise DataError(f"{file}: not a readable CSV file ({first_line(error)})") from None
    for name in names:
        if (byte := byte_not_utf8(name)) is not None:
            raise DataError(f"{file}: not UTF-8 text (byte {byte:#x}); {ENCODING_REMEDY}")
    return names


def _short_lines(stream: TextIO, limits: Limits) -> Iterator[str]:
    """The lines of a head; one that would fill memory before its names are counted is refused."""
    most = limits.columns * (limits.name_length + len('"",'))
    while line := stream.readline(most):
        if len(line) == most and not line.endswith("\n"):
            raise csv.Error(f"a line of more than {most} characters; see columns in [limits]")
        yield line
