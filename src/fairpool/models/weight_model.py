"""What Bayesian linear regression and the sparse Gaussian process share: d weights, standard normal a priori.

Everything they learn from a party's rows is a d x d matrix and a d-vector, and these add up over rows, batches
and parties. So a party can be summarised batch by batch, or by itself, and no row needs to travel.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from fairpool.arrays import (
    FloatArray,
    as_count,
    as_labels,
    as_matrix,
    as_noise,
    as_numeric,
    as_one_set_of_labels,
    positive,
    read_only,
    with_unit_diagonal,
)
from fairpool.errors import DataError, shown
from fairpool.models.cholesky import lower_factor
from fairpool.models.posteriors import WeightPosterior
from fairpool.parties import Party


@dataclass(frozen=True, eq=False)
class PartySummary:
    """A party's sufficient statistics for a weight-space model; two of the same party add up.

    Paper: App. E.5, with the sums over rows done beforehand.

    Attributes:
        name: The party.
        gram: G = A^T A over its rows' whitened features A [d, d].
        moment: A^T (y - prior mean) [d].
        noise_variance: Variance of its labels' noise.
        rows: How many rows went in.
        inputs: Number p of input columns.
        probe: What the model's features are at a few fixed inputs, to tell summaries of different models apart.
    """

    name: str
    gram: FloatArray
    moment: FloatArray
    noise_variance: float
    rows: int
    inputs: int
    probe: FloatArray

    def __post_init__(self) -> None:
        where = f'the summary of "{self.name}"'
        if not isinstance(self.name, str) or not self.name.strip():
            raise DataError(f"a summary's party is named {shown(self.name)}; give it a name that is not empty")
        for field in ("gram", "moment", "probe"):
            values = read_only(as_numeric(getattr(self, field), f"{where}: {field}"))
            if not np.isfinite(values).all():
                raise DataError(f"{where}: {field} has values that are not finite")
            object.__setattr__(self, field, values)
        d = len(self.moment) if self.moment.ndim == 1 else -1
        if self.gram.shape != (d, d) or self.probe.ndim != 2:
            raise DataError(
                f"{where}: gram {self.gram.shape} and moment {self.moment.shape} do not fit: [d, d] and [d]"
            )
        if not _is_sum_of_squares(self.gram):
            raise DataError(f"{where}: gram is not a sum of squares (symmetric, without negative eigenvalues)")
        object.__setattr__(self, "noise_variance", positive(self.noise_variance, f"{where}: noise_variance"))
        as_count(self.rows, f"{where}: rows", 0)

    def refuse_other_model(self, probe: FloatArray) -> None:
        """Refuse a model whose features differ from those this summary was made with."""
        same = self.probe.shape == probe.shape
        if same:
            # Per feature, since each has a unit of its own.
            allowed = 1e-6 * np.abs(probe) + 1e-9 * np.abs(probe).max(axis=0)
            same = bool((np.abs(self.probe - probe) <= allowed).all())
        if not same:
            raise DataError(
                f'the summary of "{self.name}" was made with another model; summarise all with the same one'
            )

    def __add__(self, other: "PartySummary") -> "PartySummary":
        if self.name != other.name:
            raise DataError(f'summaries of "{self.name}" and "{other.name}" are not of one party')
        other.refuse_other_model(self.probe)
        if not self.rows or not other.rows:  # an empty batch says nothing, of its noise neither
            return self if self.rows else other
        if self.noise_variance != other.noise_variance:
            raise DataError(
                f'batches of "{self.name}" have noise variances {self.noise_variance} and {other.noise_variance}'
            )
        return replace(
            self, gram=self.gram + other.gram, moment=self.moment + other.moment, rows=self.rows + other.rows
        )

    def __repr__(self) -> str:
        return f"PartySummary({self.name!r}, {self.rows} rows, {len(self.moment)} weights)"

    def __len__(self) -> int:
        return self.rows


def _is_sum_of_squares(G: FloatArray) -> bool:
    """Whether G is symmetric and has no negative eigenvalue, but for rounding and whatever the features' units."""
    if not len(G):
        return True
    H = with_unit_diagonal(G)
    if not np.isfinite(H).all() or np.abs(H - H.T).max() > 1e-9:
        return False
    return bool(np.linalg.eigvalsh(H)[0] >= -1e-9 * len(H))


class WeightModel(ABC):
    """A model y = prior mean + A u + noise, with whitened features A [m, d] and weights u ~ N(0, I)."""

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
            noise_variance: One number, or one per row; None: the model's. An infinite one silences its row.
        """
        X, columns = as_matrix(X, "training data")
        y = as_labels(y, len(X))
        noise = as_noise(self.noise_variance if noise_variance is None else noise_variance, len(X), "training data")
        A = self.whitened_features(X) / np.sqrt(noise)[:, None]
        residual = ((y.T - self.prior_mean_at(X)) / np.sqrt(noise)).T
        return self.posterior_from_moments(A.T @ A, A.T @ residual, X.shape[1], columns)

    def posterior_from_moments(
        self, precision: FloatArray, moment: FloatArray, inputs: int, columns: tuple[str, ...] | None = None
    ) -> WeightPosterior:
        """The posterior from sums over rows alone: A^T D^-1 A [d, d] and A^T D^-1 (y - prior mean) [d] or [d, k]."""
        L = lower_factor(np.eye(len(precision)) + precision)
        return WeightPosterior(self, inputs, cho_solve((L, True), moment, check_finite=False), L, columns)

    def summarise(self, party: Party) -> PartySummary:
        """A party's sufficient statistics, all that the chain needs of it; add up batches of one party with +."""
        noise = np.unique(self.noise_variance if party.noise_variance is None else party.noise_variance)
        if len(noise) > 1:
            raise DataError(f'party "{party.name}" has a noise variance per row; a summary needs one for all its rows')
        s2 = float(noise[0]) if len(noise) else self.noise_variance
        inputs = party.X.shape[1]
        probe = self.probe(inputs)  # first, since it refuses a model for other inputs
        return PartySummary(party.name, *self.moments(party.X, party.y), s2, len(party), inputs, probe)

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
        noise = as_noise(self.noise_variance if noise_variance is None else noise_variance, len(X), "training data")
        A = self.whitened_features(X) / np.sqrt(noise)[:, None]
        y = (as_one_set_of_labels(y, len(X)) - self.prior_mean_at(X)) / np.sqrt(noise)
        L = lower_factor(np.eye(A.shape[1]) + A.T @ A)
        # (I + A A^T)^-1 y = y - A w with w the posterior weights: no difference of two large squares.
        w = np.asarray(cho_solve((L, True), A.T @ y, check_finite=False))
        log_det = 2 * np.log(np.diag(L)).sum() + np.log(noise).sum()
        residual = y - A @ w
        return float(-0.5 * (residual @ residual + w @ w + log_det + len(y) * np.log(2 * np.pi)))
