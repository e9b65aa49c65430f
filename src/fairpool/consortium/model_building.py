"""The model that the configuration asks for, with hyperparameters given or learned before any data
is valued.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpool.consortium.configuration import ModelSection
from fairpool.consortium.kernel_expression import parse_kernel
from fairpool.models import (
    BayesianLinearRegression,
    GaussianProcess,
    Model,
    NetworkFeatures,
    SparseGaussianProcess,
    inducing_points,
)
from fairpool.models.kernels import leaves
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import TableEncoding

LEARN_ROWS = {"gp": 1000, "sparse_gp": 4000, "blr": 100_000, "network": 100_000}
"""From how many rows hyperparameters are learned at most; more would take long and change little.
"""

START_NOISE = 0.3
"""Where the search for the noise variance starts, in units of the standardised target's variance.
"""

LEAST_CLUSTER = 5
"""An inducing point is the mean of at least this many rows, so that it shows none of them."""

MODEL_SEED = 0
"""Of k-means and of the network: not secret, since it has nothing to do with the noise on labels.
"""


@dataclass(frozen=True)
class BuiltModel:
    """A model, and how it came about.

    Attributes:
        model: The model.
        origin: Where scaling, hyperparameters and network come from, in words.
        settings: Its hyperparameters by name, in words.
        notes: Why the hyperparameters may not be the best ones.
    """

    model: Model
    origin: str
    settings: dict[str, str]
    notes: tuple[Note, ...] = ()

    @property
    def optimum_reached(self) -> bool:
        """Whether learning ended at an optimum; True where nothing was to be learned."""
        return not self.notes


def build_model(
    section: ModelSection,
    X: FloatArray,
    y: FloatArray,
    origin: str,
    encoding: TableEncoding,
    public: bool,
) -> BuiltModel:
    """Make the model, and learn what is to be learned from X [m, p], y [m] (public rows, or else
    the pool's).

    What is learned from the parties' own rows is rounded, since it goes into every reward file:
    from exact means and sums a party could subtract its own rows.
    """
    rng = np.random.default_rng(MODEL_SEED)
    if len(X) > (most := LEARN_ROWS[section.kind]):
        rows = rng.permutation(len(X))[:most]
        X, y, origin = X[rows], y[rows], f"{origin}, {most} rows of it"
    noise = section.noise_variance or START_NOISE
    model: Model
    if section.kind == "gp":
        model = GaussianProcess(parse_kernel(section.kernel, X.shape[1]), noise)
    elif section.kind == "sparse_gp":
        count = min(section.inducing_points, max(len(X) // LEAST_CLUSTER, 1))
        U = inducing_points(X, count, rng=MODEL_SEED, least_rows=min(LEAST_CLUSTER, len(X)))
        U = U if public else np.unique(U.round(1), axis=0)
        model = SparseGaussianProcess(parse_kernel(section.kernel, X.shape[1]), noise, U)
    else:
        features = None
        if section.kind == "network":
            features = NetworkFeatures.train(X, y, section.hidden_layers, rng=MODEL_SEED)
        model = BayesianLinearRegression(noise, section.prior_variance, features=features)
    notes: tuple[Note, ...] = ()
    if section.learn:
        learned = model.learn(X, y)
        model, notes = learned.model, learned.notes
        model = model if public else _rounded(model)
    settings = _describe(model, encoding)
    if (
        isinstance(model, SparseGaussianProcess)
        and len(model.inducing_points) < section.inducing_points
    ):
        settings["inducing points"] += (
            f" ({section.inducing_points} asked for; clusters of few rows are left out)"
        )
    origin = origin if section.learn else f"given; scaling from {origin}"
    return BuiltModel(model, origin, settings, notes)


def _rounded(model: Any) -> Any:
    """The model with its hyperparameters to three digits."""
    changes: dict[str, Any] = {"noise_variance": float(f"{model.noise_variance:.2e}")}
    if isinstance(model, GaussianProcess | SparseGaussianProcess):
        theta = np.array([np.log(float(f"{np.exp(value):.2e}")) for value in model.kernel.theta])
        changes["kernel"] = model.kernel.clone_with_theta(theta)
    return replace(model, **changes)


def _describe(model: Any, encoding: TableEncoding) -> dict[str, str]:
    deviation = np.sqrt(model.noise_variance)
    found = {
        "noise": f"{deviation * encoding.scale:.4g} {encoding.target} ({deviation:.3g} standard deviations)"
    }
    if isinstance(model, GaussianProcess | SparseGaussianProcess):
        found["kernel"] = str(model.kernel)
        scales = [
            leaf.length_scale for leaf in leaves(model.kernel) if hasattr(leaf, "length_scale")
        ]
        if scales:  # a long length scale means that the feature hardly matters
            shortest = np.min([np.broadcast_to(s, len(encoding.features)) for s in scales], axis=0)
            ranked = [encoding.features[k] for k in np.argsort(shortest)]
            found["numbers, most relevant first"] = ", ".join(
                name for name in ranked if name in encoding.numbers
            )
    if isinstance(model, SparseGaussianProcess):
        found["inducing points"] = str(len(model.inducing_points))
    if isinstance(model, BayesianLinearRegression):
        found["prior variance of the weights"] = f"{float(model.prior_variance):.4g}"
        if isinstance(model.features, NetworkFeatures):
            found["hidden layers"] = ", ".join(str(W.shape[1]) for W in model.features.weights)
    return found
