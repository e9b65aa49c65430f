"""Sec. 2: the parties, and their pooled data with one block of rows per party."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fairpool.arrays import FloatArray, as_matrix, as_noise, as_table, as_vector
from fairpool.coalitions import members
from fairpool.errors import DataError, shown


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
            raise DataError(f"a party's name is {shown(self.name)}; give every party a name that is not empty")
        if not self.name.isprintable():
            raise DataError(f"a party's name is {shown(self.name)}; control characters and line breaks cannot be shown")
        where = f'party "{self.name}"'
        table, y = self.X, self.y
        if isinstance(y, str):
            table, y = _split_table(table, y, where)
        X, columns = as_matrix(table, where)
        y = as_vector(y, where)
        if len(X) != len(y):
            raise DataError(f"{where}: X has {len(X)} rows but y has {len(y)} labels; every row needs one label")
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
        raise DataError(f'{where}: y is the column name "{target}", but X is not a table with named columns')
    table = as_table(table, where)
    if target not in table.column_names:
        raise DataError(f'{where}: no column "{target}"; the table has {", ".join(table.column_names)}')
    return table.drop_columns([target]), table[target]


@dataclass(frozen=True, eq=False)
class Pool:
    """The aggregated data D_N: all parties' rows, one block per party, in the parties' order.

    Paper: Sec. 2. Each row has a noise variance of its own (App. E.5, heteroscedastic data).
    """

    parties: tuple[Party, ...]
    noise: FloatArray  # [m], each row's noise variance: its party's own, or else the model's

    @classmethod
    def of(cls, parties: Sequence[Party], model_noise: float) -> "Pool":
        """Pool the parties' data, when they can work together."""
        parties = check_parties(parties)
        noise = [
            np.broadcast_to(model_noise if p.noise_variance is None else p.noise_variance, len(p)) for p in parties
        ]
        return cls(parties, np.concatenate(noise))

    @cached_property
    def X(self) -> FloatArray:
        """All inputs [m, p]."""
        return np.concatenate([p.X for p in self.parties])

    @cached_property
    def y(self) -> FloatArray:
        """All labels [m]."""
        return np.concatenate([p.y for p in self.parties])

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the inputs' columns, if any party's table has them."""
        return next((p.columns for p in self.parties if p.columns), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The parties' names, in order."""
        return tuple(p.name for p in self.parties)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The parties' numbers of rows, in order."""
        return tuple(len(p) for p in self.parties)

    @cached_property
    def owner(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """For each row [m], the index of the party that owns it."""
        return np.repeat(np.arange(len(self.parties)), self.sizes)

    def rows(self, mask: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows [m] belong to a coalition, given as a bitmask."""
        return np.isin(self.owner, members(mask))


def check_names(names: Sequence[str]) -> None:
    """Refuse a collaboration of nobody, and two parties of one name."""
    if not names:
        raise DataError("there are no parties; give at least one")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f'{Counter(names)[twice[0]]} parties are named "{twice[0]}"; names must differ')


def check_parties(parties: Sequence[Party]) -> tuple[Party, ...]:
    """The parties as a tuple, when they can work together: distinct names, the same columns."""
    for party in (parties := tuple(parties)):
        if not isinstance(party, Party):
            raise DataError(f"{shown(party)} is not a Party; wrap each table as Party(name, X, y)")
    check_names([p.name for p in parties])
    first = next((party for party in parties if party.columns), parties[0])
    for party in parties:
        if party.X.shape[1] != first.X.shape[1]:
            raise DataError(
                f'party "{party.name}" has {party.X.shape[1]} columns but party "{first.name}" has'
                f" {first.X.shape[1]}; all parties need the same features in the same order"
            )
        if party.columns and first.columns and party.columns != first.columns:
            here, there = next((a, b) for a, b in zip(party.columns, first.columns, strict=True) if a != b)
            raise DataError(
                f'party "{party.name}" has column "{here}" where party "{first.name}" has "{there}";'
                " all parties need the same features in the same order"
            )
    return parties
