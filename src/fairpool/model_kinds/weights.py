"""What all kinds of models with weights have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.model_kinds.kind import Disclosure, Stored
from fairpool.models import WeightModel, WeightPosterior
from fairpool.parties import Told
from fairpool.stored import number


class WeightKind:
    """A kind whose values need sums over rows alone, so that a table may be larger than memory."""

    needs_rows = False
    disclosure: Disclosure

    def disclosed(self, settings: Any, encoding: TableEncoding) -> Disclosure:  # noqa: ARG002
        """The same, however it is configured."""
        return self.disclosure

    def problems(
        self,
        settings: Any,  # noqa: ARG002 -- for kinds that not all columns suit
        encoding: TableEncoding,  # noqa: ARG002
        *,
        public: bool,  # noqa: ARG002
    ) -> list[str]:
        """Any columns will do."""
        return []

    def refuse_too_many_rows(self, sizes: Sequence[int], workers: int) -> None:
        """Any number of rows will do."""


def round_number(value: float) -> float:
    """To three digits."""
    return float(f"{value:.2e}")


def encode_weights(posterior: WeightPosterior, model: Stored) -> Stored:
    """A posterior on weights, for a file, beside the model that it is of."""
    description = model.description | {"inputs": posterior.inputs}
    tensors = {"weights": posterior.weights, "factor": posterior.factor}
    if posterior.others is not None:
        tensors["others.precision"] = posterior.others.precision
        tensors["others.moment"] = posterior.others.moment
    return Stored(description, model.tensors | tensors)


def decode_weights(stored: Stored, model: WeightModel) -> WeightPosterior:
    """The posterior on a model's weights that was stored."""
    weights, factor = stored.tensors["weights"], stored.tensors["factor"]
    inputs = int(number(stored.description["inputs"], "inputs", least=0, most=1e6))
    is_square = weights.ndim == 1 and factor.shape == (len(weights), len(weights))
    if not is_square or not (np.diag(factor) > 0).all():
        raise RewardFileError(
            f"its arrays do not fit: weights {weights.shape}, factor {factor.shape}"
        )
    features = model.whitened_features(np.zeros((0, inputs))).shape[1]
    if features != len(weights):
        raise RewardFileError(
            f"it has {len(weights)} weights for {features} features; it may be of another version:"
            " ask for it again"
        )
    return WeightPosterior(
        model=model,
        inputs=inputs,
        weights=weights,
        factor=factor,
        others=_decode_others(stored, len(weights)),
    )


def _decode_others(stored: Stored, weights: int) -> Told | None:
    """What stands for the others' data in a hidden covariance; None in a full one."""
    names = ("others.precision", "others.moment")
    if not any(name in stored.tensors for name in names):
        return None
    precision, moment = (stored.tensors[name] for name in names)
    if precision.shape != (weights, weights) or moment.shape != (weights,):
        raise RewardFileError(
            f"its arrays do not fit: {weights} weights, others' precision {precision.shape}, moment"
            f" {moment.shape}"
        )
    return Told(precision, moment)
