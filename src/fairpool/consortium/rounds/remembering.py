"""What is remembered of a party's rows, read from its files: the same in every round.

All rounds use the columns and scales of the first one, also after a model was learned anew, so
that rows of any two can be compared.
"""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.audit.known_rows import KnownRows, with_few_digits
from fairpool.audit.sketches import MOST_INPUTS, Folding, Sketch
from fairpool.columns import COLUMNS, Column
from fairpool.columns.rules import as_numbers
from fairpool.compute.workers import Progress
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.rounds.context import RoundContext, read_agreement
from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.sample import row_keys
from fairpool.consortium.surveys import Survey, scrambled
from fairpool.consortium.tables import Place
from fairpool.encoding import TableEncoding
from fairpool.keyed_noise.identity import row_digests
from fairpool.keyed_noise.secret import Secret
from fairpool.tables.arrays import FloatArray

TEXT_COORDINATES = 2
"""So many coordinates at least are of texts, where there are that many columns of them."""

UNIT_SPREAD = 12.0**0.5
"""Makes the standard deviation of a uniform variable 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Remembering:
    """How a row becomes what is remembered of it.

    Attributes:
        first: The columns and scales of the first round.
        now: Those of today, which say which rows are complete.
        ids: The columns that name a row, if rows are known by them.
        share: The share of rows of which something is remembered.
    """

    first: TableEncoding
    now: TableEncoding
    ids: tuple[str, ...]
    share: float

    @cached_property
    def numbers(self) -> tuple[Column, ...]:
        """The input columns that come as numbers or dates."""
        return tuple(c for c in self.first.columns if COLUMNS[c.kind].read_as in ("number", "date"))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All other input columns."""
        numbers = {column.name for column in self.numbers}
        return tuple(c.name for c in self.first.columns if c.name not in numbers)

    @cached_property
    def foldings(self) -> tuple[Folding, Folding]:
        """How numbers become coordinates, and how texts do, apart from each other."""
        of_texts = min(len(self.texts), max(TEXT_COORDINATES, MOST_INPUTS - len(self.numbers)))
        features = []
        for column in self.numbers:
            features += [column.name] * len(column.features)
        return (
            Folding.of(features, most=MOST_INPUTS - of_texts),
            Folding.of(self.texts, most=max(of_texts, 1)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What the coordinates are called, the label last [k]."""
        names = []
        for folding in self.foldings:
            names += [" or ".join(members) for members in folding.members[:-1]]
        return (*names, self.first.target.name)

    @property
    def text_places(self) -> tuple[int, ...]:
        """Which of the coordinates are of texts."""
        of_numbers = len(self.foldings[0].members) - 1
        return tuple(range(of_numbers, len(self.names) - 1))

    def is_possible(self, survey: Survey) -> bool:
        """Whether files still have the columns of the first round, of the same kinds."""
        now = _read_as(self.now)
        first = _read_as(self.first)
        if any(now.get(name, read_as) != read_as for name, read_as in first.items()):
            return False
        wanted = {*first}
        for file in survey.source.files:
            if not wanted <= set(column_names(file, None, survey.source.delivery)):
                return False
        return True

    def reading(self, piece: Piece, survey: Survey) -> Reading:
        """A reading of all that is needed."""
        numbers = dict.fromkeys([*self.now.labelled_numbers, *self.first.labelled_numbers])
        texts = dict.fromkeys([*self.now.labelled_texts, *self.first.labelled_texts])
        texts |= dict.fromkeys(name for name in self.ids if name not in numbers)
        return Reading(
            piece=piece,
            numbers=tuple(numbers),
            texts=tuple(texts),
            dates=tuple(dict.fromkeys([*self.now.dates, *self.first.dates])),
            images=tuple(dict.fromkeys([*self.now.images, *self.first.images])),
            rules=self.first.rules | self.now.rules,
            delivery=survey.source.delivery,
        )

    def is_complete(self, table: pa.Table) -> NDArray[np.bool_]:
        """Which rows take part [m]."""
        seen = table.select([*self.now.labelled_numbers, *self.now.labelled_texts])
        return complete_rows(seen, imputed=self.now.imputed)

    def remember(
        self, table: pa.Table, noise: NDArray[np.uint64], *, party: str, secret: Secret
    ) -> KnownRows:
        """What is remembered of some complete rows, given a key of each one's noise [m]."""
        encoded = [np.empty((0, table.num_rows))]
        for column in self.numbers:
            block = np.empty((len(column.features), table.num_rows))
            column.encode(table[column.name], block)
            encoded.append(block)
        texts = np.empty((len(self.texts), table.num_rows))
        for place, name in enumerate(self.texts):
            texts[place] = text_numbers(table[name])
        raw = [as_numbers(table[column.name]) for column in self.numbers]
        y = self.first.encode_target(table)
        labels = y
        if self.first.target.type == pa.float64():
            labels = as_numbers(table[self.first.target.name])
        coarse = with_few_digits(np.nan_to_num(np.array([*raw, labels])))
        names = np.empty(0, np.uint64)
        if self.ids:
            ids = {name: table[name] for name in self.ids}
            names = row_digests(secret, party, ids)[:, 0]
        return KnownRows(
            sketch=self._sketch(np.concatenate(encoded), texts, y),
            labels=labels,
            coarse=row_keys(np.concatenate([coarse[:-1], texts]).T, coarse[-1]),
            names=names,
            noise=noise,
        )

    def _sketch(self, numbers: FloatArray, texts: FloatArray, y: FloatArray) -> Sketch:
        """Coordinates of numbers, of texts, and the label."""
        of_numbers, of_texts = self.foldings
        first = of_numbers.sketch(np.nan_to_num(numbers).T, y)
        second = of_texts.sketch(texts.T, y)
        return np.concatenate([first[:-1], second])


def _read_as(encoding: TableEncoding) -> dict[str, str]:
    """What every column comes as."""
    read_as = {column.name: COLUMNS[column.kind].read_as for column in encoding.columns}
    return read_as | {encoding.target.name: str(encoding.target.type)}


def text_numbers(column: pa.ChunkedArray) -> FloatArray:
    """Texts as numbers that look random, the same for texts that differ in case and blanks [m]."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    levels = [_number(value) for value in encoded.dictionary.to_pylist()]
    places = encoded.indices.fill_null(len(levels)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*levels, 0.0])[places])


def _number(value: str | bytes | None) -> float:
    if isinstance(value, str):
        value = " ".join(unicodedata.normalize("NFKC", value).casefold().split()).encode()
    digest = hashlib.blake2b(value or b"", digest_size=8).digest()
    return (int.from_bytes(digest, "big") / 2.0**64 - 0.5) * UNIT_SPREAD


def first_encoding(context: RoundContext, now: TableEncoding) -> TableEncoding:
    """The columns and scales of the first round; those of today, if this is the first."""
    if not context.history.rounds:
        return now
    digest = context.history.rounds[0].agreement
    if context.agreement is not None and digest == context.agreement_digest:
        return now
    return read_agreement(context.folder, digest).encoding


@dataclass(frozen=True, kw_only=True, eq=False)
class Remembered:
    """What is remembered of a party's rows.

    Attributes:
        rows: Of a share of the complete rows, or all.
        numbers: Which they are, counted from 0 among the complete ones [s].
    """

    rows: KnownRows
    numbers: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> KnownRows:
        """Of some of all complete rows [m]."""
        return self.rows.some(chosen[self.numbers])


def remember_rows(
    remembering: Remembering,
    survey: Survey,
    identities: Identities,
    *,
    party: str,
    secret: Secret,
    progress: Progress,
) -> Remembered:
    """Read a party's files, and keep little of each complete row.

    Args:
        remembering: How.
        survey: What was seen of the files before; refused if they no longer hold that.
        identities: Who the rows are.
        party: Its permanent identity.
        secret: Of the collaboration.
        progress: Called as rows are read.
    """
    several = [KnownRows.nothing(len(remembering.names))]
    numbers = [np.empty(0, np.int64)]
    passages = []
    total = survey.rows + survey.dropped
    done = 0
    read = 0
    for piece in Piece.of(survey.source.files):
        reading = remembering.reading(piece, survey)
        for batch in reading:
            complete = np.flatnonzero(remembering.is_complete(batch.columns))
            own = np.arange(done, done + len(complete))
            done += len(complete)
            # Rows that come again may stand elsewhere: chosen by chance, not by what they are.
            chosen = scrambled(own) <= np.uint64(min(remembering.share * 2.0**64, 2.0**64 - 2048))
            if chosen.any():
                table = batch.columns.take(pa.array(complete[chosen]))
                noise = identities.ids[own[chosen], 0]
                several.append(remembering.remember(table, noise, party=party, secret=secret))
                numbers.append(own[chosen])
            read += batch.columns.num_rows
            progress(f"remembering rows of {piece.file.name}", read, total)
        passages.append(reading.passage)
    refuse_changed(survey.source.owner, passages, survey.contents)
    return Remembered(rows=KnownRows.together(several), numbers=np.concatenate(numbers))


def place_of(remembering: Remembering, survey: Survey, number: int) -> Place:
    """Where a complete row is, counted from 0."""
    done = 0
    for piece in Piece.of(survey.source.files):
        for batch in remembering.reading(piece, survey):
            complete = np.flatnonzero(remembering.is_complete(batch.columns))
            if number < done + len(complete):
                return batch.place(int(complete[number - done]))
            done += len(complete)
    raise AssertionError(number)  # it was there a moment ago


def id_columns(columns: Sequence[str], encoding: TableEncoding) -> tuple[str, ...]:
    """The columns of kind "id" that rows are known by; none where they are known by inputs.

    Args:
        columns: What rows are known by.
        encoding: Which columns there are.
    """
    return encoding.ids if encoding.ids and set(encoding.ids) <= set(columns) else ()
