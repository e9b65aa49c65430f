"""Reward files: safetensors with one canonical JSON entry, no pickle; everything is checked before
it is used.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from fairpool.compute.files import write_atomically
from fairpool.errors import RewardFileError, shown
from fairpool.models import GaussianProcess, KernelPosterior, WeightPosterior
from fairpool.realisation.model_codec import (
    decode_encoding,
    decode_model,
    encode_encoding,
    encode_model,
    number,
    text,
)
from fairpool.realisation.model_reward import ModelReward
from fairpool.tables.arrays import FloatArray

ENTRY = "fairpool"
VERSION = 1
KEYS = {
    "version",
    "party",
    "target",
    "value",
    "tau",
    "eta",
    "holds_inputs_of_others",
    "rho",
    "columns",
    "encoding",
    "model",
    "sha256",
}
"""What a file's description holds, and nothing else."""


def save_reward(reward: ModelReward, path: Path, *, share_inputs: bool) -> None:
    """Write a reward to `path`, atomically: a killed run leaves the old file or none."""
    if reward.holds_inputs_of_others and not share_inputs:
        raise RewardFileError(
            f'the reward of "{reward.party}" contains other parties\' inputs; if all agreed to'
            " that, save it with"
            " share_inputs=True; otherwise use Bayesian linear regression, or a sparse Gaussian"
            " process whose inducing"
            " points are nobody's rows"
        )
    if reward.for_evaluation:
        raise RewardFileError(
            f'the reward of "{reward.party}" is for evaluation (several draws, or noise that is not'
            " nested), and would"
            " tell too much; realise it again with the default settings to hand it out"
        )
    posterior = reward.posterior
    model, tensors = encode_model(posterior.model)
    if isinstance(posterior, KernelPosterior):
        # The factor follows from these: storing it would make the file m times larger.
        tensors |= {"X": posterior.X, "scale": posterior.scale, "alpha": posterior.alpha}
    else:
        tensors |= {"weights": posterior.weights, "factor": posterior.factor}
        model["inputs"] = posterior.inputs
    description = {
        "version": VERSION,
        "party": reward.party,
        "target": reward.target,
        "value": reward.value,
        "tau": reward.tau,
        "eta": reward.eta if np.isfinite(reward.eta) else None,
        "holds_inputs_of_others": reward.holds_inputs_of_others,
        "rho": reward.rho,
        "columns": None if posterior.columns is None else list(posterior.columns),
        "encoding": None if reward.encoding is None else encode_encoding(reward.encoding),
        "model": model,
    }
    arrays = {name: np.array(t, dtype=np.float64, order="C") for name, t in tensors.items()}
    description["sha256"] = _digest(arrays)
    entry = json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)
    write_atomically(path, safetensors.numpy.save(arrays, metadata={ENTRY: entry}))


def load_reward(path: str | Path) -> ModelReward:
    """Open a reward file, and nothing but it.

    Args:
        path: A file that `ModelReward.save` wrote. One that is cut short, edited or of another kind
            is refused.
    """
    path = Path(path)
    try:
        description, tensors = _read(path)
    except FileNotFoundError:
        raise RewardFileError(f"{path}: there is no such file") from None
    except (SafetensorError, OSError, UnicodeDecodeError) as error:
        raise RewardFileError(
            f"{path}: not a reward file, or cut short ({error}); ask for it again"
        ) from None
    try:
        if description.get("version") != VERSION:
            raise RewardFileError(
                f"it has version {shown(description.get('version'))}, this fairpool reads version"
                f" {VERSION};"
                " update fairpool"
            )
        return _decode(description, tensors)
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        OverflowError,
        RecursionError,
        MemoryError,
    ) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise RewardFileError(f"{path}: not a usable reward file: {what}") from None


def _read(path: Path) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    with safe_open(path, framework="numpy") as file:
        entry = (file.metadata() or {}).get(ENTRY)
        if entry is None:
            raise RewardFileError(f"{path}: a safetensors file, but not of a fairpool reward")
        tensors = {}
        for name in file.keys():  # noqa: SIM118 -- not a dict
            if file.get_slice(name).get_dtype() != "F64":
                raise RewardFileError(
                    f'{path}: tensor "{name}" is {file.get_slice(name).get_dtype()}, needs F64'
                )
            tensors[name] = file.get_tensor(name)
    try:
        description = json.loads(entry, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RewardFileError(f"{path}: its description is not JSON ({error})") from None
    if not isinstance(description, dict):
        raise RewardFileError(f"{path}: its description is not a JSON object")
    return description, tensors


def _decode(d: dict[str, Any], tensors: dict[str, FloatArray]) -> ModelReward:
    unknown = set(d) - KEYS
    if unknown:
        raise RewardFileError(f"it has the unknown entry {shown(sorted(unknown)[0])}")
    if d["sha256"] != _digest(tensors):
        raise RewardFileError(
            "its arrays are not those it was written with; it was changed or damaged"
        )
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise RewardFileError(f'tensor "{name}" has values that are not finite')
    model = decode_model(d["model"], tensors)
    posterior: KernelPosterior | WeightPosterior
    if isinstance(model, GaussianProcess):
        X, scale, alpha = tensors["X"], tensors["scale"], tensors["alpha"]
        if (
            X.ndim != 2
            or scale.shape != X.shape[:1]
            or alpha.shape != X.shape[:1]
            or not (scale >= 0).all()
        ):
            raise RewardFileError(
                f"its arrays do not fit: X {X.shape}, scale {scale.shape}, alpha {alpha.shape}"
            )
        posterior = KernelPosterior(model, X, scale, alpha, model.factor(X, scale))
    else:
        weights, factor = tensors["weights"], tensors["factor"]
        inputs = int(number(d["model"]["inputs"], "inputs", 0, 1e6))
        if (
            factor.shape != (len(weights), len(weights))
            or weights.ndim != 1
            or not (np.diag(factor) > 0).all()
        ):
            raise RewardFileError(
                f"its arrays do not fit: weights {weights.shape}, factor {factor.shape}"
            )
        d_model = model.whitened_features(np.zeros((0, inputs))).shape[1]
        if d_model != len(weights):
            raise RewardFileError(
                f"it has {len(weights)} weights for {d_model} features; it may be of another"
                " version: ask for it again"
            )
        posterior = WeightPosterior(model, inputs, weights, factor)
    encoding = None if d["encoding"] is None else decode_encoding(d["encoding"])
    columns = None if d["columns"] is None else tuple(text(name) for name in d["columns"])
    inputs = posterior.X.shape[1] if isinstance(posterior, KernelPosterior) else posterior.inputs
    for what, named in (("inputs", encoding.features if encoding else None), ("columns", columns)):
        if named is not None and len(named) != inputs:
            raise RewardFileError(f"it describes {len(named)} {what} for a model of {inputs}")
    if not isinstance(d["holds_inputs_of_others"], bool):
        raise RewardFileError("holds_inputs_of_others must be true or false")
    return ModelReward(
        party=text(d["party"]),
        target=number(d["target"], "target", 0),
        value=number(d["value"], "value", 0),
        eta=np.inf if d["eta"] is None else number(d["eta"], "eta", 0),
        tau=number(d["tau"], "tau", 0, 1),
        posterior=replace(posterior, columns=columns),
        holds_inputs_of_others=d["holds_inputs_of_others"],
        rho=None if d["rho"] is None else number(d["rho"], "rho", 0, 1),
        encoding=encoding,
    )


def _digest(tensors: dict[str, FloatArray]) -> str:
    """A fingerprint of all arrays, with their names and shapes."""
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(f"{name} {tensors[name].shape}\n".encode())
        found.update(np.ascontiguousarray(tensors[name], dtype="<f8").tobytes())
    return found.hexdigest()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON knows")
