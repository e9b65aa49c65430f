"""Feature maps for Bayesian linear regression: the inputs, a transformer, a network."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from fairpool.errors import DataError
from fairpool.tables.arrays import FloatArray, as_generator, as_labels, as_matrix, read_only

ACTIVATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "identity": lambda Z: Z,
    "relu": lambda Z: np.maximum(Z, 0.0),
    "tanh": np.tanh,
    "logistic": expit,
}
"""The activations of scikit-learn's networks."""


def apply_features(features: Any, X: FloatArray) -> FloatArray:
    """Phi(X) [m, d] for None (the inputs), a callable, or a fitted transformer."""
    if features is None:
        return X
    if not len(X):  # transformers refuse an empty table: ask them for the number of features only
        return apply_features(features, np.zeros((1, X.shape[1])))[:0]
    Phi = features.transform(X) if hasattr(features, "transform") else features(X)
    Phi = np.asarray(Phi.toarray() if hasattr(Phi, "toarray") else Phi, dtype=np.float64)
    if Phi.ndim != 2 or len(Phi) != len(X) or not np.isfinite(Phi).all():
        raise DataError(
            f"the feature map gave an array of shape {Phi.shape} for {len(X)} rows"
            f"{'' if np.isfinite(Phi).all() else ' with values that are not finite'}; it must give"
            " one finite row each"
        )
    return Phi


@dataclass(frozen=True, eq=False)
class NetworkFeatures:
    """The last hidden layer of a trained network, as a feature map of plain arrays.

    Paper: Sec. 5, App. E.3: train a network on public data, then do Bayesian linear regression on
    its last layer.

    Attributes:
        weights: One matrix per hidden layer.
        intercepts: One vector per hidden layer.
        activation: "relu", "tanh", "logistic" or "identity".
        last_weights: The output layer's weights, its intercept last [d + 1]: the informative prior
            mean of App. F.2. None out of a reward file, which does not hold them, and with several
            outputs.
    """

    weights: tuple[FloatArray, ...]
    intercepts: tuple[FloatArray, ...]
    activation: str
    last_weights: FloatArray | None

    def __call__(self, X: Any) -> FloatArray:
        """Outputs of the last hidden layer [m, d]."""
        Z = np.asarray(X, dtype=np.float64)
        for W, b in zip(self.weights, self.intercepts, strict=True):
            Z = ACTIVATIONS[self.activation](Z @ W + b)
        return Z

    @classmethod
    def of(cls, network: MLPRegressor) -> "NetworkFeatures":
        """The last hidden layer of a fitted `MLPRegressor`; with one output, its weights, too."""
        if not hasattr(network, "coefs_"):
            raise DataError("the network must be a fitted MLPRegressor; call fit first")
        *W, last = (read_only(w) for w in network.coefs_)
        *b, intercept = (read_only(c) for c in network.intercepts_)
        weights = None
        if last.shape[1] == 1:
            weights = read_only(np.append(last[:, 0], intercept))
        return cls(
            weights=tuple(W),
            intercepts=tuple(b),
            activation=network.activation,
            last_weights=weights,
        )

    @classmethod
    def train(
        cls,
        X: Any,
        y: Any,
        hidden_layers: Sequence[int] = (100, 50),
        rng: np.random.Generator | int | None = None,
        **settings: Any,
    ) -> "NetworkFeatures":
        """Train a network on public data X [m, p], y (standardise both first).

        Args:
            X: Public inputs.
            y: Public labels [m], or [m, k]: of k classes, whether a row is of each.
            hidden_layers: Units of each hidden layer; the last one gives the features.
            rng: Seed or generator of the starting weights and batches.
            settings: Anything else that `MLPRegressor` takes.
        """
        X, _ = as_matrix(X, "public data")
        seed = int(as_generator(rng).integers(2**31))
        network = MLPRegressor(
            hidden_layer_sizes=tuple(hidden_layers), random_state=seed, **settings
        )
        with warnings.catch_warnings():
            # The features need not be a minimum of anything: the last layer is learned anew by
            # regression.
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(X, as_labels(y, len(X)))
        return cls.of(network)
