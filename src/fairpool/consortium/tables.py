"""Parties' tables: CSV and Parquet files, read batch by batch, so that a file may be larger than memory."""

import csv
import glob
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from fairpool.errors import DataError

SUFFIXES = (".csv", ".parquet")
BATCH_ROWS = 1 << 17
BATCH_VALUES = 1 << 22
"""A batch has fewer rows than `BATCH_ROWS` where it would have more values than this."""

CSV_BLOCK = 1 << 22
PARQUET_BUFFER = 1 << 15
"""Bytes that are read ahead of each column; a whole row group may be too large for memory."""

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none", "#N/A")
"""What stands for a missing value in a CSV file."""


@dataclass(frozen=True)
class Source:
    """One or more files of the same columns, and whose they are.

    Attributes:
        owner: Whose data it is, as error texts call it: 'party "Hospital A"', "public data".
        files: The files, sorted.
    """

    owner: str
    files: tuple[Path, ...]

    @classmethod
    def find(cls, owner: str, pattern: str, folder: Path) -> "Source":
        """The files that a path, folder or glob of the configuration stands for, relative to its folder."""
        path = folder / pattern
        if path.is_dir():
            files = sorted(f for f in path.iterdir() if f.suffix.lower() in SUFFIXES and f.is_file())
            if not files:
                raise DataError(f"{owner}: the folder {path} has no .csv or .parquet file")
        elif path.is_file():
            files = [path]
        else:
            files = sorted(Path(f) for f in glob.glob(str(path)) if Path(f).is_file())
            if not files:
                raise DataError(
                    f"{owner}: {path} is no file or folder, and matches none; correct its data in the configuration"
                )
        for file in files:
            if file.suffix.lower() not in SUFFIXES:
                raise DataError(f"{owner}: {file} is neither .csv nor .parquet")
        return cls(owner, tuple(files))


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows of a file.

    Attributes:
        file: Where they are from.
        first: The number of the first of them in the file, from 0.
        columns: The rows.
    """

    file: Path
    first: int
    columns: pa.Table


def column_names(file: Path) -> tuple[str, ...]:
    """The names of a file's columns, from its head alone."""
    if file.suffix.lower() == ".parquet":
        try:
            names = tuple(pa_parquet.read_schema(file).names)
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{file}: not a Parquet file, or damaged; ask for it again ({_first_line(error)})"
            ) from None
    else:
        try:
            with file.open(encoding="utf-8-sig", newline="") as stream:
                names = tuple(next(csv.reader(stream), ()))
        except UnicodeDecodeError as error:
            raise DataError(_not_utf8(file, error)) from None
        except PermissionError:
            raise DataError(f"{file}: no permission to read it") from None
        except (OSError, csv.Error) as error:
            raise DataError(f"{file}: not a readable CSV file ({_first_line(error)})") from None
    if not names:
        raise DataError(f"{file}: the file is empty; its first line must name the columns")
    for sign, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and sign in names[0]:
            raise DataError(f"{file}: its columns are separated by {word}; save it with commas")
    strange = [name for name in names if not name.isprintable()]
    if strange:
        raise DataError(f"{file}: the column name {strange[0]!r} has a control character or line break; rename it")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f'{file}: two columns are named "{twice[0]}"')
    return names


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

    Of a Parquet file, `groups` are the row groups to read (None: all), and `first` is the number of their first row.
    With `threads`, columns are read in parallel; not where several files are.
    """
    types = {name: pa.float64() for name in numbers} | {name: pa.string() for name in texts}
    most = max(1, min(BATCH_ROWS, BATCH_VALUES // max(len(types), 1)))
    parquet = file.suffix.lower() == ".parquet"
    reader = _parquet(file, types, groups, most, threads) if parquet else _csv(file, types, threads)
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
        raise DataError(_diagnose(file, types) or f"{file}: {_first_line(error)}") from None


def _parquet(
    file: Path, types: dict[str, pa.DataType], groups: range | None, most: int, threads: bool
) -> Iterator[pa.Table]:
    try:
        with pa_parquet.ParquetFile(file, pre_buffer=False, buffer_size=PARQUET_BUFFER) as reader:
            for batch in reader.iter_batches(most, groups, list(types), use_threads=threads):
                table = pa.Table.from_batches([batch])
                yield pa.table({name: _cast(file, name, table[name], kind) for name, kind in types.items()})
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: {_first_line(error)}") from None


def _cast(file: Path, name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    numeric = (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_boolean(column.type)
        or pa.types.is_decimal(column.type)
        or pa.types.is_null(column.type)
    )
    if kind == pa.float64() and not numeric:
        raise DataError(f'{file}: column "{name}" has type {column.type}, not numbers; {CATEGORY_HINT}')
    return column.cast(kind)


CATEGORY_HINT = "list it under categorical, or leave it out of features"


def _diagnose(file: Path, types: dict[str, pa.DataType]) -> str | None:
    """Why a CSV file could not be read: the first line, column and value that are wrong. Slow, and only for errors."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            names = next(reader)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(names):
                    return f"{file}, line {reader.line_num}: {len(row)} values for {len(names)} columns"
                for name, value in zip(names, row, strict=True):
                    if types.get(name) == pa.float64() and value not in MISSING and not _is_number(value):
                        return (
                            f'{file}, line {reader.line_num}, column "{name}": {value!r} is not a number; correct it,'
                            f" or if the whole column is text, {CATEGORY_HINT} (a target must be a number)"
                        )
    except UnicodeDecodeError as error:
        return _not_utf8(file, error)
    except (OSError, csv.Error):
        return None
    return None


def line_of(file: Path, row: int) -> str:
    """Where the row (from 0) of a file is, as a person would look for it."""
    if file.suffix.lower() == ".parquet":
        return f"row {row + 1}"
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        next(reader)
        for number, _ in enumerate(line for line in reader if line):
            if number == row:
                return f"line {reader.line_num}"
    return f"row {row + 1}"


def sha256(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value


def _not_utf8(file: Path, error: UnicodeDecodeError) -> str:
    return f"{file}: not UTF-8 text (byte {error.object[error.start]:#x}); save it as UTF-8"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200]
