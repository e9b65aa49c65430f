"""What a party sends, what was found in it, and what is asked of the party."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

CHECKING = "checking"
SUBMITTED = "submitted"
"""States of a submission: not looked at yet, and taking part."""

OPEN = "open"
"""The state of a round that takes something."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A file that one's own party sent.

    Attributes:
        id: Its identity.
        name: What it is called.
        state: "checking", "refused", "checked", "submitted" or "withdrawn".
        round: For which round it came.
        bytes: How many it has; None: it is erased.
        sha256: Of the file.
        created: When it came.
        decided: When it was submitted or withdrawn.
        rows: How many it has, once it was looked at.
        problems: How many there are, once it was looked at.
    """

    id: str
    name: str
    state: str
    round: int
    bytes: int | None
    sha256: str | None
    created: datetime
    decided: datetime | None
    rows: int | None
    problems: int | None


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found in a file.

    Attributes:
        problems: All that is wrong, the worst first; empty: it can take part.
        notes: What is good to know.
        kind: "rows" or "sums"; empty: nothing could be read.
        rows: Complete ones.
        left_out: Others, which do not count.
        columns: The names of a table's columns.
        first: Its first rows, as texts.
        table: Of each column that is used, what values it has.
        words: Of a contribution, entry by entry.
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    kind: str = ""
    rows: int = 0
    left_out: int = 0
    columns: tuple[str, ...] = ()
    first: tuple[tuple[str, ...], ...] = ()
    table: tuple[dict[str, Any], ...] = ()
    words: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Looked(Submission):
    """The same, with what was found.

    Attributes:
        found: What was found; None: nobody has looked yet, or it is erased.
    """

    found: Found | None


@dataclass(frozen=True, kw_only=True)
class Task:
    """Something that a party or the operator has to do, or has done.

    Attributes:
        code: What it is, for programs.
        party_id: Whose it is; None: the operator's.
        party: The same in words.
        text: What it is, in words.
        is_done: Whether it is done.
        blocks: Whether the round waits for it.
    """

    code: str
    party_id: str | None
    party: str
    text: str
    is_done: bool
    blocks: bool


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where one's own party stands.

    Attributes:
        party: What it is called.
        round: The newest round; None: there is none yet.
        state: Of that round.
        terms: The digest of those in force; None: there are none yet.
        takes_part: Whether it is a party of these terms.
        has_accepted: Whether it accepted them.
        next: What to do next; None: nothing now.
        tasks: All that is asked of it.
        sent: What it sent for the newest round, the newest first.
        having: What takes part, of all that it ever sent.
    """

    party: str
    round: int | None
    state: str | None
    terms: str | None
    takes_part: bool
    has_accepted: bool
    next: Task | None
    tasks: tuple[Task, ...]
    sent: tuple[Submission, ...]
    having: tuple[Submission, ...]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What somebody can see of one's own party.

    Attributes:
        by: Who.
        what: What, in sentences.
    """

    by: str
    what: tuple[str, ...]
