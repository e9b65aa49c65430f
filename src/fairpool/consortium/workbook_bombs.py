"""Workbooks that are small files and fill memory: refused before they are opened.

A workbook is a zip archive, in which little unpacks to much. And a sheet is laid out as a full
rectangle when it is read: with one cell in the first row and one in the last of the last column, it
has seventeen thousand million. And a text that is stored once may stand in every cell.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from fairpool.consortium.limits import SMALL_TABLE, Limits, beyond
from fairpool.errors import DataError

CHUNK = 1 << 20
CELL_BYTES = 64
"""What a cell takes in memory."""

LONGEST_TAG = 1 << 10
"""Bytes at the end of a chunk that may be the beginning of what is looked for."""

REFERENCE = re.compile(rb"""\br\s*=\s*["']\$?([A-Za-z]{0,4})\$?(\d{1,9})["']""")
"""The address of a cell, or of a row."""

STORED_TEXT = re.compile(rb"""\bt\s*=\s*["']s["']""")
"""What a cell has whose text is stored elsewhere."""


def refuse_bombs(content: bytes, file: Path, limits: Limits) -> None:
    """Refuse a workbook that would take far more memory than its file.

    Args:
        content: The file's bytes.
        file: For errors.
        limits: What is allowed.
    """
    if not content.startswith(b"PK"):
        return  # no zip archive: an old Excel file has neither packed parts nor endless sheets
    allowed = max(SMALL_TABLE, limits.expansion * len(content))
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = _size(archive, file, allowed)
            if size <= allowed:
                size = max(_sheets_size(archive), _table_size(archive))
    except DataError:
        raise
    except (
        zipfile.BadZipFile,
        ValueError,  # of parts that would begin before the file does
        OSError,
        NotImplementedError,
        RuntimeError,
        EOFError,
        zlib.error,
    ) as error:
        raise DataError(f"{file}: not a workbook, or damaged; ask for it again ({error})") from None
    except expat.ExpatError as error:
        raise DataError(f"{file}: damaged; ask for it again ({error})") from None
    if size > allowed:
        times = size / max(len(content), 1)
        what = beyond(f"{times:.0f} times its size", limits.expansion, "expansion")
        raise DataError(
            f"{file}: a sheet of {size / 2**30:.3g} GiB, of which most may be empty cells (delete"
            f" what is far below or beside the table): {what}"
        )


def _size(archive: zipfile.ZipFile, file: Path, allowed: float) -> int:
    """How much all parts are, unpacked; a sheet may be called anything."""
    names = archive.namelist()
    if len({*names}) < len(names):
        raise DataError(f"{file}: a part of it is there twice; ask for it again")
    size = 0
    for part in archive.infolist():
        size += part.file_size
        if size > allowed:
            break
    return size


def _chunks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """A part of the archive, each chunk with the end of the one before.

    The archive says how much a part unpacks to, and is not trusted: one that unpacks to more is
    damaged to Python.
    """
    rest = b""
    with archive.open(name) as stream:
        while chunk := stream.read(CHUNK):
            yield rest + chunk
            rest = chunk[-LONGEST_TAG:]


def _sheets_size(archive: zipfile.ZipFile) -> int:
    """What the sheets of an Excel file take, laid out in full, with every text in its cell."""
    largest = 0
    stored = 0
    longest = 0
    for name in archive.namelist():
        if "sharedstrings" in name.lower():
            longest = max(longest, _longest_text(archive, name))
            continue
        rows = 0
        columns = 0
        for chunk in _chunks(archive, name):
            for match in REFERENCE.finditer(chunk):
                rows = max(rows, int(match[2]))
                columns = max(columns, _number_of(match[1]))
            stored += len(STORED_TEXT.findall(chunk))
        largest = max(largest, CELL_BYTES * rows * max(columns, 1))
    return largest + stored * longest


def _number_of(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def _longest_text(archive: zipfile.ZipFile, name: str) -> int:
    """Bytes of the longest text that cells may share, or somewhat more."""
    longest = 0
    length = 0
    with archive.open(name) as stream:
        while chunk := stream.read(CHUNK):
            first, *others = chunk.split(b"</")
            length += len(first)
            longest = max(longest, length)
            for part in others:
                length = len(part)
                longest = max(longest, length)
    return longest


def _table_size(archive: zipfile.ZipFile) -> int:
    """What the sheets of an OpenDocument file take, in which cells and rows can be repeated."""
    if "content.xml" not in archive.namelist():
        return 0
    counter = _RepeatedCells()
    parser = expat.ParserCreate()
    parser.StartElementHandler = counter.start
    parser.EndElementHandler = counter.end
    with archive.open("content.xml") as stream:
        parser.ParseFile(stream)
    return CELL_BYTES * counter.largest


class _RepeatedCells:
    """How many cells the largest sheet of an OpenDocument file has, up to the last with a value."""

    def __init__(self) -> None:
        self.largest = 0
        self._rows = 0
        self._last_row = 0
        self._columns = 0
        self._widest = 0
        self._repeated = 1
        self._has_value = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """A tag begins."""
        name = name.rpartition(":")[2]
        if name == "table":
            self._rows = self._last_row = self._widest = 0
        elif name == "table-row":
            self._columns = 0
            self._has_value = False
            self._repeated = _repeated(attributes, "rows")
        elif name in ("table-cell", "covered-table-cell"):
            self._columns += _repeated(attributes, "columns")
            if any(key.endswith("value-type") for key in attributes):
                self._widest = max(self._widest, self._columns)
                self._has_value = True

    def end(self, name: str) -> None:
        """A tag ends."""
        if name.rpartition(":")[2] == "table-row":
            self._rows += self._repeated
            if self._has_value:
                self._last_row = self._rows
            self.largest = max(self.largest, self._last_row * self._widest)


def _repeated(attributes: dict[str, str], what: str) -> int:
    for name, value in attributes.items():
        if name.endswith(f"number-{what}-repeated") and value.isdecimal():
            return int(value[:15])
    return 1
