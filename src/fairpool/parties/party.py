"""Sec. 2: a party and its rows."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairpool.errors import DataError, shown
from fairpool.tables.arrays import FloatArray, as_matrix, as_noise, as_table, as_vector


@dataclass(frozen=True, eq=False)
class Party:
    """A party i and its data D_i = (X_i, y_i).

    Paper: Sec. 2.

    Args:
        name: What to call it; unique within a collaboration.
        X: Inputs [m_i, p]: numbers, or an Arrow-compatible table (pandas, polars, pyarrow, duckdb).
        y: Labels [m_i]; or, when X is a table, the name of the column that holds them.
        noise_variance: Variance of the labels' noise, one number or one per row; None: the model's.

    >>> Party("Hospital A", [[0.1, 2.0], [0.4, 1.0]], [3.0, 5.0])
    Party('Hospital A', 2 rows x 2 features)
    """

    name: str
    X: FloatArray
    y: FloatArray
    noise_variance: FloatArray | float | None = None
    columns: tuple[str, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise DataError(
                f"a party's name is {shown(self.name)}; give every party a name that is not empty"
            )
        if not self.name.isprintable():
            raise DataError(
                f"a party's name is {shown(self.name)}; control characters and line breaks cannot"
                " be shown"
            )
        where = f'party "{self.name}"'
        table, y = self.X, self.y
        if isinstance(y, str):
            table, y = _split_table(table, y, where)
        X, columns = as_matrix(table, where)
        y = as_vector(y, where)
        if len(X) != len(y):
            raise DataError(
                f"{where}: X has {len(X)} rows but y has {len(y)} labels; every row needs one label"
            )
        noise: Any = self.noise_variance
        if noise is not None:
            per_row = as_noise(noise, len(y), where)
            noise = per_row if np.ndim(noise) else float(noise)
        for name, value in {"X": X, "y": y, "noise_variance": noise, "columns": columns}.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"Party({self.name!r}, {len(self)} rows x {self.X.shape[1]} features)"


def _split_table(table: Any, target: str, where: str) -> tuple[Any, Any]:
    if not hasattr(table, "__arrow_c_stream__"):
        raise DataError(
            f'{where}: y is the column name "{target}", but X is not a table with named columns'
        )
    table = as_table(table, where)
    if target not in table.column_names:
        raise DataError(
            f'{where}: no column "{target}"; the table has {", ".join(table.column_names)}'
        )
    return table.drop_columns([target]), table[target]
