"""Posteriors p(theta | D): what each model has learned, and what it predicts for new inputs."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.errors import DataError
from fairpool.linear_algebra.log_determinant import (
    half_log_determinant,
    half_log_determinant_by_factor,
)
from fairpool.linear_algebra.solving import solve_lower
from fairpool.models.leave_one_out import leverages, mean_without_row, variance_without_row
from fairpool.parties import Pool, Told
from fairpool.tables.arrays import TINY, FloatArray, as_matrix

if TYPE_CHECKING:
    from fairpool.models.gp import GaussianProcess
    from fairpool.models.model import Model
    from fairpool.models.weight_model import WeightModel


FACTOR_BYTES = 40
"""For each entry of a covariance, while it is computed and factorised: five matrices."""


class Posterior(Protocol):
    """What predicts."""

    def predict(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the labels y* at X [t, p], observation noise included.

        Where the posterior was trained on k sets of labels, the mean is [t, k]; the variance is
        always [t].
        """
        ...  # pragma: no cover


class TrainedPosterior(Posterior, Protocol):
    """What a model of this library has learned from data."""

    @property
    def model(self) -> "Model":
        """The model, with its hyperparameters."""
        ...  # pragma: no cover

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        ...  # pragma: no cover

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Their names, if known; a table to predict must have the same."""
        ...  # pragma: no cover

    @property
    def weight_count(self) -> int:
        """How many weights there are, whose precision is a sum over rows; 0: it has the rows."""
        ...  # pragma: no cover

    @property
    def worth(self) -> float:
        """The information gain of what it was trained on, from its factor: 1/2 log|B|."""
        ...  # pragma: no cover

    def with_columns(self, columns: tuple[str, ...] | None) -> "TrainedPosterior":
        """The same, for inputs of these names."""
        ...  # pragma: no cover

    @property
    def others(self) -> Told | None:
        """What stands for the others' data in a covariance that hides them; None if it does not."""
        ...  # pragma: no cover

    def shows_rows_of_others(self, pool: Pool, party: int) -> bool:
        """Whether it contains a row of another party's inputs than that of its recipient."""
        ...  # pragma: no cover

    def latent(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the latent values at X [t, p], without observation noise."""
        ...  # pragma: no cover

    def predict_without_each(
        self, X: FloatArray, y: FloatArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance [m] of labels that it was trained on, each without its own row.

        Args:
            X: Inputs of some of the training rows [m, p].
            y: Their labels [m], to which no noise was added.
            noise: Their noise variances [m]; the labels' own noise is in the variance.
        """
        ...  # pragma: no cover

    def gain_from(self, X: FloatArray, noise: FloatArray) -> float:
        """I(theta; D | what it was trained on), for more rows D at X [m, p], noise [m]."""
        ...  # pragma: no cover


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelPosterior:
    """Posterior of an exact Gaussian process; it holds the inputs that it was trained on.

    With S = D^-1/2 and B = I + S K_XX S = L L^T:

        mean = k_*X alpha,   alpha = S B^-1 S y
        variance = k_** - |L^-1 S k_X*|^2 + noise

    Attributes:
        model: The process, with its kernel and noise variance.
        X: Training inputs [m, p].
        scale: S, one over the square root of each row's noise variance [m].
        alpha: [m], or [m, k] for k sets of labels.
        kept_factor: L [m, m], lower; None: it is computed when it is needed.
        columns: The names of the inputs' columns, if known; a table to predict must have the same.
        keeps_late_factor: Whether a factor that was computed when it was needed is then kept: for a
            file, which may never be used to predict, but not where there is one for every party.
    """

    model: "GaussianProcess"
    X: FloatArray
    scale: FloatArray
    alpha: FloatArray
    kept_factor: FloatArray | None
    columns: tuple[str, ...] | None = None
    keeps_late_factor: bool = False

    @property
    def factor(self) -> FloatArray:
        """L [m, m], lower."""
        if self.kept_factor is not None:
            return self.kept_factor
        if self.keeps_late_factor:
            return self._late_factor
        return self.model.factor(self.X, self.scale)

    @cached_property
    def _late_factor(self) -> FloatArray:
        # A small file may have many rows, and the matrix has the square of them.
        refuse_beyond_memory(
            FACTOR_BYTES * len(self.X) ** 2,
            f"predicting with an exact Gaussian process of {len(self.X)} rows",
            "use a machine that has more, or ask for a sparse model",
        )
        return self.model.factor(self.X, self.scale)

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return int(self.X.shape[1])

    @property
    def weight_count(self) -> int:
        """None: it has the rows."""
        return 0

    @property
    def others(self) -> None:
        """Nothing stands for rows that are there."""
        return

    def shows_rows_of_others(self, pool: Pool, party: int) -> bool:
        """Whether rows beyond the recipient's own are among the training data."""
        return len(self.X) > pool.sizes[party]

    @property
    def worth(self) -> float:
        """1/2 log|B|, B = L L^T."""
        return half_log_determinant_by_factor(self.factor)

    def with_columns(self, columns: tuple[str, ...] | None) -> "KernelPosterior":
        """The same, for inputs of these names."""
        return replace(self, columns=columns)

    def __repr__(self) -> str:
        return f"KernelPosterior({len(self.X)} rows x {self.X.shape[1]} inputs)"

    def predict(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of y* at X [t, p], observation noise included."""
        mean, variance = self.latent(X)
        return mean, variance + self.model.noise_variance

    def latent(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the latent values at X [t, p]."""
        X = as_inputs(X, self.X.shape[1], self.columns)
        K_sX = self.model.covariance(X, self.X)
        # A kernel can overflow where inputs are far out, and nan must not pass for a variance.
        W = solve_lower(self.factor, np.asarray_chkfinite((K_sX * self.scale).T))
        variance = self.model.prior_variance_at(X) - np.einsum("ij,ij->j", W, W)
        return K_sX @ self.alpha, np.maximum(variance, 0.0)

    def predict_without_each(
        self, X: FloatArray, y: FloatArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance [m] of labels that it was trained on, each without its own row."""
        f, variance = self.latent(X)
        h = leverages(variance, noise, self.model.prior_variance_at(X))
        return mean_without_row(f, y, h), variance_without_row(variance, h) + noise

    def gain_from(self, X: FloatArray, noise: FloatArray) -> float:
        """1/2 log|I + S C S|, C the covariance at X given the training rows."""
        W = solve_lower(self.factor, (self.model.covariance(X, self.X) * self.scale).T)
        C = self.model.covariance(X) - W.T @ W
        scale = 1 / np.sqrt(noise)
        return half_log_determinant(np.eye(len(X)) + scale[:, None] * C * scale)


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightPosterior:
    """Posterior of a model with d weights u, standard normal a priori; it has nobody's rows.

    With the precision B = I + sum of A^T D^-1 A = L L^T over the rows' whitened features A:

        u ~ N(B^-1 A^T D^-1 y, B^-1)
        mean = prior mean + a_* u,   variance = residual + |L^-1 a_*|^2 + noise

    Attributes:
        model: The model, with its feature map and noise variance.
        inputs: Number p of input columns.
        weights: Posterior mean of u [d], or [d, k] for k sets of labels.
        factor: L [d, d], lower.
        others: Where the covariance hides the others' inputs, what stands for their data, so that
            whoever has it can add rows of its own; None where the covariance is as it was trained.
        trained_factor: Where the covariance hides the others' inputs, the lower factor of the
            precision that the weights were trained with [d, d]. It tells these inputs, and no file
            has it.
        columns: The names of the inputs' columns, if known; a table to predict must have the same.
    """

    model: "WeightModel"
    inputs: int
    weights: FloatArray
    factor: FloatArray
    others: Told | None = None
    trained_factor: FloatArray | None = None
    columns: tuple[str, ...] | None = None

    @property
    def weight_count(self) -> int:
        """d."""
        return len(self.factor)

    def shows_rows_of_others(self, pool: Pool, party: int) -> bool:
        """Whether a row of the others is within the model.

        What can be computed from sums is another matter, see `fairpool.realisation.disclosure`.
        """
        within = self.model.inputs_within
        others = pool.X[pool.owner != party]
        if not len(within) or not len(others):
            return False
        # A column that is the same everywhere has no deviation to compare by, but a size.
        scale = pool.X.std(axis=0)
        scale = np.where(scale > 0, scale, np.maximum(np.abs(pool.X).max(axis=0), TINY))
        # Not to the byte: the centre of a cluster of one row is that row only up to rounding.
        return bool((cdist(within / scale, others / scale) < 1e-6).any())

    @property
    def worth(self) -> float:
        """1/2 log|B|, B = L L^T."""
        return half_log_determinant_by_factor(self.factor)

    def with_columns(self, columns: tuple[str, ...] | None) -> "WeightPosterior":
        """The same, for inputs of these names."""
        return replace(self, columns=columns)

    def __repr__(self) -> str:
        return f"WeightPosterior({len(self.factor)} weights, {self.inputs} inputs)"

    def predict(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of y* at X [t, p], observation noise included."""
        mean, variance = self.latent(X)
        return mean, variance + self.model.noise_variance

    def latent(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the latent values at X [t, p]."""
        X = as_inputs(X, self.inputs, self.columns)
        A = self.model.whitened_features(X)
        mean = (self.model.prior_mean_at(X) + (A @ self.weights).T).T
        return mean, self.model.residual_variance(X, A) + self.variance_of(A)

    def variance_of(self, A: FloatArray) -> FloatArray:
        """a^T B^-1 a for every row a of whitened features A [m, d]."""
        return _variances(self.factor, A)

    def predict_without_each(
        self, X: FloatArray, y: FloatArray, noise: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance [m] of labels that it was trained on, each without its own row.

        Where the covariance hides the others' inputs, the mean is that of the weights trained
        without the row, and the variance is the handed out one without it, both exactly. With the
        file alone its recipient can only take the handed out covariance for both, as `update`
        does: that leaves a part of the row's own label in the mean, and flatters the model (for
        three parties of 30 rows, by 0.06 nats a row, as much as the error of the comparison).
        """
        A = self.model.whitened_features(X)
        residual = self.model.residual_variance(X, A)
        variance = self.variance_of(A)
        prior = np.einsum("ij,ij->i", A, A)
        h = leverages(variance, noise, prior)
        h_trained = h
        if self.trained_factor is not None:
            h_trained = leverages(_variances(self.trained_factor, A), noise, prior)
        prior_mean = self.model.prior_mean_at(X)
        without_row = mean_without_row(A @ self.weights, y - prior_mean, h_trained)
        mean = (prior_mean + without_row.T).T
        return mean, variance_without_row(variance, h) + residual + noise

    def gain_from(self, X: FloatArray, noise: FloatArray) -> float:
        """I(theta; D | what it was trained on), for more rows D at X [m, p], noise [m]."""
        A = self.model.whitened_features(X) / np.sqrt(noise)[:, None]
        return self.gain_from_precision(A.T @ A)

    def gain_from_precision(self, P: FloatArray) -> float:
        """The same for more data of the precision P = A^T D^-1 A [d, d]: 1/2 log|B + P| / |B|."""
        return half_log_determinant(self.factor @ self.factor.T + P) - self.worth


def _variances(factor: FloatArray, A: FloatArray) -> FloatArray:
    """a^T B^-1 a for every row a of A [m, d], B by its lower factor."""
    # Features can overflow where inputs are far out, and nan must not pass for a variance.
    W = solve_lower(factor, np.asarray_chkfinite(A.T))
    return np.asarray(np.einsum("ij,ij->j", W, W))


def as_inputs(X: Any, inputs: int, columns: tuple[str, ...] | None) -> FloatArray:
    """Inputs to predict at [t, p], refused when they do not have the training data's columns."""
    matrix, names = as_matrix(X, "inputs to predict")
    if matrix.shape[1] != inputs:
        raise DataError(
            f"inputs to predict have {matrix.shape[1]} columns, the model was trained on {inputs}"
        )
    if names and columns and names != columns:
        raise DataError(
            f"inputs to predict have columns {', '.join(names)}; the model needs"
            f" {', '.join(columns)}, in order"
        )
    return matrix
