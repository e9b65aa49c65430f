"""A linear reward as plain coefficients in JSON, for whatever can multiply and add."""

import json
from typing import Any

from fairpool.errors import RewardFileError
from fairpool.export.latent import linear_of, weights_of
from fairpool.export.note import note_of
from fairpool.models import BayesianLinearRegression, ClassPosterior
from fairpool.realisation import ModelReward
from fairpool.realisation.encoding_codec import encode_encoding
from fairpool.targets import LogNumberTarget

VERSION = 1
BIAS = "1"
"""What the last feature is called, where it is always 1."""

HOW = (
    "phi: the features of a row, in order, the one called 1 being always 1;"
    " a number is (x - mean) / scale, a category is 1 for its level and 0 for the others.",
    "mean = sum_i coefficients[i] * phi[i]",
    "variance = sum_ij phi[i] * covariance[i][j] * phi[j] + noise_variance",
    "In the target's own units: mean * target_scale + target_mean, and variance * target_scale^2.",
)
OF_LOGARITHMS = (
    "These are of the target's natural logarithm; with m and s2 for mean and variance, the target"
    " itself has the mean exp(m + s2 / 2) and the variance (exp(s2) - 1) exp(2 m + s2)."
)


def coefficients_of(reward: ModelReward) -> bytes:
    """The file's content; models that are not linear in their inputs are refused."""
    if isinstance(reward.posterior, ClassPosterior):
        raise RewardFileError(
            "probabilities of classes are integrals, and no coefficients say them; export to"
            " model.onnx instead"
        )
    posterior = weights_of(reward.posterior)
    model = posterior.model
    if not isinstance(model, BayesianLinearRegression) or model.features is not None:
        raise RewardFileError(
            f"a model of type {type(model).__name__} is not linear in its inputs, so that no"
            " coefficients say it; export to model.onnx instead"
        )
    linear = linear_of(posterior)
    note = note_of(reward, "It holds the coefficients of a linear model; `how` says what they do.")
    description: dict[str, Any] = {
        "format": "fairpool coefficients",
        "version": VERSION,
        "about": note.text.splitlines(),
        "facts": note.facts,
        "how": _how(reward),
        "features": _features(reward, bias=model.bias),
        "coefficients": linear.coefficients.tolist(),
        "covariance": (linear.root @ linear.root.T).tolist(),
        "noise_variance": model.noise_variance,
    }
    if reward.encoding is not None:
        encoding = encode_encoding(reward.encoding)
        description |= {
            "columns": encoding["columns"],
            "target": encoding["target"],
            "target_mean": encoding["mean"],
            "target_scale": encoding["scale"],
        }
    return (json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _how(reward: ModelReward) -> list[str]:
    """What is done with the numbers, in words and formulas."""
    if reward.encoding is None:
        return [*HOW[1:3]]
    lines = [*HOW]
    if isinstance(reward.encoding.target, LogNumberTarget):
        lines.append(OF_LOGARITHMS)
    return lines


def _features(reward: ModelReward, *, bias: bool) -> list[str]:
    """What the features are called."""
    posterior = reward.posterior
    names = posterior.columns or tuple(f"X{place}" for place in range(posterior.inputs))
    if reward.encoding is not None:
        names = reward.encoding.features
    return [*names, BIAS] if bias else [*names]
