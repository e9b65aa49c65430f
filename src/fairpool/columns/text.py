"""A column of free text: the features are what a public, frozen encoder makes of it."""

from dataclasses import dataclass

import pyarrow as pa

from fairpool.columns.encoded import ENCODER_KEYS, EncodedColumn
from fairpool.columns.kind import ColumnKind
from fairpool.columns.rules import without_blanks
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True)
class TextColumn(EncodedColumn):
    """A column of free text."""

    kind = "text"
    nothing = "a text without words"

    def present(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Texts with nulls where there are but blanks."""
        return without_blanks(column.cast(pa.string()))

    def anything(self, share: FloatArray) -> pa.Array:
        """Words of the encoder's vocabulary: whoever has the encoder knows them."""
        assert self.encoder is not None  # nothing else is asked
        return pa.array(self.encoder.words(share), pa.string())


TEXT = ColumnKind(
    name=TextColumn.kind,
    read_as="text",
    fix=TextColumn.fixed,
    decode=TextColumn.of_entries,
    keys=ENCODER_KEYS,
    is_free_text=True,
)
