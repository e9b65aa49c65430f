"""Parties' tables: files of any kind, whose they are, and what their heads say."""

import contextlib
import csv
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.consortium.decoding import open_text
from fairpool.errors import DataError, is_printable, shown
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.dialect import PLAIN, Dialect

WORKBOOKS = (".xlsx", ".xls", ".ods")
SUFFIXES = (".csv", ".csv.gz", ".parquet", *WORKBOOKS)
PUBLIC, TEST = "public data", "test data"
"""Who owns data, besides parties."""

IN_THE_CONFIGURATION = "correct its data in the configuration"
"""Where a path is wrong."""


def party_owner(name: str) -> str:
    """What a party is called as the owner of data."""
    return f'party "{name}"'


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
        suffixes: tuple[str, ...] = SUFFIXES,
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
            suffixes: How their names end.
        """
        problems = []
        files: list[Path] = []
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            matching = _files_of(pattern, folder, owner, remedy=remedy, suffixes=suffixes)
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
            if not _ends_with(file, suffixes):
                what = _called(suffixes)
                problems.append(f"{owner}: {file} is no {what} ({', '.join(suffixes)})")
        if problems:
            raise DataError(*problems)
        return cls(owner, tuple(files), delivery)


def is_table(file: Path) -> bool:
    """Whether a file is a table, by its name."""
    return _ends_with(file, SUFFIXES)


def _ends_with(file: Path, suffixes: tuple[str, ...]) -> bool:
    return file.name.lower().endswith(suffixes)


def _called(suffixes: tuple[str, ...]) -> str:
    return "table" if suffixes == SUFFIXES else "contribution"


def _files_of(
    pattern: str, folder: Path, owner: str, *, remedy: str, suffixes: tuple[str, ...]
) -> list[Path]:
    """The files that a path, folder or glob stands for."""
    path = folder / pattern
    if path.is_dir():
        there = [file for file in path.iterdir() if _ends_with(file, suffixes) and file.is_file()]
        files = [file for file in there if not _is_lock(file)]
        if not files:
            what = _called(suffixes)
            raise DataError(
                f"{owner}: the folder {path} has no {what} ({', '.join(suffixes)}); {remedy}"
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

    def parts(self, most: int) -> "Iterator[Batch]":
        """The same rows in batches of no more than so many."""
        for start in range(0, self.columns.num_rows, most):
            yield replace(
                self,
                first=self.first + start,
                columns=self.columns.slice(start, most),
                places=self.places[start : start + most],
            )

    def place(self, row: int) -> Place:
        """Where a row of the batch (from 0) is."""
        if self.places:
            return self.places[row]
        return Place(self.file, self.first + row, dialect=self.dialect)


def is_workbook(file: Path) -> bool:
    """Whether a file is read as a workbook of sheets, by its name."""
    return file.suffix.lower() in WORKBOOKS


def is_parquet(file: Path) -> bool:
    """Whether a file is read as Parquet, by its name."""
    return file.suffix.lower() == ".parquet"


def open_csv(file: Path, dialect: Dialect = PLAIN, *, expansion: float | None = None) -> TextIO:
    """A CSV file as text; bytes that are not UTF-8 are kept, to be found by `byte_not_utf8`.

    Args:
        file: The file.
        dialect: How it is written.
        expansion: How many times larger than a packed file its text may be; None: any.
    """
    return open_text(file, dialect, expansion=expansion)


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
