"""Bayesian linear regression on any features: theta is the vector of weights."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpool.errors import DataError, shown
from fairpool.linear_algebra.cholesky import NotComputable, lower_factors
from fairpool.linear_algebra.spectrum import left_singular
from fairpool.models.evidence import FACTOR_BOUNDS, Evidence
from fairpool.models.features import apply_features
from fairpool.models.hyperparameters import NOISE_BOUNDS, Learned, check_noise_bounds, noise_notes
from fairpool.models.weight_model import RowSums, WeightModel
from fairpool.parties import FeatureBounds
from fairpool.tables.arrays import (
    FloatArray,
    as_matrix,
    as_numeric,
    as_one_set_of_labels,
    positive,
    read_only,
    with_unit_diagonal,
)


@dataclass(frozen=True, eq=False)
class BayesianLinearRegression(WeightModel):
    """y = Phi(x) theta + noise, with theta ~ N(prior mean, prior covariance).

    Paper: App. E.5; Sec. 5 for a network's last hidden layer as features.

    Args:
        noise_variance: Variance of the labels' noise.
        prior_variance: Prior covariance Sigma_0 of the weights: a number, one per weight [d], or
            [d, d].
        prior_mean: Prior mean of the weights: a number, or one per weight [d].
        features: Feature map: None for the inputs themselves, a callable, a fitted scikit-learn
            transformer, or `NetworkFeatures`.
        bias: Whether a last feature, always 1, is appended (its weight is the last of the d).
    """

    noise_variance: float
    prior_variance: Any = 1.0
    prior_mean: Any = 0.0
    features: Any = None
    bias: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_variance", positive(self.noise_variance, "noise_variance"))
        if not isinstance(self.bias, bool | np.bool_):
            raise DataError(f"bias {shown(self.bias)} is neither True nor False")
        object.__setattr__(self, "bias", bool(self.bias))
        if not (
            self.features is None or callable(self.features) or hasattr(self.features, "transform")
        ):
            raise DataError(
                f"features {shown(self.features)} is neither a callable nor a fitted transformer"
            )
        mean, Sigma_0 = (
            as_numeric(v, n)
            for v, n in ((self.prior_mean, "prior_mean"), (self.prior_variance, "prior_variance"))
        )
        if mean.ndim > 1 or not np.isfinite(mean).all():
            raise DataError(
                f"prior_mean of shape {mean.shape} is not a finite number, nor one per weight"
            )
        object.__setattr__(self, "prior_mean", read_only(mean))
        object.__setattr__(self, "prior_variance", read_only(Sigma_0))
        object.__setattr__(self, "_root", read_only(_square_root(Sigma_0)))

    def design(self, X: FloatArray) -> FloatArray:
        """Phi [m, d]: the features, with the bias as last column."""
        Phi = apply_features(self.features, X)
        if self.bias:
            Phi = np.column_stack([Phi, np.ones(len(Phi))])
        for name, prior in (
            ("prior_mean", self.prior_mean),
            ("prior_variance", self.prior_variance),
        ):
            if prior.ndim and len(prior) != Phi.shape[1]:
                raise DataError(
                    f"{name} is for {len(prior)} weights, but there are {Phi.shape[1]} features"
                    f"{' with the bias' if self.bias else ''}"
                )
        return Phi

    def root_of(self, weights: int) -> FloatArray:
        """L_0 [d, d], lower, with L_0 L_0^T = Sigma_0, for so many weights."""
        root: FloatArray = self._root  # type: ignore[attr-defined]
        return root if root.ndim == 2 else np.diag(np.broadcast_to(root, weights))

    def whitened_features(self, X: FloatArray) -> FloatArray:
        """Phi L_0 [m, d] with L_0 L_0^T = Sigma_0."""
        root: FloatArray = self._root  # type: ignore[attr-defined]
        Phi = self.design(X)
        return Phi @ root if root.ndim == 2 else Phi * root

    def feature_bounds(self, inputs: int) -> FeatureBounds:  # noqa: ARG002 -- of any number
        """Inputs may be as large as they like, but the bias is 1 in every row."""
        if not self.bias:
            return FeatureBounds()
        # L_0 is lower, so that the last whitened feature is a multiple of the bias alone.
        root: FloatArray = self._root  # type: ignore[attr-defined]
        return FeatureBounds(constant=float(root.flat[-1]) ** 2)

    def moments(self, X: FloatArray, y: FloatArray) -> RowSums:
        """Sums over some rows, see `WeightModel.moments`.

        Where the features are the inputs, bias and prior are applied to the sums instead of to a
        copy of the rows.
        """
        if self.features is not None or self.prior_mean.any():
            return super().moments(X, y)
        G, q = X.T @ X, X.T @ y
        if self.bias:
            total = X.sum(axis=0)
            G, q = (
                np.block([[G, total[:, None]], [total, np.full((1, 1), len(X))]]),
                np.append(q, y.sum()),
            )
        root: FloatArray = self._root  # type: ignore[attr-defined]
        if root.ndim == 2:
            return RowSums(root.T @ G @ root, root.T @ q, float(y @ y))
        return RowSums(G * root * np.reshape(root, (-1, 1)), q * root, float(y @ y))

    def prior_mean_at(self, X: FloatArray) -> FloatArray:
        """Prior mean of the latent values at X [m]."""
        if not self.prior_mean.any():
            return np.zeros(len(X))
        Phi = self.design(X)
        return np.asarray(Phi @ np.broadcast_to(self.prior_mean, Phi.shape[1]))

    def learn(
        self,
        X: Any,
        y: Any,
        rng: np.random.Generator | int | None = None,  # noqa: ARG002 -- the search is deterministic
        *,
        restarts: int = 0,  # noqa: ARG002 -- and looks everywhere
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> Learned:
        """The noise variance of the largest evidence; the prior stays.

        With A = U S V^T, the evidence of every noise variance costs O(d) after one SVD.
        """
        X, _ = as_matrix(X, "hyperparameter data")
        y = as_one_set_of_labels(y, len(X)) - self.prior_mean_at(X)
        check_noise_bounds(noise_bounds)
        U, S = left_singular(self.whitened_features(X))
        u = U.T @ y
        evidence = Evidence(
            eigenvalues=S**2, along=u**2, outside=float(((y - U @ u) ** 2).sum()), rows=len(y)
        )
        best = evidence.best(noise_bounds=noise_bounds)
        return Learned(
            replace(self, noise_variance=best.noise), noise_notes(best.noise, noise_bounds)
        )

    def learn_prior(
        self,
        X: FloatArray,
        Y: FloatArray,
        noise: FloatArray,
        *,
        rng: np.random.Generator | int | None = None,  # noqa: ARG002 -- the search is deterministic
        restarts: int = 0,  # noqa: ARG002 -- and looks everywhere
    ) -> Learned:
        """A factor on the prior variance, of the largest evidence of several sets of labels."""
        A = self.whitened_features(X)
        sets = []
        for y, s2 in zip((Y.T - self.prior_mean_at(X)), noise.T, strict=True):
            weighted = A / s2[:, None]
            squares = float((y**2 / s2).sum())
            sets.append(Evidence.of(weighted.T @ A, weighted.T @ y, squares=squares, rows=len(y)))
        best = Evidence.of_sets(sets).best(factor_bounds=FACTOR_BOUNDS)
        return Learned(self.with_prior_scaled(best.factor), ())

    def with_prior_scaled(self, factor: float) -> "BayesianLinearRegression":
        """The same with another prior covariance, factor times this one's."""
        return replace(self, prior_variance=factor * self.prior_variance)


def _square_root(Sigma_0: FloatArray) -> FloatArray:
    if Sigma_0.ndim < 2:
        if not ((Sigma_0 > 0) & np.isfinite(Sigma_0)).all():
            raise DataError(f"prior_variance {shown(Sigma_0.tolist())} must be finite and above 0")
        return np.sqrt(Sigma_0)
    if _is_symmetric(Sigma_0):
        with suppress(NotComputable):
            return lower_factors(Sigma_0)
    raise DataError(
        f"prior_variance of shape {Sigma_0.shape} is not a symmetric, positive definite covariance"
    )


def _is_symmetric(Sigma_0: FloatArray) -> bool:
    """Whether it is, but for rounding; each weight has a unit of its own."""
    if Sigma_0.shape != Sigma_0.T.shape:
        return False
    H = with_unit_diagonal(Sigma_0)
    return bool(np.abs(H - H.T).max(initial=0.0) <= 1e-9)
