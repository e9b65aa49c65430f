"""Whether a ledger is as it was written: every problem, in words, by line."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairpool.errors import shown
from fairpool.ledger.chain import Chain, Problem, read_chain
from fairpool.ledger.opening import opened, reason_of
from fairpool.ledger.record import NOTHING_BEFORE, Record, check_mac_key, is_hash

AUTHORS_UNKNOWN = (
    "without the key only the chain of hashes was checked, not who wrote the lines: anybody can"
    " write such a chain"
)
TORN = (
    "the last line has no end: a run was killed, or the power failed, as it was written; the next"
    " run puts that right"
)
ANOTHER_KEY = "no line is authentic: perhaps the key is another ledger's"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was found in a ledger.

    Attributes:
        records: Those that can be read and are authentic (without a key: that can be read).
        head: The hash of the last of them.
        problems: What is wrong: a line's number, counted from 1 (0: the file itself), and a text.
        notes: What is no problem, but should be known: what could not be checked, a line that a
            killed run has left.
    """

    records: tuple[Record, ...]
    head: str
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(path: Path, mac_key: bytes | None, heads: Sequence[str] = ()) -> Verification:
    """Check a ledger's file, which is only read; nothing in it is an error.

    Args:
        path: The file.
        mac_key: The ledger's key; None, as when it is lost: the chain alone is checked.
        heads: Heads of the ledger that letters or files carry: each must be in it.
    """
    path = Path(path)
    if mac_key is not None:
        check_mac_key(mac_key)
    try:
        with (
            opened(path, os.O_RDONLY) as descriptor,
            os.fdopen(descriptor, "rb", closefd=False) as file,
        ):
            chain = read_chain(file, mac_key)
    except OSError as error:
        problem = (0, f"{path}: the ledger cannot be read: {reason_of(error)}")
        return Verification(records=(), head=NOTHING_BEFORE, problems=(problem,), notes=())
    return Verification(
        records=chain.records,
        head=chain.head,
        problems=chain.problems + _lost_heads(chain.records, heads),
        notes=_notes(chain, mac_key),
    )


def _lost_heads(records: Sequence[Record], heads: Sequence[str]) -> tuple[Problem, ...]:
    """Heads that no record has: what they stood for was cut off or replaced."""
    numbers = {NOTHING_BEFORE: 0}
    for record in records:
        numbers[record.hash] = record.number
    last_confirmed = max((numbers.get(head, 0) for head in heads), default=0)
    after = f"record {last_confirmed}" if last_confirmed else "its beginning"
    problems = []
    for head in heads:
        if not is_hash(head):
            problems.append((0, f"{shown(head)} is no head of a ledger: 64 hexadecimal digits"))
        elif head not in numbers:
            text = (
                f"no record has the head {head[:12]}.. that a letter or a file carries: the ledger"
                f" was cut or replaced after {after}"
            )
            problems.append((last_confirmed + 1, text))
    return tuple(problems)


def _notes(chain: Chain, mac_key: bytes | None) -> tuple[str, ...]:
    notes = []
    if mac_key is None:
        notes.append(AUTHORS_UNKNOWN)
    elif chain.problems and not chain.records:
        notes.append(ANOTHER_KEY)
    if chain.torn:
        notes.append(TORN)
    return tuple(notes)
