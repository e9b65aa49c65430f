"""Sec. 2: a party and its rows."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.errors import DataError, is_printable, shown
from fairpool.parties.party_data import FeatureModel, Told, UnequalRows
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
        if not is_printable(self.name):
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

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return int(self.X.shape[1])

    @property
    def shown_rows(self) -> "Party":
        """All rows can be looked at."""
        return self

    @property
    def label_draws(self) -> int:
        """Every label has a noise of its own."""
        return len(self)

    def noise_of_rows(self, model_noise: float) -> FloatArray:
        """Each row's noise variance [m_i]: the party's own, or else the model's."""
        noise = model_noise if self.noise_variance is None else self.noise_variance
        return np.broadcast_to(noise, len(self))

    def some_rows(self, chosen: NDArray[np.bool_]) -> "Party":
        """Some of its rows, given as a mask [m_i]."""
        noise = self.noise_variance
        if isinstance(noise, np.ndarray):
            noise = noise[chosen]
        return Party(self.name, self.X[chosen], self.y[chosen], noise)

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Rows suit any model; one for other columns says so when it meets them."""

    def statistics(self, model: FeatureModel) -> "RowStatistics":
        """What a model with weights learns from the rows."""
        return RowStatistics(
            party=self, model=model, noise=self.noise_of_rows(model.noise_variance)
        )

    def __repr__(self) -> str:
        return f"Party({self.name!r}, {len(self)} rows x {self.X.shape[1]} features)"


@dataclass(frozen=True, eq=False, kw_only=True)
class RowStatistics:
    """What a model with weights learns from a party's rows.

    It keeps sums over rows alone. The rows' features may take much more memory than the rows, and
    are made anew for whoever asks for them.

    Attributes:
        party: The rows.
        model: What features they have.
        noise: Their noise variances [m]; a row of infinite noise tells nothing.
    """

    party: Party
    model: FeatureModel
    noise: FloatArray

    def _features(self) -> FloatArray:
        """A, the rows' whitened features [m, d]."""
        return self.model.whitened_features(self.party.X)

    def _residual(self) -> FloatArray:
        """The labels less the prior mean [m]."""
        return np.asarray(self.party.y - self.model.prior_mean_at(self.party.X))

    @cached_property
    def told(self) -> Told:
        """What the rows tell as they are."""
        root = np.sqrt(self.noise)
        scaled = self._features() / root[:, None]
        return Told(scaled.T @ scaled, scaled.T @ (self._residual() / root))

    @cached_property
    def told_squares(self) -> float:
        """Sum of (y - prior mean)^2 over the rows' noise variances."""
        return float((self._residual() ** 2 / self.noise).sum())

    @property
    def label_count(self) -> int:
        """How many rows there are."""
        return len(self.party)

    @cached_property
    def common_noise(self) -> float:
        """The noise variance of all rows that tell anything: nan if they differ, inf if none."""
        levels = np.unique(self.noise[np.isfinite(self.noise)])
        if len(levels) > 1:
            return np.nan
        return float(levels[0]) if len(levels) else np.inf

    def _telling(self) -> FloatArray:
        """A, with zeros for rows that tell nothing [m, d]."""
        A = self._features()
        if np.isfinite(self.noise).all():
            return A
        return np.where(np.isfinite(self.noise)[:, None], A, 0.0)

    @cached_property
    def _sums(self) -> Told:
        """A^T A and A^T (y - prior mean), of the rows that tell something."""
        A = self._telling()
        return Told(A.T @ A, A.T @ self._residual())

    @property
    def gram(self) -> FloatArray:
        """A^T A [d, d]."""
        return self._sums.precision

    @property
    def moment(self) -> FloatArray:
        """A^T (y - prior mean) [d]."""
        return self._sums.moment

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise z on the labels, [m] or [m, k], adds to the moment."""
        if not z.any():
            return np.zeros((len(self.moment), *z.shape[1:]))
        return self._telling().T @ z

    def weakened(self, eta: float, z: FloatArray) -> Told:
        """What is told when noise z of variance eta is added to the labels."""
        A = self._features()
        weighted = A / (self.noise + eta)[:, None]
        labels = (self._residual() + z.T).T
        return Told(weighted.T @ A, weighted.T @ labels)

    @property
    def unequal_rows(self) -> UnequalRows | None:
        """The rows, where their noise variances differ."""
        if not np.isnan(self.common_noise):
            return None
        return UnequalRows(self._features() / np.sqrt(self.noise)[:, None], self.noise)


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
