"""A bounded part of a table, its values as texts: the head of a file, and some of its middle."""

import gzip
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from fairpool.consortium.guessing.encodings import EncodingGuess, guess_encoding
from fairpool.consortium.guessing.headings import guess_header
from fairpool.consortium.guessing.separators import SeparatorGuess, guess_separator, split_rows
from fairpool.consortium.limits import Limits
from fairpool.consortium.tables import is_parquet, is_workbook
from fairpool.consortium.workbooks import Cell, first_rows, is_blank, sheet_of, text_of_cell
from fairpool.errors import DataError
from fairpool.tables.dialect import Dialect

HEAD_BYTES = 1 << 18
MIDDLE_BYTES = 1 << 17
"""So much of a CSV file is looked at; of a smaller one, all."""

LONGEST_LINE = 1 << 23
"""A first line may be longer than the head that is read, but not than this."""

MOST_ROWS = 2000
MOST_VALUES = 1 << 19
"""So many rows of the head and of the middle are looked at; fewer of very wide tables."""

SEPARATOR_LINES = 200
"""So many lines tell what separates columns."""

HEADING_ROWS = 60
"""So many rows of a sheet tell which one names the columns."""


@dataclass(frozen=True, kw_only=True)
class TableSample:
    """Some rows of a file.

    Attributes:
        file: The file.
        names: Of the columns, in order.
        rows: Values as texts, each row as long as `names`; empty where one is missing.
        whole: Whether these are all rows.
        header: The line, or row of a sheet, that names the columns, from 1.
        encoding: Of a text file.
        separator: Of a text file.
    """

    file: Path
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    whole: bool
    header: int = 1
    encoding: EncodingGuess | None = None
    separator: SeparatorGuess | None = None

    @property
    def names_twice(self) -> tuple[str, ...]:
        """The names that two columns have."""
        counts = Counter(name for name in self.names if name.strip())
        return tuple(name for name, count in counts.items() if count > 1)

    def columns(self) -> dict[str, list[str]]:
        """The values of each column; of two that have one name, the first one's."""
        columns: dict[str, list[str]] = {}
        for at, name in enumerate(self.names):
            if name not in columns:
                columns[name] = [row[at] for row in self.rows]
        return columns


def read_sample(file: Path) -> TableSample:
    """The head of a file and some of its middle; what cannot be read is refused."""
    try:
        if is_parquet(file):
            return _parquet_sample(file)
        if is_workbook(file):
            return _sheet_sample(file)
        return _csv_sample(file)
    except DataError as error:
        raise DataError(*(_named(file, problem) for problem in error.problems)) from None
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        first = str(error).splitlines() or [type(error).__name__]
        raise DataError(f"{file}: cannot be read ({first[0][:200]}); ask for it again") from None


def _named(file: Path, problem: str) -> str:
    return problem if problem.startswith(str(file)) else f"{file}: {problem}"


def most_rows(columns: int) -> int:
    """How many rows of so many columns are looked at."""
    return max(5, min(MOST_ROWS, MOST_VALUES // max(columns, 1)))


@dataclass(frozen=True)
class _Part:
    """Bytes of a file.

    Attributes:
        head: From its beginning on.
        middle: From its middle, without the line that was cut; empty where the head is all.
        whole: Whether the head is all.
    """

    head: bytes
    middle: bytes
    whole: bool


def _csv_sample(file: Path) -> TableSample:
    part = _part_of(file)
    encoding = guess_encoding(part.head)
    lines = _lines(part.head, encoding, cut=not part.whole)
    if not lines:
        raise DataError("the file is empty; its first line must name the columns")
    separator = guess_separator(lines[:SEPARATOR_LINES])
    below = lines[separator.header - 1 :]
    head, *rows = split_rows(below, separator.sign) or [[]]
    names = tuple(head)
    most = most_rows(len(names))
    sample = _of_width(rows, len(names), most)
    if part.middle and not encoding.name.startswith("utf-16"):
        # A character of two bytes may have been cut in two, so UTF-16 is left alone.
        middle = _lines(part.middle, encoding, cut=True)
        sample += _of_width(split_rows(middle, separator.sign), len(names), most)
    return TableSample(
        file=file,
        names=names,
        rows=tuple(sample),
        whole=part.whole and len(rows) <= most,
        header=separator.header,
        encoding=encoding,
        separator=separator,
    )


def _of_width(rows: Sequence[list[str]], width: int, most: int) -> list[tuple[str, ...]]:
    """The rows with as many values as there are columns; `check` tells of the others."""
    fitting = (tuple(row) for row in rows if len(row) == width)
    return list(islice(fitting, most))


def _part_of(file: Path) -> _Part:
    if file.name.lower().endswith(".gz"):
        with gzip.open(file) as stream:
            head = _with_first_line(stream)
            whole = not stream.read(1)
        return _Part(head, b"", whole)
    size = file.stat().st_size
    with file.open("rb") as stream:
        head = _with_first_line(stream)
        whole = not stream.read(1)
        middle = b""
        if not whole and size // 2 > len(head):
            stream.seek(size // 2)
            middle = stream.read(MIDDLE_BYTES).partition(b"\n")[2]
    return _Part(head, middle, whole)


def _with_first_line(stream: Any) -> bytes:
    """The head of a file; more of it where a single line is longer."""
    head: bytes = stream.read(HEAD_BYTES)
    if len(head) == HEAD_BYTES and b"\n" not in head and b"\r" not in head:
        head += stream.read(LONGEST_LINE)
    return head


def _lines(content: bytes, encoding: EncodingGuess, *, cut: bool) -> list[str]:
    """Lines of text; the last one is left out where it may be cut."""
    text = content.decode(encoding.name, errors="replace").removeprefix("\ufeff")
    # Not splitlines, for which signs within a value end a line, too.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if cut and len(lines) > 1:
        lines.pop()
    ended = [f"{line}\n" for line in lines]
    while ended and not ended[-1].strip():
        ended.pop()
    return ended


def _parquet_sample(file: Path) -> TableSample:
    parquet = pa_parquet.ParquetFile(file)
    names = tuple(parquet.schema_arrow.names)
    most = most_rows(len(names))
    groups = [0]
    if parquet.num_row_groups > 1:
        groups.append(parquet.num_row_groups // 2)
    rows: list[tuple[str, ...]] = []
    for group in groups[: parquet.num_row_groups]:
        batch = next(parquet.iter_batches(most, [group]), None)
        if batch is not None:
            columns = [map(_as_text, column.to_pylist()) for column in batch.columns]
            rows += zip(*columns, strict=True)
    whole = parquet.metadata.num_rows == len(rows)
    return TableSample(file=file, names=names, rows=tuple(rows), whole=whole)


def _sheet_sample(file: Path) -> TableSample:
    header = _header_of_sheet(file)
    sheet = sheet_of(file, Dialect(header=header), limits=Limits())
    if not any(sheet.headers):
        raise DataError("its sheet is empty; its first row must name the columns")
    most = most_rows(len(sheet.headers))
    rows = [row for row in sheet.rows if not is_blank(row)]
    sample = rows[:most]
    if len(rows) > most:
        middle = max(most, len(rows) // 2)
        sample += rows[middle : middle + most]
    texts = []
    for row in sample:
        # Cells at the end of a row may be lacking, where they are empty.
        full = [*row, *[""] * (len(sheet.headers) - len(row))]
        texts.append(tuple(map(_cell_text, full)))
    return TableSample(
        file=file,
        names=sheet.headers,
        rows=tuple(texts),
        whole=len(sample) == len(rows),
        header=header,
    )


def _header_of_sheet(file: Path) -> int:
    """The row of a sheet that names the columns, from 1."""
    rows = first_rows(file, HEADING_ROWS, limits=Limits())
    return guess_header([list(map(text_of_cell, row)) for row in rows]) + 1


def _cell_text(cell: Cell) -> str:
    """A cell as readings will see it, but for midnight, which stands in cells with a day alone."""
    if isinstance(cell, date):
        return _as_text(cell)
    return text_of_cell(cell)


def _as_text(value: Any) -> str:
    """A value of a table with types, as a CSV file would have it."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()  # as Arrow writes it
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
