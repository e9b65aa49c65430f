"""What the auditor's pages show."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class RecordLine:
    """A record of the ledger; its time is ISO 8601 in UTC."""

    number: int
    time: str
    text: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class LedgerCard:
    """The ledger.

    Attributes:
        problems: What is not as it was written, in it and in the files that it tells of.
        records: All of them.
        file: Where to save it; None: it cannot be read.
    """

    problems: tuple[str, ...]
    records: tuple[RecordLine, ...]
    file: str | None


@dataclass(frozen=True, kw_only=True)
class AuditLine:
    """What was compared, and what was found."""

    about: str
    answer: str
    text: str
    tone: str


@dataclass(frozen=True, kw_only=True)
class AuditedRound:
    """A released round, as an auditor works on it.

    Attributes:
        number: Of the round.
        released: When.
        by: Whom.
        head: What all its letters carry.
        recompute: Where it is computed anew.
        sign: Where what was signed is sent.
        copy: Where all that an audit needs is saved.
        document: Where what was signed is saved; None: nothing was signed.
        signed: When.
        lines: What was found just now.
        commands: That do the same at home.
    """

    number: int
    released: datetime
    by: str
    head: str
    recompute: str
    sign: str
    copy: str
    document: str | None
    signed: datetime | None
    lines: tuple[AuditLine, ...]
    commands: tuple[str, ...]

    def count(self, answer: str) -> int:
        """How many lines have an answer."""
        return sum(line.answer == answer for line in self.lines)
