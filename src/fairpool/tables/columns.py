"""Columns of a table: their levels counted, their numbers scaled."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.errors import few, shown
from fairpool.tables.arrays import FloatArray


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
    standardise_numbers(column.to_numpy(zero_copy_only=False), mean, scale, out=out)


def standardise_numbers(values: FloatArray, mean: float, scale: float, *, out: FloatArray) -> None:
    """(x - mean) / scale of numbers, written into `out` [m]."""
    np.subtract(values, mean, out=out)
    # This is much quicker than a division, and the same but for the last bit.
    np.multiply(out, 1 / scale, out=out)
