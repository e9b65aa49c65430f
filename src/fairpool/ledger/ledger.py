"""The ledger of a collaboration: a file to which lines are added, and nothing else is done.

Every line carries the hash of the line before and is sealed with a key (`record`). A line is there
when `append` has returned, also after a power failure. What a process that was killed in between
has left is cut off by the next `append`, never by reading. `docs/rounds.md` says what is found when
somebody changes the file, and what is not.
"""

import hashlib
import io
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fairpool.compute.files import sync_folder
from fairpool.errors import LedgerError, few
from fairpool.ledger.chain import Chain, read_chain
from fairpool.ledger.lock import hold
from fairpool.ledger.opening import make_private, opened, reason_of
from fairpool.ledger.record import NOTHING_BEFORE, Record, check_mac_key, make_record


class Ledger:
    """A ledger that was read and found whole, and can be continued.

    It is not frozen: `append` adds to it. Make it by `Ledger.open`.
    """

    def __init__(self, path: Path, mac_key: bytes, chain: Chain) -> None:
        self.path = path
        self._mac_key = mac_key
        self._records = chain.records
        self._torn = chain.torn
        self._ends_whole = chain.ends_whole
        self._whole_size = chain.whole_size
        self._size = chain.size
        self._digest = chain.digest

    @classmethod
    def open(cls, path: Path, mac_key: bytes) -> "Ledger":
        """Read a ledger and check every line of it; a missing file is an empty ledger.

        Args:
            path: The file. If others may read it, this is put right where that can be.
            mac_key: The ledger's key, of 32 bytes.
        """
        path = Path(path)
        check_mac_key(mac_key)
        try:
            with opened(path, os.O_RDONLY) as descriptor:
                with suppress(OSError):  # one on a disk that is read-only can be read all the same
                    make_private(descriptor)
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    chain = read_chain(file, mac_key)
        except FileNotFoundError:
            chain = read_chain(io.BytesIO(), mac_key)
        except OSError as error:
            raise LedgerError(f"{path}: the ledger cannot be read: {reason_of(error)}") from None
        _refuse_problems(path, chain)
        return cls(path, mac_key, chain)

    @property
    def records(self) -> tuple[Record, ...]:
        """All of them, in their order."""
        return self._records

    @property
    def head(self) -> str:
        """The hash of the last line, which stands for all lines; 64 zeros for an empty ledger."""
        if not self._records:
            return NOTHING_BEFORE
        return self._records[-1].hash

    @property
    def torn(self) -> bool:
        """Whether the file's last line has no end; the next `append` puts that right."""
        return self._torn

    def append(self, kind: str, body: Mapping[str, Any], *, time: str | None = None) -> Record:
        """Add a record; when this returns, it is on the disk.

        A file that is no longer what was read, as another run has added to it, is refused and left
        as it is.

        Args:
            kind: What it is about, such as "release".
            body: What happened: whatever JSON can hold.
            time: When, in UTC, such as "2026-03-01T09:30:00Z"; None: now.
        """
        record = make_record(
            self._mac_key,
            number=len(self._records) + 1,
            previous=self.head,
            kind=kind,
            body=body,
            time=time,
        )
        # A new file is made only where there was none: one that has vanished is not begun anew.
        create = 0 if self._size else os.O_CREAT
        try:
            with opened(self.path, os.O_RDWR | os.O_APPEND | create) as descriptor:
                hold(descriptor, self.path, wait=True)
                content = self._unchanged_content(descriptor)
                make_private(descriptor)
                content = self._without_torn_line(descriptor, content)
                self._write(descriptor, content, record.line)
            sync_folder(self.path.parent)
        except OSError as error:
            raise LedgerError(
                f"{self.path}: the ledger cannot be continued: {reason_of(error)}"
            ) from None
        self._records = (*self._records, record)
        return record

    def _unchanged_content(self, descriptor: int) -> bytes:
        """All that is in the file, which must be what was read or written here."""
        if os.fstat(descriptor).st_size == self._size:
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read()
            if hashlib.sha256(content).hexdigest() == self._digest:
                return content
        raise LedgerError(
            f"{self.path}: another run has added to the ledger since it was read, or somebody has"
            " changed it; nothing was written, run again"
        )

    def _without_torn_line(self, descriptor: int, content: bytes) -> bytes:
        if not self._torn or self._ends_whole:
            return content
        os.ftruncate(descriptor, self._whole_size)
        os.fsync(descriptor)
        content = content[: self._whole_size]
        self._remember(content)
        return content

    def _write(self, descriptor: int, content: bytes, line: bytes) -> None:
        # A whole line that only lacks its end gets it now.
        addition = b"\n" + line if self._ends_whole else line
        left = memoryview(addition)
        try:
            # Once, unless the disk is full.
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, len(content))
            raise
        self._remember(content + addition)

    def _remember(self, content: bytes) -> None:
        """What the file holds now, all of it whole lines."""
        self._torn = False
        self._ends_whole = False
        self._size = self._whole_size = len(content)
        self._digest = hashlib.sha256(content).hexdigest()


def _refuse_problems(path: Path, chain: Chain) -> None:
    if not chain.problems:
        return
    texts = []
    for line, text in chain.problems:
        texts.append(f"line {line}: {text}")
    none_is_authentic = not chain.records
    hint = " (or this is another ledger's key)" if none_is_authentic else ""
    raise LedgerError(
        f"{path}: the ledger is not as fairpool wrote it{hint}: {few(texts)}; put a true copy in"
        " its place, or find out who changed it"
    )
