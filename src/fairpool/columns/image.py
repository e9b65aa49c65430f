"""A column of images: the features are what a public, frozen encoder makes of each.

A reading opens the files that a table names, so that the column holds images' bytes.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.columns.encoded import ENCODER_KEYS, EncodedColumn
from fairpool.columns.kind import ColumnKind
from fairpool.columns.rules import is_image_type
from fairpool.encoders.pictures import MADE_UP, UnfitImageError, made_up_picture
from fairpool.errors import DataError
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True)
class ImageColumn(EncodedColumn):
    """A column of images."""

    kind = "image"
    nothing = "an image in which nothing is seen (0 in all dimensions)"

    def present(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The bytes of images, null where there are none."""
        contents = column
        if not is_image_type(column.type) and not pa.types.is_null(column.type):
            raise DataError(
                f'column "{self.name}" has type {column.type}; give the bytes of images'
            )
        if pa.types.is_struct(column.type):
            contents = pc.struct_field(column, "bytes")
        contents = contents.cast(pa.large_binary())
        is_empty = pc.equal(pc.binary_length(contents), 0)
        return pc.if_else(is_empty, pa.scalar(None, contents.type), contents)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out`; refused where an image cannot be used."""
        try:
            super().encode(column, out)
        except UnfitImageError as error:
            content = pa.scalar(error.content, pa.large_binary())
            row = pc.index(self.present(column), content).as_py()
            raise DataError(f'column "{self.name}", row {row} (counting from 0): {error}') from None

    def anything(self, share: FloatArray) -> pa.Array:
        """Images of random squares, few of them: each goes through the network."""
        numbers = np.minimum((share * MADE_UP).astype(int), MADE_UP - 1)
        pictures = {number: made_up_picture(number) for number in np.unique(numbers).tolist()}
        return pa.array([pictures[number] for number in numbers.tolist()], pa.large_binary())


IMAGE = ColumnKind(
    name=ImageColumn.kind,
    read_as="image",
    fix=ImageColumn.fixed,
    decode=ImageColumn.of_entries,
    keys=ENCODER_KEYS,
    is_free_text=True,
)
