"""Parties' tables: files of any kind, whose they are, and what their heads say."""

import contextlib
import csv
import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from fairpool.consortium.decoding import open_text
from fairpool.consortium.limits import SMALL_TABLE, Limits, beyond
from fairpool.consortium.workbooks import sheet_of
from fairpool.errors import DataError, is_printable, shown
from fairpool.tables.dates import is_date_type
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.dialect import PLAIN, Dialect

WORKBOOKS = (".xlsx", ".xls", ".ods")
SUFFIXES = (".csv", ".csv.gz", ".parquet", *WORKBOOKS)
PUBLIC, TEST = "public data", "test data"
"""Who owns data, besides parties."""

IN_THE_CONFIGURATION = "correct its data in the configuration"
"""Where a path is wrong."""


@dataclass(frozen=True)
class Source:
    """One or more files of the same columns, and whose they are.

    Attributes:
        owner: Whose data it is, as error texts call it: 'party "Hospital A"', "public data".
        files: The files, sorted.
        delivery: How they are read.
    """

    owner: str
    files: tuple[Path, ...]
    delivery: Delivery = AS_AGREED

    @property
    def is_party(self) -> bool:
        """Whether they are a party's, to be valued."""
        return self.owner not in (PUBLIC, TEST)

    @classmethod
    def find(
        cls,
        owner: str,
        patterns: str | Sequence[str],
        folder: Path,
        *,
        remedy: str = IN_THE_CONFIGURATION,
        follow_links: bool = False,
        delivery: Delivery = AS_AGREED,
    ) -> "Source":
        """The files that a path, folder or glob stands for, or several of these.

        A file whose name cannot be shown is refused: it would be obeyed by terminals, and forge
        lines of lists of files. So is a link that leads out, by which a party that sends files
        could have any file of the operator's valued as its own.

        Args:
            owner: Whose data it is.
            patterns: The path, folder or glob, or a list of such.
            folder: What it is relative to.
            remedy: What to do where there is no such file.
            follow_links: Whether links may lead out of `folder` or, where the pattern itself lies
                elsewhere, of the folder that it names.
            delivery: How they are read.
        """
        problems = []
        files: list[Path] = []
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            matching = _files_of(pattern, folder, owner, remedy=remedy)
            if not follow_links:
                problems += _links_that_lead_out(owner, matching, _home(pattern, folder))
            files += matching
        # One file may match two patterns. The order must not depend on the file system: sums over
        # rows do depend on it.
        files = sorted({*files})
        for file in files:
            name = os.path.relpath(file, folder)
            if not is_printable(name):
                problems.append(
                    f"{owner}: the file name {shown(name)} has a sign that cannot be shown;"
                    " rename it"
                )
            if not is_table(file):
                problems.append(f"{owner}: {file} is no table ({', '.join(SUFFIXES)})")
        if problems:
            raise DataError(*problems)
        return cls(owner, tuple(files), delivery)


def is_table(file: Path) -> bool:
    """Whether a file is a table, by its name."""
    return file.name.lower().endswith(SUFFIXES)


def _files_of(pattern: str, folder: Path, owner: str, *, remedy: str) -> list[Path]:
    """The files that a path, folder or glob stands for."""
    path = folder / pattern
    if path.is_dir():
        files = [f for f in path.iterdir() if is_table(f) and f.is_file() and not _is_lock(f)]
        if not files:
            raise DataError(
                f"{owner}: the folder {path} has no table ({', '.join(SUFFIXES)}); {remedy}"
            )
        return files
    if path.is_file():
        return [path]
    # Relative to the folder, in whose own name a bracket means itself.
    matches = [folder / match for match in glob.glob(pattern, root_dir=folder)]
    files = [match for match in matches if match.is_file() and not _is_lock(match)]
    if not files:
        raise DataError(f"{owner}: {path} is no file or folder, and matches none; {remedy}")
    return files


def _is_lock(file: Path) -> bool:
    """Whether a file only says that Excel has another one open."""
    return file.name.startswith("~$")


def _home(pattern: str, folder: Path) -> Path:
    """The folder that files may not be out of: the project's, or the one that a path names.

    Args:
        pattern: A path, folder or glob of the configuration.
        folder: The project's.
    """
    # Both as they are written: where a path leads is known only once its links are followed.
    if Path(os.path.abspath(folder / pattern)).is_relative_to(os.path.abspath(folder)):
        return folder.resolve()
    named = Path(pattern)
    while glob.has_magic(str(named)) or not (folder / named).is_dir():
        named = named.parent
    return (folder / named).resolve()


def _links_that_lead_out(owner: str, files: Sequence[Path], home: Path) -> list[str]:
    problems = []
    for file in files:
        target = file.resolve()
        if not target.is_relative_to(home):
            problems.append(
                f"{owner}: {file} is a link, or lies behind one, to {target}, which is outside of"
                f" {home}; put the file itself there, or name that path in the configuration"
            )
    return problems


def links_to_others(sources: Sequence[Source]) -> dict[str, list[str]]:
    """Problems, by party: files that are, by a link, those of another party.

    It would be rewarded for the other's data, with a model in which they count as its own. One path
    that is named for two parties is no link, but what the configuration says.
    """
    first_holder: dict[Path, tuple[str, Path]] = {}
    problems: dict[str, list[str]] = {}
    for source in sources:
        if not source.is_party:
            continue
        for file in source.files:
            owner, known = first_holder.setdefault(file.resolve(), (source.owner, file))
            if owner != source.owner and os.path.abspath(known) != os.path.abspath(file):
                text = (
                    f"{source.owner}: {file} is, by a link, the same file as {known} of {owner};"
                    " put the file itself there"
                )
                problems.setdefault(source.owner, []).append(text)
    return problems


@dataclass(frozen=True)
class Place:
    """A row of a file; as text it is where a person would look for it.

    Attributes:
        file: The file.
        row: The row's number, from 0.
        line: Its line, where that is known; otherwise the file is read again when it is asked for.
        dialect: How the file is written.
    """

    file: Path
    row: int
    line: int | None = None
    dialect: Dialect = PLAIN

    def __str__(self) -> str:
        if self.line is None:
            return f"{self.file}, {line_of(self.file, self.row, self.dialect)}"
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some consecutive rows of a file.

    Attributes:
        file: Where they are from.
        first: The number of the first of them in the file, from 0.
        columns: The rows.
        places: Where each row is, if rows between them were left out.
        dialect: How the file is written.
    """

    file: Path
    first: int
    columns: pa.Table
    places: Sequence[Place] = ()
    dialect: Dialect = PLAIN

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """The number of each row in the file, from 0 [m]."""
        if self.places:
            return np.array([place.row for place in self.places])
        return np.arange(self.first, self.first + self.columns.num_rows)

    def place(self, row: int) -> Place:
        """Where a row of the batch (from 0) is."""
        if self.places:
            return self.places[row]
        return Place(self.file, self.first + row, dialect=self.dialect)


BYTES_PER_VALUE = 8
LONGEST_FIXED_TEXT = 1000
"""Bytes of a text in a column of texts of one length."""

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


def is_workbook(file: Path) -> bool:
    """Whether a file is read as a workbook of sheets, by its name."""
    return file.suffix.lower() in WORKBOOKS


def is_parquet(file: Path) -> bool:
    """Whether a file is read as Parquet, by its name."""
    return file.suffix.lower() == ".parquet"


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


def open_csv(file: Path, dialect: Dialect = PLAIN) -> TextIO:
    """A CSV file as text; bytes that are not UTF-8 are kept, to be found by `byte_not_utf8`."""
    return open_text(file, dialect)


def csv_rows(stream: TextIO, dialect: Dialect = PLAIN) -> Iterator[tuple[int, list[str]]]:
    """The line at which each row of a CSV file begins, and its values.

    The first row has the names of the columns.
    """
    above = dialect.header - 1
    reader = csv.reader(islice(stream, above, None), delimiter=dialect.separator)
    line = dialect.header
    try:
        for row in reader:
            if row:
                yield line, row
            line = above + reader.line_num + 1
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
        raise DataError(f"{file}: {first_line(error)}") from None
    return [head.row_group(k).num_rows for k in range(head.num_row_groups)]


def refuse_large(source: Source, columns: Sequence[str], limits: Limits) -> None:
    """Refuse Parquet files that say of themselves that they are too large, before reading them.

    Args:
        source: Files of which some may be CSV: these are not larger than they look.
        columns: Those that would be read.
        limits: What is allowed.
    """
    problems = []
    rows = 0
    for file in source.files:
        if not is_parquet(file):
            continue
        try:
            head = pa_parquet.read_metadata(file)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{source.owner}: {file}: {first_line(error)}") from None
        rows += head.num_rows
        # Only what the head says of the whole file: details of a damaged one can end the process.
        table = BYTES_PER_VALUE * head.num_rows * len(columns)
        times = table / max(file.stat().st_size, 1)
        if table > SMALL_TABLE and times > limits.expansion:
            what = f"{head.num_rows} rows are a table of {table / 2**30:.3g} GiB:"
            allowed = beyond(f"{times:.0f} times its size", limits.expansion, "expansion")
            problems.append(f"{source.owner}: {file}: its {what} {allowed}")
    if rows > limits.rows:
        problems.append(f"{source.owner}: {beyond(f'{rows} rows', limits.rows, 'rows')}")
    if problems:
        raise DataError(*problems)


def unfit_columns(schema: pa.Schema, types: dict[str, pa.DataType]) -> dict[str, str | None]:
    """The columns of a Parquet file that cannot be read as these types.

    Returns:
        What they are instead, by name; None where there is no such column.
    """
    unfit: dict[str, str | None] = {}
    names = {*schema.names}
    for name, kind in types.items():
        if name not in names:
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
    if wanted == pa.date32():
        if pa.types.is_dictionary(own):
            own = own.value_type
        return bool(
            is_date_type(own)
            or pa.types.is_string(own)
            or pa.types.is_large_string(own)
            or pa.types.is_null(own)
        )
    if pa.types.is_fixed_size_binary(own):
        # A long one that is stored once could fill memory before anybody looks at it.
        return bool(own.byte_width <= LONGEST_FIXED_TEXT)
    return not pa.types.is_nested(own)


def line_of(file: Path, row: int, dialect: Dialect = PLAIN) -> str:
    """Where the row (from 0) of a file is, as a person would look for it."""
    if is_workbook(file):
        # Counted from 1, and below the one that names the columns.
        return f"sheet row {row + 1 + dialect.header}"
    if not is_parquet(file):
        with open_csv(file, dialect) as stream, contextlib.suppress(DataError):
            for number, (line, _) in enumerate(csv_rows(stream, dialect)):
                if number == row + 1:  # the first one names the columns
                    return f"line {line}"
    return f"row {row + 1}"


def first_line(error: Exception) -> str:
    """The beginning of what another library says went wrong."""
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:200]
