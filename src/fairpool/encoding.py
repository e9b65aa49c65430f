"""From a table in its own units to numbers a model can use, and back: scaling, categories, the target's units."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.arrays import FloatArray
from fairpool.errors import DataError


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
        _standardise(column, self.mean, self.scale, out[0])


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one 0/1 feature per level; a level that is not listed is 0 in all of them."""

    name: str
    levels: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """What the column is called among the model's inputs."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [number of levels, m]."""
        place = pc.index_in(column.cast(pa.string()), value_set=pa.array(self.levels, pa.string()))
        place = np.asarray(pc.fill_null(place, -1).to_numpy(zero_copy_only=False))
        np.equal(place, np.arange(len(self.levels))[:, None], out=out)


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
        return tuple(name for column in self.columns for name in column.features)

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
        lacking = [column.name for column in self.columns if column.name not in names]
        if lacking:
            raise DataError(
                f'the table has no column "{lacking[0]}"; the model needs {", ".join(c.name for c in self.columns)}'
            )
        block, row = np.empty((len(self.features), table.num_rows)), 0
        for column in self.columns:
            column.encode(table[column.name], block[row : row + len(column.features)])
            row += len(column.features)
        return block.T

    def encode_target(self, table: pa.Table) -> FloatArray:
        """The labels y [m], standardised."""
        y = np.empty(table.num_rows)
        _standardise(table[self.target], self.mean, self.scale, y)
        return y

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances in the target's own units."""
        return self.mean + self.scale * mean, self.scale**2 * variance


def _standardise(column: pa.ChunkedArray, mean: float, scale: float, out: FloatArray) -> None:
    """(x - mean) / scale, written into `out` [m]; missing values as NaN."""
    column = column if column.type == pa.float64() else column.cast(pa.float64())
    values = column.to_numpy(zero_copy_only=False)
    np.subtract(values, mean, out=out)
    np.multiply(out, 1 / scale, out=out)  # much quicker than a division, and the same but for the last bit
