"""The bytes of text files on their way: unpacked and turned into UTF-8, a little at a time."""

import codecs
import gzip
import io
import zlib
from pathlib import Path
from typing import Any, Protocol

from fairpool.consortium.limits import SMALL_TABLE, beyond
from fairpool.errors import DataError
from fairpool.tables.dialect import UTF_8, Dialect

STEP = 1 << 18
"""So many bytes are turned into UTF-8 at once."""


class ExpandedError(DataError):
    """A packed file holds far more than it should: nothing more of it is to be read."""


class Readable(Protocol):
    """Bytes to be gone through once."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes: as many as are asked for, or fewer at the end."""


def is_packed(file: Path) -> bool:
    """Whether a file is unpacked as it is read, by its name."""
    return file.suffix.lower() == ".gz"


def is_plain_text(file: Path, dialect: Dialect) -> bool:
    """Whether a file's bytes are its text in UTF-8."""
    return not is_packed(file) and dialect.encoding == UTF_8


def decoded(
    raw: Readable, file: Path, dialect: Dialect, *, expansion: float | None = None
) -> Readable:
    """A file's bytes as text in UTF-8.

    Args:
        raw: The bytes as they are in the file.
        file: For errors, and for its name, which tells whether it is packed.
        dialect: How it is written.
        expansion: How many times larger than the file its text may be, if it is more than
            `SMALL_TABLE`; None: any.
    """
    stream = raw
    if is_packed(file):
        stream = _Unpacked(stream, file, expansion)
    if dialect.encoding != UTF_8:
        stream = _Transcoded(stream, file, dialect.encoding)
    return stream


class _Counted:
    """Bytes that are counted as they go by."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1, /) -> bytes:
        content = self._stream.read(size)
        self.count += len(content)
        return content


class _Unpacked:
    """What a gzip file holds; one that would fill disks is refused as soon as it shows."""

    def __init__(self, raw: Readable, file: Path, expansion: float | None) -> None:
        self._raw = _Counted(raw)
        self._stream = gzip.GzipFile(fileobj=self._raw, mode="rb")  # type: ignore[call-overload]
        self._file = file
        self._expansion = expansion
        self._count = 0

    def read(self, size: int = -1, /) -> bytes:
        try:
            content: bytes = self._stream.read(size)
        except EOFError:
            raise DataError(f"{self._file}: the gzip file is cut short; ask for it again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DataError(
                f"{self._file}: not a gzip file, or damaged; ask for it again ({error})"
            ) from None
        self._count += len(content)
        if self._expansion is not None and self._count > SMALL_TABLE:
            times = self._count / max(self._raw.count, 1)
            if times > self._expansion:
                what = beyond(f"{times:.0f} times its size", self._expansion, "expansion")
                size_in_words = f"{self._count / 2**30:.3g} GiB of text or more"
                raise ExpandedError(f"{self._file}: {size_in_words}: {what}")
        return content


class _Transcoded:
    """Text in another encoding, as UTF-8."""

    def __init__(self, stream: Readable, file: Path, encoding: str) -> None:
        self._stream = stream
        self._file = file
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = bytearray()
        self._ended = False
        self._lines = 0

    def read(self, size: int = -1, /) -> bytes:
        while not self._ended and (size < 0 or len(self._ready) < size):
            self._take()
        if size < 0:
            size = len(self._ready)
        content = bytes(self._ready[:size])
        del self._ready[:size]
        return content

    def _take(self) -> None:
        content = self._stream.read(STEP)
        self._ended = not content
        try:
            text = self._decoder.decode(content, self._ended)
        except UnicodeDecodeError as error:
            whole = bytes(error.object)
            wrong = f"byte {whole[error.start]:#x}"
            before = whole[: error.start].decode(self._encoding, errors="ignore")
            line = self._lines + before.count("\n") + 1
            raise DataError(
                f"{self._file}, line {line}: not {self._encoding} text ({wrong}); give its"
                " encoding in its reading, or save it as UTF-8"
            ) from None
        self._lines += text.count("\n")
        self._ready += text.encode()


class _Raw(io.RawIOBase):
    """A stream as Python's text files want it."""

    def __init__(self, stream: Readable, file: io.BufferedReader) -> None:
        super().__init__()
        self._stream = stream
        self._file = file

    def readable(self) -> bool:
        """It is: Python asks."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer with the next bytes."""
        content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def open_text(file: Path, dialect: Dialect, *, expansion: float | None = None) -> io.TextIOWrapper:
    """A file as text; bytes that are not UTF-8 are kept, to be found by `byte_not_utf8`."""
    if is_plain_text(file, dialect):
        return file.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    binary = file.open("rb")
    stream = _Raw(decoded(binary, file, dialect, expansion=expansion), binary)
    return io.TextIOWrapper(
        io.BufferedReader(stream, STEP),
        encoding="utf-8-sig",
        errors="surrogateescape",
        newline="",
    )
