"""What the page of a party shows of its own: what it sent, and what it received last."""

from dataclasses import dataclass
from datetime import datetime

from fairpool.server.web.pages.views import Action, Todo


@dataclass(frozen=True, kw_only=True)
class SubmissionCard:
    """A file that a party sent, and what was found in it."""

    id: str
    address: str
    file_name: str
    size: int
    state: str
    state_in_words: str
    tone: str
    created: datetime
    by: str | None = None
    rows: int | None = None
    left_out: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    more_columns: int = 0
    first_rows: tuple[tuple[str, ...], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    receipt: str | None = None
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LastTime:
    """What a party received in the last round, in short."""

    number: int
    share: str
    alone: str


@dataclass(frozen=True, kw_only=True)
class StandingCard:
    """A party in this round.

    Attributes:
        may_upload: Whether files are taken now.
        upload: Where they are sent.
        sends_sums: Whether these are contributions instead of tables.
        is_first: Whether nothing was sent so far.
        most: Bytes of one.
        suffixes: Of files that are offered for choosing.
        todos: What it has to do.
        submissions: What it sent.
        last: What it received last time.
    """

    may_upload: bool
    upload: str
    sends_sums: bool
    is_first: bool
    most: int
    suffixes: tuple[str, ...]
    todos: tuple[Todo, ...]
    submissions: tuple[SubmissionCard, ...]
    last: LastTime | None = None
