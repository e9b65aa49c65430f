"""Parties in an archive: their rows, or their sums, as they were given."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from fairpool.errors import RewardFileError, shown
from fairpool.parties import ClassSummary, Party, PartyData, PartySummary
from fairpool.realisation.tensor_file import Tensors
from fairpool.stored import number, text, whole_number
from fairpool.tables.arrays import FloatArray

ROWS, SUMS, SUMS_OF_CLASSES = "rows", "sums", "sums of classes"


def encode_party(party: PartyData, place: int, tensors: Tensors) -> dict[str, Any]:
    """A party as a JSON object; its arrays go among the tensors.

    Args:
        party: What is known of it.
        place: Which party it is, from 0.
        tensors: The file's arrays, to which its own are added.
    """
    described: dict[str, Any] = {"name": party.name}
    if type(party) is Party:
        described |= {"kind": ROWS, "noise_variance": None}
        described["columns"] = None if party.columns is None else list(party.columns)
        arrays = {"X": party.X, "y": party.y}
        if isinstance(party.noise_variance, float):
            described["noise_variance"] = party.noise_variance
        elif party.noise_variance is not None:
            arrays["noise_variance"] = party.noise_variance
    elif type(party) is PartySummary:
        described |= {
            "kind": SUMS,
            "squares": party.squares,
            "noise_variance": party.noise_variance,
            "rows": party.rows,
            "inputs": party.inputs,
        }
        arrays = {"gram": party.gram, "moment": party.moment, "probe": party.probe}
    elif type(party) is ClassSummary:
        described |= {"kind": SUMS_OF_CLASSES, "inputs": party.inputs}
        arrays = {name: getattr(party, name) for name in ("grams", "sums", "counts", "probe")}
    else:
        raise RewardFileError(
            f'party "{party.name}" takes part by {type(party).__name__}, which cannot be saved;'
            " rows, PartySummary and ClassSummary can"
        )
    for name, array in arrays.items():
        tensors[_key(place, name)] = array
    return described


def decode_party(described: dict[str, Any], place: int, tensors: Tensors) -> PartyData:
    """The party that `encode_party` described; what it cannot be is refused as ever."""
    kind, name = described["kind"], text(described["name"])

    def array(of: str) -> FloatArray:
        return tensors.pop(_key(place, of))

    if kind == ROWS:
        noise: Any = described["noise_variance"]
        if noise is not None:
            noise = number(noise, "noise_variance")
        elif _key(place, "noise_variance") in tensors:
            noise = array("noise_variance")
        return Party(name, _table(array("X"), described["columns"]), array("y"), noise)
    if kind == SUMS:
        return PartySummary(
            name=name,
            gram=array("gram"),
            moment=array("moment"),
            squares=number(described["squares"], "squares"),
            noise_variance=number(described["noise_variance"], "noise_variance"),
            rows=whole_number(described["rows"], "rows"),
            inputs=whole_number(described["inputs"], "inputs"),
            probe=array("probe"),
        )
    if kind == SUMS_OF_CLASSES:
        return ClassSummary(
            name=name,
            grams=array("grams"),
            sums=array("sums"),
            counts=array("counts"),
            inputs=whole_number(described["inputs"], "inputs"),
            probe=array("probe"),
        )
    raise RewardFileError(f"no kind of party {shown(kind)} is known")


def _table(X: FloatArray, columns: Sequence[str] | None) -> Any:
    """Inputs, with the names of their columns if there are some."""
    if columns is None:
        return X
    names = [text(name) for name in columns]
    if X.ndim != 2 or len(names) != X.shape[1]:
        raise RewardFileError(f"it names {len(names)} columns of an array of shape {X.shape}")
    return pa.table([pa.array(column) for column in X.T], names=names)


def _key(place: int, name: str) -> str:
    return f"party.{place}.{name}"
