"""Columns of a table as numbers that a model can use: scaled, or one 0/1 feature per category."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.errors import few, shown
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, standardised as (x - mean) / scale."""

    name: str
    mean: float
    scale: float

    @property
    def features(self) -> tuple[str, ...]:
        """What the column is called among the model's inputs."""
        return (self.name,)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the row of `out` [1, m]."""
        standardise(column, self.mean, self.scale, out=out[0])


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one 0/1 feature per level.

    A level that is not listed is 0 in all of them.
    """

    name: str
    levels: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """What the column is called among the model's inputs."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [number of levels, m]."""
        levels = pa.array(self.levels, pa.string())
        place = pc.index_in(column.cast(pa.string()), value_set=levels)
        place = pc.fill_null(place, -1).to_numpy(zero_copy_only=False)
        # -1, a level that is not listed, equals none of them.
        np.equal(np.asarray(place), np.arange(len(self.levels))[:, None], out=out)

    def unknown(self, counts: dict[str, int]) -> dict[str, int]:
        """Of the levels that a table has, with their counts, those that are not listed."""
        return {level: count for level, count in counts.items() if level not in self.levels}

    def unknown_text(self, counts: dict[str, int], rows: int) -> str:
        """What becomes of rows with levels that are not listed, in words."""
        first = next(iter(counts))
        which = f" ({levels_in_words(counts)})" if len(counts) > 1 else ""
        return (
            f"{shown(first)} is not among the levels that the model knows"
            f" ({few([shown(level) for level in self.levels])});"
            f" {rows} row(s){which} are treated as none of the known levels"
        )


def level_counts(column: pa.ChunkedArray) -> dict[str, int]:
    """How many rows have each level of a column, in the order in which they appear.

    A missing value is no level.
    """
    counts = {}
    for entry in pc.value_counts(column.cast(pa.string())).to_pylist():
        if entry["values"] is not None:
            counts[entry["values"]] = entry["counts"]
    return counts


def levels_in_words(counts: dict[str, int]) -> str:
    """The first few levels, with how many rows each has."""
    return few([f"{shown(level)} {count}" for level, count in counts.items()])


def standardise(column: pa.ChunkedArray, mean: float, scale: float, *, out: FloatArray) -> None:
    """(x - mean) / scale, written into `out` [m]; missing values as NaN."""
    if column.type != pa.float64():
        column = column.cast(pa.float64())
    values = column.to_numpy(zero_copy_only=False)
    np.subtract(values, mean, out=out)
    # This is much quicker than a division, and the same but for the last bit.
    np.multiply(out, 1 / scale, out=out)
