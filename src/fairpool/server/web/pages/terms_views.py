"""What the pages of terms and of a round's end show."""

from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher

ALIKE = 0.4
"""Texts with fewer words in common are shown as a whole, one after the other."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One of the terms, in plain words."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Words that stayed, went or came: "same", "gone" or "new"."""

    kind: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """What is not as it was."""

    title: str
    pieces: tuple[Piece, ...]

    @classmethod
    def between(cls, title: str, before: str, after: str) -> "Change":
        """From one text to another, word by word; one of the two may be empty.

        >>> [piece.text for piece in Change.between("rho", "rho is 0.5", "rho is 0.7").pieces]
        ['rho is', '0.5', '0.7']
        """
        old, new = before.split(), after.split()
        matcher = SequenceMatcher(a=old, b=new, autojunk=False)
        if matcher.ratio() < ALIKE:
            pieces = [Piece(kind="gone", text=before), Piece(kind="new", text=after)]
            return cls(title=title, pieces=tuple(piece for piece in pieces if piece.text))
        pieces = []
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind == "equal":
                pieces.append(Piece(kind="same", text=" ".join(old[a:b])))
                continue
            if b > a:
                pieces.append(Piece(kind="gone", text=" ".join(old[a:b])))
            if d > c:
                pieces.append(Piece(kind="new", text=" ".join(new[c:d])))
        return cls(title=title, pieces=tuple(pieces))


@dataclass(frozen=True, kw_only=True)
class TermsCard:
    """Terms that were proposed, in plain words.

    Attributes:
        version: Counted from 1.
        digest: Of the document.
        proposed: When.
        facts: What is agreed, one by one.
        shows: What becomes known, and to whom.
        toml: The same as collaboration.toml, without anybody's data.
        document: Where all of it is, signed.
        plan: Where the plan is by which parties sum up their rows; None: all send rows.
    """

    version: int
    digest: str
    proposed: datetime
    facts: tuple[Fact, ...]
    shows: tuple[str, ...]
    toml: str
    document: str
    plan: str | None


@dataclass(frozen=True, kw_only=True)
class EarlierTerms:
    """Terms that are no longer in force."""

    version: int
    proposed: datetime
    document: str


@dataclass(frozen=True, kw_only=True)
class DraftCard:
    """A draft as it would be proposed."""

    facts: tuple[Fact, ...]
    shows: tuple[str, ...]
    problems: tuple[str, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, kw_only=True)
class AcceptanceLine:
    """Whether a party accepted the terms in force."""

    party: str
    time: datetime | None = None
    person: str | None = None
    document: str | None = None
