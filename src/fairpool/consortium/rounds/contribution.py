"""What one party contributes to a round, and what the operator is told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.re_exports import Recognition
from fairpool.consortium.surveys import Survey
from fairpool.notes import Note
from fairpool.parties import ClassSummary, NoisySummary, PartyData, PartySummary
from fairpool.parties.rough_counts import roughly
from fairpool.rounds.party_batches import Assignment


@dataclass(frozen=True, kw_only=True, eq=False)
class Contribution:
    """One party's contribution to a round.

    Attributes:
        id: The party's permanent identity.
        survey: Its files.
        identities: Who its rows are.
        assignment: Which of them take part.
        parts: What each part that takes part is, as the model learns from it.
        arrays: The same, to be kept.
        data: All of them together.
        present: Those of them that are still there; None: all are, or nothing is summed up.
        recognition: What its rows are beside those of earlier rounds.
        stands_out: Whether new rows wait since one of them would stand out among them.
    """

    id: str
    survey: Survey
    identities: Identities
    assignment: Assignment
    parts: Mapping[str, PartyData] = field(repr=False)
    arrays: Mapping[str, Arrays] = field(repr=False)
    data: PartyData = field(repr=False)
    present: PartySummary | ClassSummary | None = field(default=None, repr=False)
    recognition: Recognition = field(default_factory=Recognition)
    stands_out: bool = False

    @property
    def groups(self) -> NDArray[np.signedinteger]:
        """For each row, the place of its part; -1: it waits."""
        return self.assignment.groups

    def notes(self) -> list[Note]:
        """What the operator should know: who waits, and what left."""
        notes = [*self.recognition.notes]
        if self.assignment.waiting:
            notes.append(self._note("rows wait", self._waiting_rows()))
        if self.assignment.gone:
            notes.append(self._note("rows stand", self._standing_rows()))
        if self.spent_rows:
            notes.append(self._note("rows spent", self._spent_rows_in_words()))
        if self.assignment.left:
            notes.append(self._note("rows left", self._rows_that_left()))
        return notes

    @property
    def is_noisy(self) -> bool:
        """Whether its numbers of rows have noise, which its party has put on them."""
        return isinstance(self.data, NoisySummary)

    @property
    def spent_rows(self) -> int:
        """How many rows count, and are in no new file."""
        parts = self.assignment.batches.parts
        return sum(len(parts[part]) for part in self.assignment.spent_parts)

    def _rows(self, count: int) -> str:
        """So many of its rows, at the beginning of a note."""
        return f'{roughly(self.is_noisy)}{count} row(s) of "{self.data.name}"'

    def _note(self, code: str, text: str) -> Note:
        return Note(code=code, party=self.data.name, text=text)

    def _waiting_rows(self) -> str:
        why = (
            f"a batch needs {self.assignment.fewest} that were never released, since files with"
            " few rows more or less than before would tell these"
        )
        if self.stands_out:
            why = (
                "the label of one of them is so far from what others predict that it would be"
                " located among so few (look whether it is right), or too many of them have the"
                " same inputs, and hide each other no better than one row does"
            )
        return f"{self._rows(self.assignment.waiting)} wait until enough new ones come: {why}"

    def _standing_rows(self) -> str:
        return (
            f"{self._rows(self.assignment.gone)} are gone, and still count: they"
            " were released together with others, and all of these stand as they were until"
            f" {self.assignment.fewest} rows have come, or as many have gone; to take them out at"
            f" once, with the rows beside them: fairpool erase --withdrawn --party {self.id}"
        )

    def _spent_rows_in_words(self) -> str:
        return (
            f"{self._rows(self.spent_rows)} were in as many files as so few rows"
            " may be: every further one would tell more of each, so that they count and are in no"
            f" new file; they are again with the next {self.assignment.fewest} rows that are new;"
            " fewer weights or inducing points would allow more files, and so would colluding, if"
            " not all parties would put their files together"
        )

    def _rows_that_left(self) -> str:
        return (
            f"{self._rows(self.assignment.withdrawn)} are gone since the last"
            f" round, and with them {len(self.assignment.left)} batch(es) of rows that were"
            " released together; the other rows of these return with the next batch"
        )
