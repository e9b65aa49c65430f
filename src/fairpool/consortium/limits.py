"""What tables may be at most: a small file must not cost the operator hours or all memory."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fairpool.encoders.pictures import MOST_BYTES, MOST_PIXELS, ImageLimits

Count = Annotated[int, Field(ge=1)]
Factor = Annotated[float, Field(ge=1, strict=False)]


class Limits(BaseModel):
    """[limits]: what is refused before it is read, or as soon as it shows.

    Attributes:
        columns: Of a file.
        rows: Of a party, or of public or test data.
        name_length: Characters of a column's name, and of a level.
        text_length: Characters of a free text, which an encoder reads.
        image_bytes: Of an image, as it comes.
        image_pixels: Of an image, once it is decoded.
        expansion: How many times larger than its file the table of a Parquet file may be; only
            tables of more than `SMALL_TABLE` bytes are judged.
        spread: How many median deviations the standard deviation of a column may be, where it has
            values far from all others: see `outliers`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    columns: Count = 10_000
    rows: Count = 100_000_000
    name_length: Count = 500
    text_length: Count = 100_000
    image_bytes: Annotated[int, Field(ge=1, le=MOST_BYTES)] = 20_000_000
    image_pixels: Annotated[int, Field(ge=1, le=MOST_PIXELS)] = 50_000_000
    expansion: Factor = 500.0
    spread: Factor = 100.0

    @property
    def of_images(self) -> ImageLimits:
        """What an image may be at most."""
        return ImageLimits(size=self.image_bytes, pixels=self.image_pixels)


SMALL_TABLE = 1 << 28
"""Bytes: columns of few distinct values are stored in next to nothing, which is no attack."""


def beyond(what: str, bound: float, key: str) -> str:
    """That something is beyond a limit, and how to allow it.

    >>> beyond("12 columns", 10, "columns")
    '12 columns are more than the 10 allowed; if that is right, raise columns in [limits]'
    """
    return (
        f"{what} are more than the {bound:.15g} allowed; if that is right, raise {key} in [limits]"
    )
