"""What pages show: frozen records in the words of the page, which templates only put into place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fairpool.server.store.tables import Role


def initials_of(name: str) -> str:
    """One or two letters that stand for a name.

    >>> initials_of("Dr. Ada Maria King"), initials_of("ada"), initials_of("")
    ('DK', 'A', '?')
    """
    words = [word for word in name.split() if word[0].isalnum()]
    if not words:
        return "?"
    last = words[-1][0] if len(words) > 1 else ""
    return (words[0][0] + last).upper()


@dataclass(frozen=True, kw_only=True)
class Signed:
    """Who is signed in.

    Attributes:
        name: As others know this person.
        email: By which it signs in.
        form_token: What its forms carry.
    """

    name: str
    email: str
    form_token: str

    @property
    def initials(self) -> str:
        """One or two letters for the corner of the page."""
        return initials_of(self.name)


@dataclass(frozen=True, kw_only=True)
class Tab:
    """One of the pages of a collaboration."""

    key: str
    title: str
    address: str


TABS = {
    Role.OPERATOR: (
        ("round", "This round", ""),
        ("terms", "Terms", "/terms"),
        ("people", "People", "/people"),
        ("history", "History", "/history"),
    ),
    Role.PARTY: (
        ("round", "This round", ""),
        ("terms", "Terms", "/terms"),
        ("results", "Results", "/results"),
        ("people", "People", "/people"),
        ("visible", "What others see", "/visible"),
    ),
    Role.AUDITOR: (
        ("round", "Rounds", ""),
        ("terms", "Terms", "/terms"),
        ("ledger", "Ledger", "/ledger"),
        ("people", "People", "/people"),
    ),
}
"""Who has which pages: key, title, and what follows the collaboration's address."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What stands above all pages of a collaboration.

    Attributes:
        id: The collaboration's.
        name: The collaboration's.
        role: Of who looks.
        party: The name of the party that who looks belongs to.
    """

    id: str
    name: str
    role: Role
    party: str | None = None

    @property
    def address(self) -> str:
        """Of the first of its pages."""
        return f"/collaborations/{self.id}"

    @property
    def as_what(self) -> str:
        """What one is in it, in words."""
        if self.party is not None:
            return f"for {self.party}"
        return f"as its {self.role}"

    @property
    def tabs(self) -> tuple[Tab, ...]:
        """Its pages."""
        return tuple(
            Tab(key=key, title=title, address=self.address + more)
            for key, title, more in TABS[self.role]
        )


@dataclass(frozen=True, kw_only=True)
class CollaborationTile:
    """A collaboration among others."""

    name: str
    address: str
    as_what: str
    standing: str
    tone: str = ""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a round: done, now, or ahead."""

    title: str
    state: str


@dataclass(frozen=True, kw_only=True)
class RoundLine:
    """Where a round stands."""

    number: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something that can be done now: a form with one button, or a link."""

    text: str
    address: str
    tone: str = ""
    is_form: bool = True
    is_file: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """The one thing to do now, or what is being waited for.

    Attributes:
        eyebrow: Whose turn it is, in some words.
        title: What to do.
        texts: Why, and what comes of it.
        actions: How.
        tone: "": do it; "calm": nothing to do; "alarm": something went wrong.
    """

    eyebrow: str
    title: str
    texts: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    tone: str = ""


@dataclass(frozen=True, kw_only=True)
class JobLine:
    """A job that is at work, as its page follows it."""

    events: str
    stage: str
    done: int
    total: int | None
    is_active: bool


@dataclass(frozen=True, kw_only=True)
class Todo:
    """Something that a party has to do: done, lacking or refused."""

    text: str
    state: str
    when: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class PartyLine:
    """A party in the operator's list of who has done what."""

    name: str
    todos: tuple[Todo, ...]
    has_agreed: bool

    @property
    def is_ready(self) -> bool:
        """Whether nothing is lacking."""
        return all(todo.state == "done" for todo in self.todos)

    @property
    def refused(self) -> bool:
        """Whether it sent something that cannot be used."""
        return any(todo.state == "refused" for todo in self.todos)


@dataclass(frozen=True, kw_only=True)
class EventLine:
    """Something that happened."""

    time: datetime
    who: str
    text: str
