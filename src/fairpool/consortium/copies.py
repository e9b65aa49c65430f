"""Near copies among the rows of files: what is found, where, and what a party is told of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.audit import NearCopies, copy_notes, duplicates_of_keys, near_copies_of
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.learning import Learning
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Batch, Place
from fairpool.encoding import TableEncoding
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Copies:
    """Rows that nearly agree, and where.

    Attributes:
        near: What was found, rows by their number among those compared.
        share: The share of rows that were compared.
        notes: The same for the operator, with file and line of an example.
    """

    near: NearCopies
    share: float
    notes: tuple[Note, ...]

    def told(self, party: int) -> Iterator[str]:
        """What a party's letter says, sentence by sentence: of its own rows alone.

        Of rows that others have, too, the operator alone is told: a party could otherwise send rows
        that it guessed, each so many times, and read in the count which of them somebody has.
        """
        for repeated in self.near.repeated:
            if repeated.party == party:
                words = repeated.alteration.words("in the later row")
                yield (
                    f"{repeated.rows:,} of your rows agree with others of your own {words}. Copies"
                    " tell nothing new; please look whether they are meant."
                )


def look_for_copies(learning: Learning) -> Copies:
    """Compare the rows that were kept of every party's files; read few of them again."""
    preparation = learning.preparation
    rows = [
        _RowsOfFiles(survey=survey, encoding=preparation.encoding, numbers=sample.sketch.numbers)
        for survey, sample in zip(preparation.parties, learning.samples, strict=True)
        if sample.sketch is not None
    ]
    names = [party.name for party in learning.parties]
    near = near_copies_of(
        [sample.sketch.coordinates for sample in learning.samples if sample.sketch is not None],
        names,
        columns=_columns(preparation.encoding),
        lookup=lambda party, chosen: rows[party].look_up(chosen),
    )
    duplicates = duplicates_of_keys(
        names, [sample.keys for sample in learning.samples], learning.seen
    )
    notes = copy_notes(
        near,
        duplicates,
        where=lambda party, row: str(rows[party].places[row]),
        seen=learning.sketched,
    )
    return Copies(near=near, share=learning.sketched, notes=tuple(notes))


def _columns(encoding: TableEncoding) -> tuple[str, ...]:
    """All columns, the target last."""
    return (*(column.name for column in encoding.columns), encoding.target.name)


@dataclass(eq=False)
class _RowsOfFiles:
    """Rows of a party's files, read again; not frozen, since it remembers where they were."""

    survey: Survey
    encoding: TableEncoding
    numbers: NDArray[np.int64]
    places: dict[int, Place] = field(default_factory=dict)

    def look_up(self, chosen: NDArray[np.intp]) -> FloatArray:
        """Rows in the collaboration's units [s, c], by their number among those compared."""
        wanted = self.numbers[chosen]
        tables = []
        for batch, rows in self._found(wanted):
            tables.append(_as_numbers(batch.columns.take(rows), _columns(self.encoding)))
            for row in rows:
                self.places[int(chosen[len(self.places)])] = batch.place(int(row))
        return np.concatenate(tables)

    def _found(self, wanted: NDArray[np.int64]) -> Iterator[tuple[Batch, NDArray[np.intp]]]:
        """Batches, and which of their rows are wanted."""
        done = 0
        for file in self.survey.source.files:
            reading = Reading.labelled(Piece(file=file), self.encoding, self.survey.source.delivery)
            for batch in reading:
                complete = np.flatnonzero(
                    complete_rows(batch.columns, imputed=self.encoding.imputed)
                )
                here = wanted[(wanted >= done) & (wanted < done + len(complete))] - done
                done += len(complete)
                if len(here):
                    yield batch, complete[here]
            refuse_changed(self.survey.source.owner, [reading.passage], self.survey.contents)


def _as_numbers(table: pa.Table, columns: Sequence[str]) -> FloatArray:
    """Columns as numbers [s, c]; a text or image is any number that equal ones have in common."""
    numbers = np.zeros((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        values = table[name].to_pylist()
        if pa.types.is_string(table[name].type):
            values = [crc32((value or "").encode()) for value in values]
        elif pa.types.is_large_binary(table[name].type):
            values = [crc32(value or b"") for value in values]
        numbers[:, place] = np.array(values, dtype=np.float64)
    # What is missing is the same everywhere.
    return np.nan_to_num(numbers)
