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
    is_superseded: bool = False


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
        plan: Where the plan is by which it sums up its rows; None: it sends these.
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
    plan: str | None
    most: int
    suffixes: tuple[str, ...]
    todos: tuple[Todo, ...]
    submissions: tuple[SubmissionCard, ...]
    last: LastTime | None = None

    @property
    def of_now(self) -> tuple[SubmissionCard, ...]:
        """What does not take part yet, and something is to be done about."""
        return tuple(
            one for one in self.submissions if one.state != "submitted" and not one.is_superseded
        )

    @property
    def taking_part(self) -> tuple[SubmissionCard, ...]:
        """What takes part."""
        return tuple(one for one in self.submissions if one.state == "submitted")

    @property
    def superseded(self) -> tuple[SubmissionCard, ...]:
        """What could not be used, and was followed by something else."""
        return tuple(one for one in self.submissions if one.is_superseded)
