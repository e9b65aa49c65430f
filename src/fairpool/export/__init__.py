"""A reward in a file that needs no fairpool: a graph in ONNX's format, or plain coefficients."""

from pathlib import Path
from typing import NamedTuple

from fairpool.compute.files import write_atomically
from fairpool.errors import RewardFileError
from fairpool.export.coefficients import coefficients_of
from fairpool.export.onnx_model import onnx_model
from fairpool.realisation import ModelReward
from fairpool.realisation.reward_file import refuse_to_hand_out

__all__ = ["Exported", "export_reward"]


class Exported(NamedTuple):
    """What was written.

    Attributes:
        inputs: What the model is fed, by name; nothing of coefficients.
        outputs: What it gives.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def export_reward(
    reward: ModelReward,
    path: str | Path,
    *,
    share_inputs: bool = False,
    known_noise: bool = False,
    share_labels: bool = False,
) -> Exported:
    """Write a reward as a file that predicts without fairpool; atomically, for this user alone.

    Mean and variance, or probabilities, are the reward's own. What a reward's file must not tell,
    this one must not either: the same is refused as by `ModelReward.save`.

    Args:
        reward: A model with weights. One that holds rows, or that needs an encoder for texts or
            images, is refused.
        path: Where to: `model.onnx`, which any ONNX runtime opens and which takes raw columns of a
            table, or `coefficients.json`, for linear models of numbers.
        share_inputs: As for `ModelReward.save`.
        known_noise: As for `ModelReward.save`.
        share_labels: As for `ModelReward.save`.
    """
    path = Path(path)
    refuse_to_hand_out(
        reward, share_inputs=share_inputs, known_noise=known_noise, share_labels=share_labels
    )
    if path.suffix == ".onnx":
        model = onnx_model(reward)
        write_atomically(path, model.content)
        return Exported(model.inputs, model.outputs)
    if path.suffix == ".json":
        write_atomically(path, coefficients_of(reward))
        return Exported((), ())
    raise RewardFileError(
        f"{path}: nothing is known of files that end with {path.suffix or 'nothing'}; give a name"
        " that ends with .onnx, or with .json for the coefficients of a linear model"
    )
