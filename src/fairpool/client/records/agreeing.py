"""What is agreed: drafts, terms, acceptances."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What the next terms are made of.

    Attributes:
        toml: The text.
        problems: What keeps it from being proposed.
        told: What the service changed in it, and why.
    """

    toml: str
    problems: tuple[str, ...]
    told: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Begun(Draft):
    """A collaboration that was begun, and its draft.

    Attributes:
        id: Its identity.
        name: What it is called.
    """

    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Terms that were proposed.

    Attributes:
        version: Which ones, from 1.
        digest: The SHA-256 of their signed document.
        is_in_force: Whether they are the newest.
        proposed: When.
        words: What is agreed, by what it is about.
        discloses: What who learns of whom.
        parties: Their ids, names and keys.
        has_plan: Whether parties make contributions by a plan.
    """

    version: int
    digest: str
    is_in_force: bool
    proposed: datetime
    words: dict[str, str]
    discloses: tuple[str, ...]
    parties: tuple[dict[str, str | None], ...]
    has_plan: bool


@dataclass(frozen=True, kw_only=True)
class Change:
    """What terms say otherwise than those before.

    Attributes:
        what: Which entry; empty: a sentence on what is disclosed.
        before: What it was; empty: it is new.
        after: What it is; empty: it is gone.
    """

    what: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """That a party accepted terms.

    Attributes:
        id: Its identity.
        version: Of the terms.
        terms: Their digest.
        party: Which party.
        person: Who did it.
        time: When.
        ended: Since when it does not count, as all who were the party's people are gone; None: it
            counts.
    """

    id: str
    version: int
    terms: str
    party: str
    person: str
    time: datetime
    ended: datetime | None
