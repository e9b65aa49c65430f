"""Reward files: safetensors with one canonical JSON entry, no pickle.

Everything is checked before it is used.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from fairpool.compute.files import write_atomically
from fairpool.errors import RewardFileError, shown
from fairpool.model_kinds import Stored, kind_in_file, kind_of
from fairpool.realisation.encoding_codec import decode_encoding, encode_encoding
from fairpool.realisation.mechanisms import mechanism_of
from fairpool.realisation.model_reward import ModelReward
from fairpool.stored import number, text
from fairpool.tables.arrays import FloatArray

ENTRY = "fairpool"
VERSION = 1
KEYS = {
    "version",
    "party",
    "target",
    "value",
    "holds_inputs_of_others",
    "rho",
    "columns",
    "encoding",
    "model",
    "sha256",
    "mechanism",
}
"""What a file's description holds besides the entries of its mechanism, and nothing else."""

DEFAULT_MECHANISM = "label_noise"
"""A file that names no mechanism is of this one."""


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
    stored = kind_of(posterior.model).encode(posterior)
    encoding = None if reward.encoding is None else encode_encoding(reward.encoding)
    description = {
        "version": VERSION,
        "party": reward.party,
        "target": reward.target,
        "value": reward.value,
        **reward.mechanism.encode(reward.level),
        "holds_inputs_of_others": reward.holds_inputs_of_others,
        "rho": reward.rho,
        "columns": None if posterior.columns is None else list(posterior.columns),
        "encoding": encoding,
        "model": stored.description,
    }
    if reward.mechanism.name != DEFAULT_MECHANISM:
        description["mechanism"] = reward.mechanism.name
    arrays = {}
    for name, tensor in stored.tensors.items():
        arrays[name] = np.array(tensor, dtype=np.float64, order="C")
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
    mechanism = mechanism_of(text(d.get("mechanism", DEFAULT_MECHANISM)))
    # What a mechanism writes depends on it alone: any level's entries have the same names.
    known = KEYS | set(mechanism.encode(mechanism.decode(d)))
    unknown = set(d) - known
    if unknown:
        raise RewardFileError(f"it has the unknown entry {shown(sorted(unknown)[0])}")
    if d["sha256"] != _digest(tensors):
        raise RewardFileError(
            "its arrays are not those it was written with; it was changed or damaged"
        )
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise RewardFileError(f'tensor "{name}" has values that are not finite')
    posterior = kind_in_file(d["model"]).decode(Stored(d["model"], tensors))
    encoding = None if d["encoding"] is None else decode_encoding(d["encoding"])
    columns = None if d["columns"] is None else tuple(text(name) for name in d["columns"])
    _check_inputs("inputs", encoding.features if encoding else None, posterior.inputs)
    _check_inputs("columns", columns, posterior.inputs)
    if not isinstance(d["holds_inputs_of_others"], bool):
        raise RewardFileError("holds_inputs_of_others must be true or false")
    return ModelReward(
        party=text(d["party"]),
        target=number(d["target"], "target", 0),
        level=mechanism.decode(d),
        mechanism=mechanism,
        posterior=posterior.with_columns(columns),
        holds_inputs_of_others=d["holds_inputs_of_others"],
        rho=None if d["rho"] is None else number(d["rho"], "rho", 0, 1),
        encoding=encoding,
    )


def _check_inputs(what: str, names: tuple[str, ...] | None, inputs: int) -> None:
    if names is not None and len(names) != inputs:
        raise RewardFileError(f"it describes {len(names)} {what} for a model of {inputs}")


def _digest(tensors: dict[str, FloatArray]) -> str:
    """A fingerprint of all arrays, with their names and shapes."""
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(f"{name} {tensors[name].shape}\n".encode())
        found.update(np.ascontiguousarray(tensors[name], dtype="<f8").tobytes())
    return found.hexdigest()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON knows")
