"""Arrays and a description in one file: safetensors with one canonical JSON entry, no pickle.

What comes out of a file is checked as far as that can be done without knowing what it means: its
format, the kinds of its arrays, and that it is as it was written.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from fairpool.errors import RewardFileError

Tensors = dict[str, NDArray[Any]]
"""Arrays by name."""

NUMBERS = {"F64": "<f8"}
"""The kinds of arrays that a file may have, as the format and as numpy calls them."""

NUMBERS_AND_BYTES = {"F64": "<f8", "U8": "u1"}


def packed(entry: str, description: dict[str, Any], tensors: Tensors) -> bytes:
    """A file's content: a description, with a hash of everything, and arrays.

    Args:
        entry: What the description is called among the format's metadata.
        description: What JSON can hold.
        tensors: The rest.
    """
    signed = description | {"sha256": digest(description, tensors)}
    content: bytes = safetensors.numpy.save(tensors, metadata={entry: _canonical(signed)})
    return content


def unpacked(
    content: bytes, entry: str, name: str, *, what: str, kinds: Mapping[str, str] = NUMBERS
) -> tuple[dict[str, Any], Tensors]:
    """The description and the arrays of a file's content.

    Args:
        content: The bytes.
        entry: What the description is called.
        name: What errors call the file.
        what: What it should be.
        kinds: Which arrays it may have.
    """
    stored = dict(safetensors.deserialize(content))  # type: ignore[no-untyped-call]  # not typed
    said = metadata_of(content).get(entry)
    if said is None:
        raise RewardFileError(f"{name}: a safetensors file, but not of a {what}")
    tensors = {}
    for key in sorted(stored):
        tensor = stored[key]
        kind = kinds.get(tensor["dtype"])
        if kind is None:
            needed = " or ".join(kinds)
            raise RewardFileError(f'{name}: tensor "{key}" is {tensor["dtype"]}, needs {needed}')
        tensors[key] = np.frombuffer(tensor["data"], dtype=kind).reshape(tensor["shape"])
    try:
        description = json.loads(said, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RewardFileError(f"{name}: its description is not JSON ({error})") from None
    if not isinstance(description, dict):
        raise RewardFileError(f"{name}: its description is not a JSON object")
    return description, tensors


def metadata_of(content: bytes) -> dict[str, str]:
    """The entries of a safetensors header, which the library has checked but does not give.

    The format: 8 bytes with the header's length, then the header as JSON.
    """
    length = int.from_bytes(content[:8], "little")
    header: dict[str, dict[str, str]] = json.loads(content[8 : 8 + length])
    return header.get("__metadata__") or {}


def digest(description: dict[str, Any], tensors: Tensors) -> str:
    """A fingerprint of all that the file says, and of its arrays with their names and shapes."""
    said = {name: entry for name, entry in description.items() if name != "sha256"}
    found = hashlib.sha256(_canonical(said).encode())
    for name in sorted(tensors):
        found.update(f"{name} {tensors[name].shape}\n".encode())
        found.update(np.ascontiguousarray(tensors[name]).tobytes())
    return found.hexdigest()


def _canonical(description: dict[str, Any]) -> str:
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that JSON knows")
