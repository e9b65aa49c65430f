"""What an input column is, once its encoding is fixed: how its values become features."""

from typing import Any, Protocol

import pyarrow as pa

from fairpool.columns.rules import Rules
from fairpool.tables.arrays import FloatArray

SHARE_MISSING = 1 / 8
"""Of made-up values of a column that may lack some."""


class Column(Protocol):
    """An input column of a table, as models and reward files know it."""

    @property
    def kind(self) -> str:
        """Which of `COLUMNS` it is."""
        ...  # pragma: no cover

    @property
    def name(self) -> str:
        """The column."""
        ...  # pragma: no cover

    @property
    def rules(self) -> Rules:
        """What is done to its values first."""
        ...  # pragma: no cover

    @property
    def features(self) -> tuple[str, ...]:
        """What it is called among the model's inputs; a column may be several of them."""
        ...  # pragma: no cover

    @property
    def filling(self) -> str:
        """What a missing value is taken to be, in words; empty where none is imputed."""
        ...  # pragma: no cover

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write its features into `out` [number of features, m].

        What is missing and not imputed is NaN, or in a category none of the levels; such rows are
        left out by whoever asks.
        """
        ...  # pragma: no cover

    def unusable(self, column: pa.ChunkedArray) -> dict[int, str]:
        """The rows (from 0) that nothing can be predicted for, and why."""
        ...  # pragma: no cover

    def made_up(self, share: FloatArray) -> pa.Array | None:
        """Values that anybody could make up who knows the declared range or the levels [m].

        Args:
            share: Numbers between 0 and 1, spread evenly [m].

        Returns:
            Values of the column, or None where nobody can know what they may be.
        """
        ...  # pragma: no cover

    def entries(self) -> dict[str, Any]:
        """Itself as entries of a reward file."""
        ...  # pragma: no cover
