"""A file's bytes, hashed as they go by to a reader that goes through them once."""

import hashlib
import io
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairpool.consortium.decoding import Readable

STEP = 1 << 22
"""So many bytes are read at once of what nobody wants but the hash."""

SMALL_FILE = 1 << 24
"""Up to this many bytes a CSV file is taken into memory whole."""


A_LITTLE_MORE = 0.01
"""Seconds in which a thread of Arrow's that was seen to let go gets out of the interpreter."""


LONGEST_WAIT = 1.0
"""Seconds to wait for Arrow's threads; they take a few milliseconds."""


class HashingStream:
    """A file's bytes for a reader that goes through them once, hashed as they go by."""

    def __init__(self, file: Path) -> None:
        # Arrow's own file: its errors are the same as without a stream between.
        self._file = pa.OSFile(str(file))
        self._hash = hashlib.sha256()
        self._released = threading.Event()
        self._released.set()

    def lent(self, text: Readable | None = None) -> Any:
        """The bytes as Arrow wants them.

        Args:
            text: What is made of them on their way, by reading this stream; None: nothing.
        """
        if text is not None:
            beginning = text.read(SMALL_FILE)
            if len(beginning) < SMALL_FILE:
                return pa.BufferReader(beginning)
            return self._lent_stream(_Rejoined(beginning, text))
        size = self._file.size()
        if size <= SMALL_FILE:
            # Arrow's own memory: its threads need no interpreter to let go of it.
            content = self._file.read_buffer(size)
            self._hash.update(content)
            return pa.BufferReader(content)
        return self._lent_stream(self)

    def _lent_stream(self, text: Readable) -> "_LentStream":
        lent = _LentStream(text)
        self._released.clear()
        weakref.finalize(lent, self._released.set).atexit = False
        return lent

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        content: bytes = self._file.read(size)
        self._hash.update(content)
        return content

    def drained(self) -> str:
        """The SHA-256 of the whole file: what the reader left is read now."""
        while self.read(STEP):
            pass
        return self._hash.hexdigest()

    def wait_for_release(self) -> None:
        """Wait until Arrow let go of what it was lent.

        Its threads read ahead, and let go a little after the last batch was taken. If the program
        ended meanwhile, they would ask for an interpreter that is no more, and abort: so a little
        more is waited. (A small file's bytes are Arrow's own, and need none of that.)
        """
        if not self._released.is_set():
            self._released.wait(LONGEST_WAIT)
            time.sleep(A_LITTLE_MORE)


class _Rejoined:
    """A stream whose beginning was read already."""

    def __init__(self, beginning: bytes, rest: Readable) -> None:
        self._beginning = io.BytesIO(beginning)
        self._rest = rest

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        content = self._beginning.read(size)
        if size < 0:
            return content + self._rest.read()
        if len(content) < size:
            content += self._rest.read(size - len(content))
        return content


class _LentStream(io.RawIOBase):
    """What Arrow holds of a stream."""

    def __init__(self, stream: Readable) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        """It is: Arrow asks."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        return self._stream.read(size)
