"""Parties' tables: CSV and Parquet files, read batch by batch, so that a file may be larger than
memory.
"""

import contextlib
import csv
import glob
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from fairpool.errors import DataError

SUFFIXES = (".csv", ".parquet")
BATCH_ROWS = 1 << 17
BATCH_VALUES = 1 << 22
"""A batch has fewer rows than `BATCH_ROWS` where it would have more values than this."""

PUBLIC, TEST = "public data", "test data"
"""Who owns data, besides parties."""

CSV_BLOCK = 1 << 22
PARQUET_BUFFER = 1 << 15
"""Bytes that are read ahead of each column; a whole row group may be too large for memory."""

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none", "#N/A")
"""What stands for a missing value in a CSV file."""


IN_THE_CONFIGURATION = "correct its data in the configuration"
"""Where a path is wrong."""


@dataclass(frozen=True)
class Source:
    """One or more files of the same columns, and whose they are.

    Attributes:
        owner: Whose data it is, as error texts call it: 'party "Hospital A"', "public data".
        files: The files, sorted.
    """

    owner: str
    files: tuple[Path, ...]

    @property
    def is_party(self) -> bool:
        """Whether they are a party's, to be valued."""
        return self.owner not in (PUBLIC, TEST)

    @classmethod
    def find(
        cls, owner: str, pattern: str, folder: Path, remedy: str = IN_THE_CONFIGURATION
    ) -> "Source":
        """The files that a path, folder or glob stands for, relative to a folder; the remedy is for where none is."""
        path = folder / pattern
        if path.is_dir():
            files = sorted(
                f for f in path.iterdir() if f.suffix.lower() in SUFFIXES and f.is_file()
            )
            if not files:
                raise DataError(f"{owner}: the folder {path} has no .csv or .parquet file")
        elif path.is_file():
            files = [path]
        else:
            files = sorted(Path(f) for f in glob.glob(str(path)) if Path(f).is_file())
            if not files:
                raise DataError(f"{owner}: {path} is no file or folder, and matches none; {remedy}")
        for file in files:
            if file.suffix.lower() not in SUFFIXES:
                raise DataError(f"{owner}: {file} is neither .csv nor .parquet")
        return cls(owner, tuple(files))


@dataclass(frozen=True)
class Place:
    """A row of a file; as text it is where a person would look for it.

    Attributes:
        file: The file.
        row: The row's number, from 0.
        line: Its line, where that is known; otherwise the file is read again when it is asked for.
    """

    file: Path
    row: int
    line: int | None = None

    def __str__(self) -> str:
        where = line_of(self.file, self.row) if self.line is None else f"line {self.line}"
        return f"{self.file}, {where}"


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows of a file.

    Attributes:
        file: Where they are from.
        first: The number of the first of them in the file, from 0.
        columns: The rows.
        where: Each row's number and line, if rows between them were left out.
    """

    file: Path
    first: int
    columns: pa.Table
    where: Sequence[tuple[int, int]] = ()

    def place(self, row: int) -> Place:
        """Where a row of the batch (from 0) is."""
        return (
            Place(self.file, *self.where[row]) if self.where else Place(self.file, self.first + row)
        )


def column_names(file: Path) -> tuple[str, ...]:
    """The names of a file's columns, from its head alone."""
    names = _parquet_names(file) if is_parquet(file) else _csv_names(file)
    if not any(names):
        what = "its first line names no column" if names else "the file is empty"
        raise DataError(f"{file}: {what}; its first line must name the columns")
    for sign, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and sign in names[0]:
            raise DataError(f"{file}: its columns are separated by {word}; save it with commas")
    problems = []
    for name in dict.fromkeys(names):
        if not name.isprintable():
            problems.append(
                f"{file}: the column name {name!r} has a control character or line break; rename it"
            )
        # Columns without a name are never used, so any number of them will do.
        if name.strip() and names.count(name) > 1:
            problems.append(f'{file}: two columns are named "{name}"; rename or remove one of them')
    if problems:
        raise DataError(*problems)
    return names


def is_parquet(file: Path) -> bool:
    """Whether a file is read as Parquet, by its name."""
    return file.suffix.lower() == ".parquet"


def _parquet_names(file: Path) -> tuple[str, ...]:
    try:
        return tuple(pa_parquet.read_schema(file).names)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{file}: not a Parquet file, or damaged; ask for it again ({_first_line(error)})"
        ) from None


def _csv_names(file: Path) -> tuple[str, ...]:
    try:
        with open_csv(file) as stream:
            names = tuple(next(csv.reader(stream), ()))
    except PermissionError:
        raise DataError(f"{file}: no permission to read it") from None
    except (OSError, csv.Error) as error:
        raise DataError(f"{file}: not a readable CSV file ({_first_line(error)})") from None
    for name in names:
        if (byte := byte_not_utf8(name)) is not None:
            raise DataError(f"{file}: not UTF-8 text (byte {byte:#x}); save it as UTF-8")
    return names


def open_csv(file: Path) -> TextIO:
    """A CSV file as text; bytes that are not UTF-8 are kept as such, to be found by `byte_not_utf8`."""
    return file.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def csv_rows(stream: TextIO) -> Iterator[tuple[int, list[str]]]:
    """The line at which each row of a CSV file begins, and its values; the column names are the first row."""
    reader, line = csv.reader(stream), 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"line {line}: cannot be read ({error}); look for a quote that is never closed"
        ) from None


def byte_not_utf8(text: str) -> int | None:
    """The first byte of a text of `open_csv` that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return ord(text[error.start]) - 0xDC00  # where Python puts such bytes
    return None


def row_groups(file: Path) -> list[int]:
    """How many rows each row group of a Parquet file has."""
    try:
        head = pa_parquet.read_metadata(file)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: {_first_line(error)}") from None
    return [head.row_group(k).num_rows for k in range(head.num_row_groups)]


def read_batches(
    file: Path,
    numbers: Sequence[str],
    texts: Sequence[str],
    *,
    groups: range | None = None,
    first: int = 0,
    threads: bool = True,
) -> Iterator[Batch]:
    """The rows of a file: `numbers` as float64, `texts` as strings, missing values as nulls.

    Of a Parquet file, `groups` are the row groups to read (None: all), and `first` is the number of
    their first row. With `threads`, columns are read in parallel; not where several files are.
    """
    types = {name: pa.float64() for name in numbers} | {name: pa.string() for name in texts}
    most = max(1, min(BATCH_ROWS, BATCH_VALUES // max(len(types), 1)))
    if is_parquet(file):
        reader = _parquet(file, types, groups, most=most, threads=threads)
    else:
        reader = _csv(file, types, threads)
    for table in reader:
        for start in range(0, table.num_rows, most):
            part = table.slice(start, most)
            yield Batch(file, first, part)
            first += part.num_rows


def _csv(file: Path, types: dict[str, pa.DataType], threads: bool) -> Iterator[pa.Table]:
    options = pa_csv.ConvertOptions(
        column_types=types,
        include_columns=list(types),
        null_values=list(MISSING),
        strings_can_be_null=True,
    )
    try:
        with pa_csv.open_csv(
            file,
            convert_options=options,
            read_options=pa_csv.ReadOptions(block_size=CSV_BLOCK, use_threads=threads),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        ) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: {_first_line(error)}") from None


def _parquet(
    file: Path, types: dict[str, pa.DataType], groups: range | None, *, most: int, threads: bool
) -> Iterator[pa.Table]:
    try:
        unfit = unfit_columns(file, types)
        if unfit:
            raise DataError(f"{file}: {', '.join(unfit)} cannot be read as numbers or text")
        with pa_parquet.ParquetFile(file, pre_buffer=False, buffer_size=PARQUET_BUFFER) as reader:
            for batch in reader.iter_batches(most, groups, list(types), use_threads=threads):
                table = pa.Table.from_batches([batch])
                yield pa.table({name: _cast(table[name], kind) for name, kind in types.items()})
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: damaged; ask for it again ({_first_line(error)})") from None


def unfit_columns(file: Path, types: dict[str, pa.DataType]) -> dict[str, str | None]:
    """The columns of a Parquet file that cannot be read as these types: what they are instead, None if not there."""
    schema = pa_parquet.read_schema(file)
    unfit: dict[str, str | None] = {}
    for name, kind in types.items():
        if name not in schema.names:
            unfit[name] = None
        elif not _fits(schema.field(name).type, kind):
            unfit[name] = str(schema.field(name).type)
    return unfit


def _fits(own: pa.DataType, wanted: pa.DataType) -> bool:
    if wanted == pa.float64():
        return bool(
            pa.types.is_integer(own)
            or pa.types.is_floating(own)
            or pa.types.is_boolean(own)
            or pa.types.is_decimal(own)
            or pa.types.is_null(own)
        )
    return not pa.types.is_nested(own)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    # Integers beyond 2**53 are rounded, as those of a CSV file are.
    return column.cast(kind, safe=not pa.types.is_integer(column.type))


def line_of(file: Path, row: int) -> str:
    """Where the row (from 0) of a file is, as a person would look for it."""
    if not is_parquet(file):
        with open_csv(file) as stream, contextlib.suppress(DataError):
            for number, (line, _) in enumerate(csv_rows(stream)):
                if number == row + 1:  # the first one names the columns
                    return f"line {line}"
    return f"row {row + 1}"


def sha256(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200]
