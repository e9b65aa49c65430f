"""Models in an archive: each as its own reward file, and what only the operator knows of it."""

from dataclasses import replace
from typing import Any

import numpy as np

from fairpool.errors import RewardFileError, shown
from fairpool.models import ClassPosterior, TrainedPosterior, WeightPosterior
from fairpool.realisation import MECHANISMS, ModelReward
from fairpool.realisation.disclosure import Exposure, RareClass
from fairpool.realisation.outlying import OutlyingRow
from fairpool.realisation.reward_file import decode_reward, reward_bytes
from fairpool.realisation.tensor_file import Tensors
from fairpool.stored import number, text, whole_number
from fairpool.tables.arrays import FloatArray


def encode_model(reward: ModelReward, place: int, tensors: Tensors) -> dict[str, Any]:
    """What the reward's own file does not say; that file goes among the tensors as it is.

    Args:
        reward: The model.
        place: Whose it is, from 0.
        tensors: The file's arrays, to which its own are added.
    """
    if MECHANISMS.get(reward.mechanism.name) is None:
        raise RewardFileError(
            f'the reward of "{reward.party}" was made by the mechanism "{reward.mechanism.name}",'
            " which is not among fairpool's own, so that no file can name it"
        )
    # For the operator, who has all of it anyway.
    content = reward_bytes(reward, share_inputs=True, known_noise=True, share_labels=True)
    tensors[f"model.{place}"] = np.frombuffer(content, dtype=np.uint8)
    for c, factor in enumerate(_trained_factors(reward.posterior)):
        if factor is not None:
            tensors[_factor_key(place, c)] = factor
    return {
        "known_noise": reward.known_noise,
        "covariance_price": reward.covariance_price,
        "exposure": None if reward.exposure is None else _encode_exposure(reward.exposure),
    }


def decode_model(described: dict[str, Any], place: int, tensors: Tensors, name: str) -> ModelReward:
    """The reward that `encode_model` described."""
    content = tensors.pop(f"model.{place}")
    if content.dtype != np.uint8 or content.ndim != 1:
        raise RewardFileError(f"model {place} is no file")
    reward = decode_reward(content.tobytes(), f"{name}, model {place}")
    exposure = described["exposure"]
    return replace(
        reward,
        posterior=_with_trained_factors(reward.posterior, place, tensors),
        known_noise=_flag(described, "known_noise"),
        covariance_price=number(described["covariance_price"], "covariance_price"),
        exposure=None if exposure is None else _decode_exposure(exposure),
    )


def _trained_factors(posterior: TrainedPosterior) -> list[FloatArray | None]:
    """Of every class, or of the one model: the factor that no reward file has."""
    if isinstance(posterior, ClassPosterior):
        return [_trained_factors(one)[0] for one in posterior.of_classes]
    return [posterior.trained_factor if isinstance(posterior, WeightPosterior) else None]


def _with_trained_factors(
    posterior: TrainedPosterior, place: int, tensors: Tensors
) -> TrainedPosterior:
    if isinstance(posterior, ClassPosterior):
        of_classes = [
            _with_factor(one, _factor_key(place, c), tensors)
            for c, one in enumerate(posterior.of_classes)
        ]
        return replace(posterior, of_classes=tuple(of_classes))
    return _with_factor(posterior, _factor_key(place, 0), tensors)


def _with_factor(posterior: TrainedPosterior, key: str, tensors: Tensors) -> TrainedPosterior:
    if key not in tensors:
        return posterior
    factor = tensors.pop(key)
    if not isinstance(posterior, WeightPosterior) or factor.shape != posterior.factor.shape:
        raise RewardFileError(f"{key} of shape {factor.shape} does not fit its model")
    return replace(posterior, trained_factor=factor)


def _factor_key(place: int, c: int) -> str:
    return f"model.{place}.trained_factor.{c}"


def _encode_exposure(exposure: Exposure) -> dict[str, Any]:
    """All but what the recipient sees of labels, which was looked at when the model was made."""
    return {
        "rows": {**exposure.rows},
        "releases": {**exposure.releases},
        "weights": exposure.weights,
        "inputs": exposure.inputs,
        "classes": exposure.classes,
        "hidden": exposure.hidden,
        "tells_labels": exposure.tells_labels,
        "outlying": {name: list(row) for name, row in exposure.outlying.items()},
        "rare": {name: list(rare) for name, rare in exposure.rare.items()},
    }


def _decode_exposure(described: dict[str, Any]) -> Exposure:
    outlying = {}
    for name, (place, share) in described["outlying"].items():
        outlying[name] = OutlyingRow(text(place), number(share, "share"))
    rare = {}
    for name, (of_class, rows) in described["rare"].items():
        rare[name] = RareClass(text(of_class), whole_number(rows, "rows"))
    return Exposure(
        rows=_counts(described["rows"]),
        releases=_counts(described["releases"]),
        outlying=outlying,
        rare=rare,
        hidden=_flag(described, "hidden"),
        tells_labels=_flag(described, "tells_labels"),
        weights=whole_number(described["weights"], "weights"),
        inputs=whole_number(described["inputs"], "inputs"),
        classes=whole_number(described["classes"], "classes"),
    )


def _flag(described: dict[str, Any], name: str) -> bool:
    """An entry that is true or false."""
    flag = described[name]
    if not isinstance(flag, bool):
        raise RewardFileError(f"{name} {shown(flag)} must be true or false")
    return flag


def _counts(described: dict[str, Any]) -> dict[str, int]:
    return {name: whole_number(count, "rows") for name, count in described.items()}
