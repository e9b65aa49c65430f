"""How grave a note is: what to settle before anything is handed out comes first in a report."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from fairpool.audit.evidence_notes import DISPUTED, HARMS
from fairpool.notes import Note


class Gravity(Enum):
    """What a reader should do about a note, the gravest first."""

    SETTLE = "settle"
    LOOK = "look"
    KNOW = "know"


TITLES = {
    Gravity.SETTLE: "Settle this before anything is handed out",
    Gravity.LOOK: "Worth a look",
    Gravity.KNOW: "Good to know",
}

RELEASED_TITLE = "This was released although it is not settled"
"""Of the gravest notes of a round that was released already."""

ABOUT_RELEASED = (
    "If letters and models are still here, settle it before you hand them out. The release itself"
    " cannot be taken back: it stands in the ledger, and later rounds count it as handed out."
)
"""Below that title."""


SETTLED_FIRST = (
    HARMS,
    DISPUTED,
    "odd labels",
    "reward predicts worse",
    "nothing to give",
    "no promise",
    "no contribution",
    "conflict",
    "few rows",
    "identical files",
    "shared rows",
    "same sums",
    "other terms",
    "test rows in training",
)
"""Codes of what somebody may be wronged by, or what makes a promise void."""

KNOWN = (
    "dropped rows",
    "unused column",
    "constant column",
    "levels",
    "classes",
    "imputed values",
    "clipped values",
    "unit",
    "kept values changed",
    "not kept",
    "worker died",
    "scales not learned",
    "second look",
    "held rows not counted",
    "rows wait",
    "rows stand",
    "rows spent",
    "rows left",
)
"""Codes of what was done as configured or agreed, and of what only cost time.

All others may be errors, or may be as they should: they deserve a look.
"""


MOST_OF_A_KIND = 3
"""Of more notes of one kind the others are folded away: twenty that are alike hide the one that is
not.
"""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Notes of one kind.

    Attributes:
        texts: All of them in words.
    """

    texts: tuple[str, ...]

    @property
    def first(self) -> tuple[str, ...]:
        """Those that are shown at once."""
        return self.texts[:MOST_OF_A_KIND]

    @property
    def folded(self) -> tuple[str, ...]:
        """The others."""
        return self.texts[MOST_OF_A_KIND:]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Notes of one gravity.

    Attributes:
        gravity: What to do about them.
        kinds: The notes, kind by kind, in the order of each kind's first one.
        released: Whether the round that they are of was released.
    """

    gravity: Gravity
    kinds: tuple[Kind, ...]
    released: bool = False

    @property
    def title(self) -> str:
        """What stands above them."""
        if self.is_grave and self.released:
            return RELEASED_TITLE
        return TITLES[self.gravity]

    @property
    def advice(self) -> str:
        """What stands below the title; empty: that says all."""
        return ABOUT_RELEASED if self.is_grave and self.released else ""

    def __len__(self) -> int:
        return sum(len(kind.texts) for kind in self.kinds)

    @property
    def is_grave(self) -> bool:
        """Whether somebody may be wronged."""
        return self.gravity is Gravity.SETTLE

    @property
    def can_wait(self) -> bool:
        """Whether a reader may skip them."""
        return self.gravity is Gravity.KNOW


def gravity_of(note: Note) -> Gravity:
    """How grave a note is; one that nobody has ranked deserves a look."""
    if note.code in SETTLED_FIRST:
        return Gravity.SETTLE
    return Gravity.KNOW if note.code in KNOWN else Gravity.LOOK


def by_gravity(notes: Iterable[Note], *, released: bool = False) -> tuple[Group, ...]:
    """Notes in groups, the gravest first.

    Args:
        notes: What was noticed.
        released: Whether the round that they are of was released.
    """
    found: dict[Gravity, dict[str, list[str]]] = {gravity: {} for gravity in Gravity}
    for note in notes:
        found[gravity_of(note)].setdefault(note.code, []).append(note.text)
    groups = []
    for gravity, of_codes in found.items():
        if of_codes:
            kinds = tuple(Kind(texts=tuple(texts)) for texts in of_codes.values())
            groups.append(Group(gravity=gravity, kinds=kinds, released=released))
    return tuple(groups)
