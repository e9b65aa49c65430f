"""Who each row is: a keyed hash of party, inputs and label, the same in every round.

The secret stays in this process: rows are identified here, whoever else computes.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.compute.workers import Progress
from fairpool.consortium.contents import refuse_changed
from fairpool.consortium.heads import column_names
from fairpool.consortium.intake import complete_rows
from fairpool.consortium.reading import Piece, Reading
from fairpool.consortium.rounds.gathered import Gathered
from fairpool.consortium.surveys import Survey
from fairpool.encoding import TableEncoding
from fairpool.keyed_noise.identity import row_digests, row_ids
from fairpool.keyed_noise.secret import Secret
from fairpool.rounds.row_keys import Keys, keys_of

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, kw_only=True, eq=False)
class Identities:
    """The complete rows of a party's files, by who they are.

    Attributes:
        columns: What they are known by, besides the party.
        pieces: What was read, in order.
        sizes: How many complete rows each piece has.
        ids: Of all rows, in order [m, 2]: whoever has the same has the same noise on its label.
        members: By what batches know them [m, 2]. The same, but where an id stands for the inputs:
            a row whose inputs were corrected keeps its noise, and is another row in every sum.
        names: A key of what names each row, its label aside [m]; None: nobody asked for it, or rows
            are known by their inputs.
    """

    columns: tuple[str, ...]
    pieces: tuple[Piece, ...]
    sizes: tuple[int, ...]
    ids: NDArray[np.uint64]
    members: NDArray[np.uint64]
    names: NDArray[np.uint64] | None = None

    @cached_property
    def keys(self) -> Keys:
        """By what batches know the rows, as one value each [m]."""
        return keys_of(self.members)

    def by_piece(self, values: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """Values of all rows, one array for each piece."""
        return np.split(values, np.cumsum(self.sizes)[:-1])


def identify(
    survey: Survey,
    encoding: TableEncoding,
    *,
    party: str,
    secret: Secret,
    progress: Progress,
    named: bool = False,
) -> Identities:
    """Read a party's files, and tell who each complete row is.

    Args:
        survey: What was seen of the files before; refused if they no longer hold that.
        encoding: Which columns there are.
        party: Its permanent identity.
        secret: Of the collaboration.
        progress: Called as rows are read.
        named: Whether to tell what names each row, too.
    """
    columns = identity_columns(survey, encoding)
    with_inputs = tuple(dict.fromkeys([*columns, *(column.name for column in encoding.columns)]))
    pieces = Piece.of(survey.source.files)
    sizes = []
    total = survey.rows + survey.dropped
    digests = Gathered(total, np.empty((0, 2), np.uint64))
    digests_with_inputs = Gathered(total, np.empty((0, 2), np.uint64))
    is_named = named and bool(encoding.ids) and columns[:-1] == encoding.ids
    names = Gathered(total, np.empty(0, np.uint64))
    passages = []
    done = 0
    for piece in pieces:
        reading = _reading(piece, survey, encoding, columns)
        complete = 0
        for batch in reading:
            table = _complete(batch.columns, encoding)
            if table.num_rows:
                cells = _cells(table, with_inputs, encoding)
                known_by = {name: cells[name] for name in columns}
                digests.add(row_digests(secret, party, known_by))
                if is_named:
                    naming = {name: cells[name] for name in encoding.ids}
                    names.add(row_digests(secret, party, naming)[:, 0])
                if with_inputs != columns:
                    digests_with_inputs.add(row_digests(secret, party, cells))
            complete += table.num_rows
            done += batch.columns.num_rows
            progress(f"recognising rows of {piece.file.name}", done, total)
        passages.append(reading.passage)
        sizes.append(complete)
    refuse_changed(survey.source.owner, passages, survey.contents)
    ids = row_ids(secret, digests.rows)
    del digests  # of millions of rows, what is not needed any longer is worth freeing
    members = ids
    if with_inputs != columns:
        members = row_ids(secret, digests_with_inputs.rows)
    return Identities(
        columns=columns,
        pieces=tuple(pieces),
        sizes=tuple(sizes),
        ids=ids,
        members=members,
        names=names.rows if is_named else None,
    )


def _cells(
    table: pa.Table, columns: tuple[str, ...], encoding: TableEncoding
) -> dict[str, pa.ChunkedArray | pa.Array]:
    """What stands in some columns; of images, what they show."""
    cells = {}
    for name in columns:
        is_image = name in encoding.images
        cells[name] = _named(table[name]) if is_image else table[name]
    return cells


def identity_columns(survey: Survey, encoding: TableEncoding) -> tuple[str, ...]:
    """What rows are known by: columns of kind "id" where all files have them, or else the inputs.

    And the label: a corrected one is another row.
    """
    inputs = tuple(column.name for column in encoding.columns)
    names = inputs
    if encoding.ids:
        heads = [column_names(file, None, survey.source.delivery) for file in survey.source.files]
        if all(name in head for name in encoding.ids for head in heads):
            names = encoding.ids
    return (*names, encoding.target.name)


def _reading(
    piece: Piece, survey: Survey, encoding: TableEncoding, columns: tuple[str, ...]
) -> Reading:
    known = {*encoding.labelled_numbers, *encoding.labelled_texts}
    return Reading(
        piece=piece,
        numbers=encoding.labelled_numbers,
        texts=(*encoding.labelled_texts, *(name for name in columns if name not in known)),
        dates=encoding.dates,
        images=encoding.images,
        rules=encoding.rules,
        delivery=survey.source.delivery,
    )


def _named(images: pa.ChunkedArray) -> pa.Array:
    """Images by their content: a file that is renamed is the same image."""
    names = []
    for image in images:
        content = image.as_py()
        names.append(None if content is None else hashlib.sha256(content).hexdigest())
    return pa.array(names, pa.string())


def _complete(table: pa.Table, encoding: TableEncoding) -> pa.Table:
    """The rows that the model sees: those that miss no input that is not imputed, and no label."""
    seen = table.select([*encoding.labelled_numbers, *encoding.labelled_texts])
    complete = complete_rows(seen, imputed=encoding.imputed)
    return table if complete.all() else table.filter(pa.array(complete))
