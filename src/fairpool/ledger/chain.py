"""A ledger's lines, read one by one: which of them are authentic, and in their place.

Every line is judged by itself (can it be read, is its seal right), and then by its place: its
number, and the hash that it has of the line before. A line that is bad in itself is one problem,
not two: the next one, which cannot match it, is not blamed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from fairpool.errors import LedgerError
from fairpool.ledger.record import LONGEST_LINE, NOTHING_BEFORE, Record, is_authentic, parse

Problem = tuple[int, str]
"""A line's number, counted from 1 (0: the file itself), and what is wrong there."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """What a ledger's file holds.

    Attributes:
        records: Those that can be read and are authentic (without a key: that can be read), in the
            file's order.
        problems: What is wrong, by line.
        torn: Whether the last line has no end.
        ends_whole: Whether this line is a whole record all the same, and among `records`.
        whole_size: The bytes of all lines that have an end.
        size: The bytes of the file.
        digest: SHA-256 of all of them.
    """

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    torn: bool
    ends_whole: bool
    whole_size: int
    size: int
    digest: str

    @property
    def head(self) -> str:
        """The hash of the last record."""
        if not self.records:
            return NOTHING_BEFORE
        return self.records[-1].hash


def read_chain(file: BinaryIO, mac_key: bytes | None) -> Chain:
    """Read all lines; nothing in them is an error, and every problem is listed.

    Args:
        file: A ledger, open at its beginning.
        mac_key: The ledger's key; None: whether lines are authentic is not asked.
    """
    digest = hashlib.sha256()
    walk = _Walk(mac_key=mac_key)
    whole_size = 0
    rest = b""
    for line, size in _lines(file, digest):
        if line.endswith(b"\n"):
            walk.take(line)
            whole_size += size
        else:
            rest = line
    ends_whole = bool(rest) and walk.take_unended(rest)
    return Chain(
        records=tuple(walk.records),
        problems=tuple(walk.problems),
        torn=bool(rest),
        ends_whole=ends_whole,
        whole_size=whole_size,
        size=file.tell(),
        digest=digest.hexdigest(),
    )


def _lines(file: BinaryIO, digest: "hashlib._Hash") -> Iterator[tuple[bytes, int]]:
    """Every line and its size; of one that is too long no more than that is kept."""
    while line := file.readline(LONGEST_LINE + 1):
        digest.update(line)
        size = len(line)
        piece = line
        while len(piece) > LONGEST_LINE and not piece.endswith(b"\n"):
            piece = file.readline(LONGEST_LINE + 1)
            digest.update(piece)
            size += len(piece)
            if piece.endswith(b"\n"):
                line += b"\n"
        yield line, size


@dataclass(kw_only=True)
class _Walk:
    """From line to line: what was found, and what must come next.

    Attributes:
        mac_key: The ledger's key, or None.
        lines: How many were taken.
        expected: The number that the next record should have.
        bad: How many lines since the last good one are bad in themselves; nobody knows whether they
            stand in the place of records or between them.
        head: The hash of the last good record.
    """

    mac_key: bytes | None = field(repr=False)
    records: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lines: int = 0
    expected: int = 1
    bad: int = 0
    head: str = NOTHING_BEFORE

    def take(self, line: bytes) -> None:
        self.lines += 1
        try:
            record = parse(line)
        except LedgerError as error:
            self._blame(f"the line cannot be read: {error}")
            self.bad += 1
            return
        if not self._is_authentic(record):
            self._blame("the line is not authentic: changed, or written without the ledger's key")
            self.bad += 1
            return
        self.records.append(record)
        self._place(record)

    def take_unended(self, rest: bytes) -> bool:
        """Take a last line without an end, if it is whole all the same.

        Some editors leave the last newline out; and a process may have been killed just there.
        """
        if self._continues(rest + b"\n"):
            self.take(rest + b"\n")
            return True
        # A kill leaves less of a line than this, never something else in place of its end.
        if self._continues(rest[:-1] + b"\n"):
            self.lines += 1
            self._blame("the end of the line was changed")
        return False

    def _continues(self, line: bytes) -> bool:
        try:
            record = parse(line)
        except LedgerError:
            return False
        is_next = record.number == self.expected and record.previous == self.head
        return is_next and self._is_authentic(record)

    def _is_authentic(self, record: Record) -> bool:
        return self.mac_key is None or is_authentic(record, self.mac_key)

    def _blame(self, text: str) -> None:
        self.problems.append((self.lines, text))

    def _place(self, record: Record) -> None:
        where = f"the line is record {record.number}, where record {self.expected} should stand"
        if record.number < self.expected:
            # The records around it may well follow each other, so they are compared without it.
            self._blame(f"{where}: it was moved or repeated")
            return
        if record.number > self.expected + self.bad:
            self._blame(f"{where}: what belongs in between was cut out or moved")
        elif record.number == self.expected and record.previous != self.head:
            before = self._before()
            self._blame(f"the line does not continue {before}: one of them was changed or replaced")
        self.expected = record.number + 1
        self.bad = 0
        self.head = record.hash

    def _before(self) -> str:
        if self.expected == 1:
            return "an empty ledger"
        return f"record {self.expected - 1}"
