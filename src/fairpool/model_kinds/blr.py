"""kind = "blr": Bayesian linear regression on the inputs."""

from dataclasses import replace
from typing import Any

import numpy as np

from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.keys import Key, above
from fairpool.model_kinds.kind import Disclosure, LearningData, Stored
from fairpool.model_kinds.weights import WeightKind, decode_weights, encode_weights, round_number
from fairpool.models import BayesianLinearRegression, Model, NetworkFeatures, WeightPosterior

STORED_AS = "BayesianLinearRegression"


PRIOR_VARIANCE = Key(type=float, default=1.0, check=above(0))
"""Of the weights."""


class LinearKind(WeightKind):
    """Bayesian linear regression."""

    name = "blr"
    title = "Bayesian linear regression"
    keys = {"prior_variance": PRIOR_VARIANCE}  # noqa: RUF012 -- never changed
    learning_rows = 100_000
    disclosure = Disclosure()

    def weights(self, settings: Any, *, inputs: int, rows: int) -> int:  # noqa: ARG002
        """One per input, and the bias."""
        return inputs + 1

    def build(self, settings: Any, data: LearningData) -> BayesianLinearRegression:
        """A regression on the inputs."""
        return BayesianLinearRegression(data.noise, settings.prior_variance)

    def rounded(self, model: BayesianLinearRegression) -> Model:
        """The regression with its noise and prior variances to three digits."""
        # For classes it is the prior that was learned, and not the noise.
        prior = np.array([round_number(number) for number in np.ravel(model.prior_variance)])
        return replace(
            model,
            noise_variance=round_number(model.noise_variance),
            prior_variance=prior.reshape(np.shape(model.prior_variance)),
        )

    def describe(
        self,
        model: BayesianLinearRegression,
        settings: Any,  # noqa: ARG002 -- the model says it all
        encoding: TableEncoding,  # noqa: ARG002
    ) -> dict[str, str]:
        """Its prior."""
        return {"prior variance of the weights": f"{float(model.prior_variance):.4g}"}

    def suits(self, model: Model) -> bool:
        """Whether a model is a regression, on anything but a network."""
        if not isinstance(model, BayesianLinearRegression):
            return False
        return not isinstance(model.features, NetworkFeatures)

    def encode(self, posterior: WeightPosterior) -> Stored:
        """Prior and posterior; features other than the inputs are code, which no file holds."""
        model = posterior.model
        assert isinstance(model, BayesianLinearRegression)
        if model.features is not None:
            raise RewardFileError(
                f"a feature map of type {type(model.features).__name__} cannot be put into a file,"
                " which holds no code; use NetworkFeatures, or transform the inputs beforehand"
            )
        return encode_regression(posterior, Stored({"features": None}, {}))

    def recognises(self, description: dict[str, Any]) -> bool:
        """Whether a file holds a regression on the inputs."""
        return description["kind"] == STORED_AS and description["features"] is None

    def decode(self, stored: Stored) -> WeightPosterior:
        """The regression and its posterior."""
        return decode_regression(stored, features=None)


def encode_regression(posterior: WeightPosterior, features: Stored) -> Stored:
    """A regression on features that are described already."""
    model = posterior.model
    assert isinstance(model, BayesianLinearRegression)
    description = {
        "kind": STORED_AS,
        "noise_variance": model.noise_variance,
        "bias": model.bias,
        **features.description,
    }
    tensors = {
        "prior_mean": model.prior_mean,
        "prior_variance": model.prior_variance,
        **features.tensors,
    }
    return encode_weights(posterior, Stored(description, tensors))


def decode_regression(stored: Stored, features: NetworkFeatures | None) -> WeightPosterior:
    """A regression on these features, and its posterior."""
    model = BayesianLinearRegression(
        float(stored.description["noise_variance"]),
        prior_variance=stored.tensors["prior_variance"],
        prior_mean=stored.tensors["prior_mean"],
        features=features,
        bias=bool(stored.description["bias"]),
    )
    return decode_weights(stored, model)
