"""What Bayesian linear regression and the sparse Gaussian process share: d weights, standard normal
a priori.

Everything they learn from a party's rows is a d x d matrix and a d-vector, and these add up over
rows, batches and parties. So a party can be summarised batch by batch, or by itself, and no row
needs to travel.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from fairpool.errors import DataError
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.models.posteriors import WeightPosterior
from fairpool.parties import Party, PartySummary
from fairpool.tables.arrays import (
    FloatArray,
    as_labels,
    as_matrix,
    as_noise,
    as_one_set_of_labels,
)


class WeightModel(ABC):
    """A model y = prior mean + A u + noise, with whitened features A [m, d] and weights u ~ N(0,
    I).
    """

    noise_variance: float

    def rounding_error(self, P: FloatArray) -> float:  # noqa: ARG002 -- most features are exact
        """How far rounding in the features themselves may put a value off, in nats.

        Args:
            P: What all rows tell about the whitened weights, A^T D^-1 A [d, d].
        """
        return 0.0

    @abstractmethod
    def whitened_features(self, X: FloatArray) -> FloatArray:
        """A [m, d] with A A^T = prior covariance of the latent values at X."""

    def prior_mean_at(self, X: FloatArray) -> FloatArray:
        """Prior mean of the latent values at X [m]."""
        return np.zeros(len(X))

    def residual_variance(self, X: FloatArray, A: FloatArray) -> FloatArray:  # noqa: ARG002
        """Prior variance at X [m] that the weights do not explain."""
        return np.zeros(len(X))

    def posterior(self, X: Any, y: Any, noise_variance: Any = None) -> WeightPosterior:
        """Train on X [m, p] and y [m] (or [m, k]: k sets of labels, one factorisation).

        Args:
            X: Inputs.
            y: Labels.
            noise_variance: One number, or one per row; None: the model's. An infinite one silences
                its row.
        """
        X, columns = as_matrix(X, "training data")
        y = as_labels(y, len(X))
        noise = as_noise(
            self.noise_variance if noise_variance is None else noise_variance,
            len(X),
            "training data",
        )
        A = self.whitened_features(X) / np.sqrt(noise)[:, None]
        residual = ((y.T - self.prior_mean_at(X)) / np.sqrt(noise)).T
        return self.posterior_from_moments(A.T @ A, A.T @ residual, X.shape[1], columns)

    def posterior_from_moments(
        self,
        precision: FloatArray,
        moment: FloatArray,
        inputs: int,
        columns: tuple[str, ...] | None = None,
    ) -> WeightPosterior:
        """The posterior from sums over rows alone: A^T D^-1 A [d, d] and A^T D^-1 (y - prior mean) [d] or [d, k]."""
        L = lower_factor(np.eye(len(precision)) + precision)
        return WeightPosterior(
            self, inputs, cho_solve((L, True), moment, check_finite=False), L, columns
        )

    def summarise(self, party: Party) -> PartySummary:
        """A party's sufficient statistics, all that the chain needs of it; add up batches of one party with +."""
        noise = np.unique(
            self.noise_variance if party.noise_variance is None else party.noise_variance
        )
        if len(noise) > 1:
            raise DataError(
                f'party "{party.name}" has a noise variance per row; a summary needs one for all'
                " its rows"
            )
        s2 = float(noise[0]) if len(noise) else self.noise_variance
        inputs = party.X.shape[1]
        probe = self.probe(inputs)  # first, since it refuses a model for other inputs
        return PartySummary(
            party.name, *self.moments(party.X, party.y), s2, len(party), inputs, probe
        )

    def moments(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A^T A [d, d] and A^T (y - prior mean) [d] of some rows, as they are: for batches, checked when summed up."""
        A = self.whitened_features(X)
        return A.T @ A, A.T @ (y - self.prior_mean_at(X))

    def probe(self, inputs: int) -> FloatArray:
        """Features and prior mean at a few fixed inputs [3, d + 1]; models that agree there have the same features."""
        X = np.sin(np.arange(1.0, 3 * inputs + 1)).reshape(3, inputs)
        return np.column_stack([self.whitened_features(X), self.prior_mean_at(X)])

    def log_marginal_likelihood(self, X: Any, y: Any, noise_variance: Any = None) -> float:
        """log p(y | X): how well the model explains the labels before it has seen them."""
        X, _ = as_matrix(X, "training data")
        noise = as_noise(
            self.noise_variance if noise_variance is None else noise_variance,
            len(X),
            "training data",
        )
        A = self.whitened_features(X) / np.sqrt(noise)[:, None]
        y = (as_one_set_of_labels(y, len(X)) - self.prior_mean_at(X)) / np.sqrt(noise)
        L = lower_factor(np.eye(A.shape[1]) + A.T @ A)
        # (I + A A^T)^-1 y = y - A w with w the posterior weights: no difference of two large
        # squares.
        w = np.asarray(cho_solve((L, True), A.T @ y, check_finite=False))
        log_det = 2 * np.log(np.diag(L)).sum() + np.log(noise).sum()
        residual = y - A @ w
        return float(-0.5 * (residual @ residual + w @ w + log_det + len(y) * np.log(2 * np.pi)))
