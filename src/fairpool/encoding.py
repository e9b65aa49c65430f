"""How a table becomes X and y, fixed before any data is valued."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.errors import DataError
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray
from fairpool.tables.columns import CategoryColumn, NumberColumn, level_counts
from fairpool.targets import Labels, Target


@dataclass(frozen=True)
class TableEncoding:
    """How a table becomes X and y, fixed before any data is valued and the same for every party.

    Attributes:
        columns: The input columns, in order.
        target: What is predicted.
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]
    target: Target

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

    @property
    def labelled_numbers(self) -> tuple[str, ...]:
        """The columns to be read as numbers where labels are needed, too."""
        return with_target(self.numbers, self.target, pa.float64())

    @property
    def labelled_texts(self) -> tuple[str, ...]:
        """The columns to be read as text where labels are needed, too."""
        return with_target(self.categories, self.target, pa.string())

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
        """The labels y [m], as the model sees them."""
        return self.target.encode(table[self.target.name])


def with_target(
    inputs: tuple[str, ...], target: Labels | Target | None, read_as: pa.DataType
) -> tuple[str, ...]:
    """Input columns that are read as a type, and then the target, if that is read so as well."""
    if target is None or target.type != read_as:
        return inputs
    return (*inputs, target.name)
