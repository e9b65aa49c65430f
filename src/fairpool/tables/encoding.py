"""From a table in its own units to numbers that a model can use, and back.

Numbers are scaled, categories become columns of 0 and 1, and predictions return to the target's
units.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.errors import DataError, few, shown
from fairpool.notes import Note
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
        _standardise(column, self.mean, self.scale, out=out[0])


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


@dataclass(frozen=True)
class TableEncoding:
    """How a table becomes X and y, fixed before any data is valued and the same for every party.

    Attributes:
        columns: The input columns, in order.
        target: The target column's name.
        mean: The target's mean; the model works on (y - mean) / scale.
        scale: The target's standard deviation.
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]
    target: str
    mean: float
    scale: float

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the model's inputs [p]."""
        names: list[str] = []
        for column in self.columns:
            names.extend(column.features)
        return tuple(names)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The input columns to be read as numbers."""
        return tuple(column.name for column in self.columns if isinstance(column, NumberColumn))

    @property
    def categories(self) -> tuple[str, ...]:
        """The input columns to be read as text."""
        return tuple(column.name for column in self.columns if isinstance(column, CategoryColumn))

    def encode(self, table: pa.Table) -> FloatArray:
        """The model's inputs X [m, p], each column contiguous as it is in the table."""
        names = {*table.column_names}
        for column in self.columns:
            if column.name not in names:
                needed = ", ".join(c.name for c in self.columns)
                raise DataError(
                    f'the table has no column "{column.name}"; the model needs {needed}'
                )
        # Each row of the block is one feature, so that a feature's numbers lie side by side.
        block = np.empty((len(self.features), table.num_rows))
        start = 0
        for column in self.columns:
            end = start + len(column.features)
            column.encode(table[column.name], block[start:end])
            start = end
        return block.T

    def unknown_levels(self, table: pa.Table) -> list[Note]:
        """One note per column with levels that count as none of the known ones.

        Missing values are refused.
        """
        notes = []
        for column in self.columns:
            if isinstance(column, NumberColumn):
                continue
            values = table[column.name]
            if values.null_count:
                raise DataError(
                    f'column "{column.name}" lacks {values.null_count} value(s); fill them in'
                )
            counts = column.unknown(level_counts(values))
            if counts:
                row = pc.index(values.cast(pa.string()), next(iter(counts))).as_py()
                where = f'column "{column.name}", row {row} (counting from 0)'
                text = column.unknown_text(counts, sum(counts.values()))
                notes.append(Note(code="unknown level", text=f"{where}: {text}"))
        return notes

    def encode_target(self, table: pa.Table) -> FloatArray:
        """The labels y [m], standardised."""
        y = np.empty(table.num_rows)
        _standardise(table[self.target], self.mean, self.scale, out=y)
        return y

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances in the target's own units."""
        return self.mean + self.scale * mean, self.scale**2 * variance


def _standardise(column: pa.ChunkedArray, mean: float, scale: float, *, out: FloatArray) -> None:
    """(x - mean) / scale, written into `out` [m]; missing values as NaN."""
    if column.type != pa.float64():
        column = column.cast(pa.float64())
    values = column.to_numpy(zero_copy_only=False)
    np.subtract(values, mean, out=out)
    # This is much quicker than a division, and the same but for the last bit.
    np.multiply(out, 1 / scale, out=out)
