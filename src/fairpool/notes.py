"""What a stage noticed, as a value.

Results carry notes from learning to the letter, and no code reads sentences.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from fairpool.errors import FairpoolWarning, printable


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something that the reader of a result should know.

    Attributes:
        code: What kind of thing it is, for code that decides by it.
        party: Whom it is about; None: everybody.
        text: The same in words, for people, in one line: names out of a file are in it as
            `printable` shows them.
    """

    code: str
    party: str | None = None
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))


def notes_of(code: str, texts: Iterable[str]) -> list[Note]:
    """Notes of one kind that are about everybody."""
    return [Note(code=code, text=text) for text in texts]


def texts_of(notes: Iterable[Note]) -> tuple[str, ...]:
    """The notes in words."""
    return tuple(note.text for note in notes)


def warn_of(notes: Iterable[Note], stacklevel: int = 3) -> None:
    """Warn of notes, by default whoever called the function that calls this one.

    Only functions that users call do that: warnings are global to a process, and two runs in two
    threads would hear each other's.
    """
    for note in notes:
        warnings.warn(note.text, FairpoolWarning, stacklevel=stacklevel)
