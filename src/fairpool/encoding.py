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

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The column as [m, 1]."""
        values = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        return np.asarray(((values - self.mean) / self.scale)[:, None])


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one 0/1 feature per level; a level that is not listed is 0 in all of them."""

    name: str
    levels: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """What the column is called among the model's inputs."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The column as [m, number of levels]."""
        place = pc.index_in(column.cast(pa.string()), value_set=pa.array(self.levels, pa.string()))
        place = np.asarray(pc.fill_null(place, -1).to_numpy(zero_copy_only=False))
        return np.asarray(place[:, None] == np.arange(len(self.levels)), dtype=np.float64)


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
        """The model's inputs X [m, p]."""
        lacking = [column.name for column in self.columns if column.name not in table.column_names]
        if lacking:
            raise DataError(
                f'the table has no column "{lacking[0]}"; the model needs {", ".join(c.name for c in self.columns)}'
            )
        return np.hstack([column.encode(table[column.name]) for column in self.columns])

    def encode_target(self, table: pa.Table) -> FloatArray:
        """The labels y [m], standardised."""
        values = table[self.target].cast(pa.float64()).to_numpy(zero_copy_only=False)
        return (np.asarray(values, dtype=np.float64) - self.mean) / self.scale

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances in the target's own units."""
        return self.mean + self.scale * mean, self.scale**2 * variance
