"""Rounds, what is computed for them, and what an auditor finds."""

from dataclasses import dataclass
from datetime import datetime

from fairpool.client.records.sending import Task

DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
"""States of a job that has ended."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """Where a round stands.

    Attributes:
        number: Which, from 1.
        state: "open", "closed", "computing", "previewed", "releasing" or "released".
        opened: When it began.
        closed: When it was closed.
        released: When it was released.
        head: What its letters and files carry, once it is released.
        preview: The job of the preview that can be released; operators see it.
    """

    number: int
    state: str
    opened: datetime
    closed: datetime | None
    released: datetime | None
    head: str | None
    preview: str | None


@dataclass(frozen=True, kw_only=True)
class Job:
    """How far a job is.

    Attributes:
        id: Its identity.
        kind: What it does.
        state: "queued", "running", "done", "failed" or "cancelled".
        stage: What is being done.
        done: How much of that.
        total: Of how much; None: nobody knows.
        is_cancelled: Whether somebody wants it stopped.
        is_final: Whether it can no longer be stopped.
        problem: Why it failed, and what to do.
        created: When it was asked for.
        started: When it began.
        ended: When it ended.
    """

    id: str
    kind: str
    state: str
    stage: str
    done: int
    total: int | None
    is_cancelled: bool
    is_final: bool
    problem: str | None
    created: datetime
    started: datetime | None
    ended: datetime | None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in (DONE, FAILED, CANCELLED)


@dataclass(frozen=True, kw_only=True)
class Checklist:
    """Who must do what before a round can be closed.

    Attributes:
        round: Which; None: there is none yet.
        state: Where it stands.
        ready_to_close: Whether it can be closed.
        why_not: What keeps it open.
        tasks: All of them.
    """

    round: int | None
    state: str | None
    ready_to_close: bool
    why_not: tuple[str, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, kw_only=True)
class AuditLine:
    """What was compared, and what was found.

    Attributes:
        about: What.
        answer: "verified", "cannot be verified" or "FALSE".
        text: In words.
    """

    about: str
    answer: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What came of computing a released round anew.

    Attributes:
        round: Which.
        release: The hash of the release's record in the ledger.
        findings: Line by line.
    """

    round: int
    release: str
    findings: tuple[AuditLine, ...]


@dataclass(frozen=True, kw_only=True)
class SignedAudit:
    """That an auditor's signed findings are kept.

    Attributes:
        round: Of which round.
        time: Since when.
    """

    round: int
    time: datetime
