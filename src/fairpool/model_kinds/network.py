"""kind = "network": Bayesian linear regression on the last hidden layer of a network."""

from typing import Any

from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError, shown
from fairpool.keys import Key
from fairpool.model_kinds.blr import (
    PRIOR_VARIANCE,
    STORED_AS,
    LinearKind,
    decode_regression,
    encode_regression,
)
from fairpool.model_kinds.kind import Disclosure, LearningData, Stored
from fairpool.models import BayesianLinearRegression, Model, NetworkFeatures, WeightPosterior
from fairpool.models.features import ACTIVATIONS
from fairpool.notes import Note
from fairpool.stored import number

SEED = 0
"""Of the network's start: not secret, since it has nothing to do with the noise on labels."""

MOST_LAYERS = 100
"""Of a network in a file."""


def _layers(sizes: list[int]) -> list[int]:
    if not sizes:
        raise ValueError("[] is not allowed; give the size of at least one layer")
    for place, size in enumerate(sizes, 1):
        if size < 1:
            raise ValueError(f"layer {place} of {size} is not allowed; give whole numbers from 1")
    return sizes


class NetworkKind(LinearKind):
    """Bayesian linear regression on a network."""

    name = "network"
    title = "Bayesian linear regression on a network's last hidden layer"
    keys = {  # noqa: RUF012 -- never changed
        "prior_variance": PRIOR_VARIANCE,
        "hidden_layers": Key(type=list[int], default=[100, 50], check=_layers),
    }
    disclosure = Disclosure(
        from_labels="Its network was trained on all parties' labels without noise, as all parties"
        " agreed: features of the network tell about them, whatever your reward is.",
        note=Note(
            code="network of all labels",
            text="the network was trained on all parties' labels, without noise, and goes into"
            " every reward; give [public] data to keep those labels out of it",
        ),
    )

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:  # noqa: ARG002
        """One per unit of the last hidden layer, and the bias."""
        return int(settings.hidden_layers[-1]) + 1

    def build(self, settings: Any, data: LearningData) -> BayesianLinearRegression:
        """A regression on a network that is trained now."""
        network = NetworkFeatures.train(data.X, data.y, settings.hidden_layers, rng=SEED)
        return BayesianLinearRegression(data.noise, settings.prior_variance, features=network)

    def describe(
        self, model: BayesianLinearRegression, settings: Any, encoding: TableEncoding
    ) -> dict[str, str]:
        """Its prior, and the network's layers."""
        layers = ", ".join(str(W.shape[1]) for W in model.features.weights)
        return super().describe(model, settings, encoding) | {"hidden layers": layers}

    def suits(self, model: Model) -> bool:
        """Whether a model is a regression on a network."""
        if not isinstance(model, BayesianLinearRegression):
            return False
        return isinstance(model.features, NetworkFeatures)

    def encode(self, posterior: WeightPosterior) -> Stored:
        """Prior, network and posterior."""
        assert isinstance(posterior.model, BayesianLinearRegression)
        network: NetworkFeatures = posterior.model.features
        layers = len(network.weights)
        # Not the last weights: these are the network's own predictions, made of exact labels.
        tensors = {}
        for k in range(layers):
            tensors[f"network.weights.{k}"] = network.weights[k]
            tensors[f"network.intercepts.{k}"] = network.intercepts[k]
        description = {"features": {"activation": network.activation, "layers": layers}}
        return encode_regression(posterior, Stored(description, tensors))

    def recognises(self, description: dict[str, Any]) -> bool:
        """Whether a file holds a regression on a network."""
        return description["kind"] == STORED_AS and description["features"] is not None

    def decode(self, stored: Stored) -> WeightPosterior:
        """The regression, its network and its posterior."""
        return decode_regression(stored, features=_decode_network(stored))


def _decode_network(stored: Stored) -> NetworkFeatures:
    description, tensors = stored.description["features"], stored.tensors
    layers = int(number(description["layers"], "layers", least=1, most=MOST_LAYERS))
    activation = description["activation"]
    if activation not in ACTIVATIONS:
        raise RewardFileError(f"its network has the activation {shown(activation)}")
    weights = tuple(tensors[f"network.weights.{k}"] for k in range(layers))
    intercepts = tuple(tensors[f"network.intercepts.{k}"] for k in range(layers))
    for k, (W, b) in enumerate(zip(weights, intercepts, strict=True)):
        fits = W.ndim == 2 and b.shape == W.shape[1:]
        if fits and k:
            fits = weights[k - 1].shape[1] == W.shape[0]
        if not fits:
            raise RewardFileError(
                f"its network's layer {k} does not fit: weights {W.shape}, intercepts {b.shape}"
            )
    return NetworkFeatures(
        weights=weights,
        intercepts=intercepts,
        activation=activation,
        last_weights=None,
    )
