"""Arrays as the content of a safetensors file, piece by piece: nothing large is copied.

The library's own writer copies every array first.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 8
"""Bytes: where the first array begins is a multiple of it."""

DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
"""What the format calls them."""


def as_pieces(
    arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]
) -> Iterator[memoryview]:
    """The content of a file with some arrays.

    Args:
        arrays: By name.
        metadata: What else the file says.

    >>> import safetensors.numpy
    >>> content = b"".join(as_pieces({"ids": np.arange(3)}, {"made": "today"}))
    >>> safetensors.numpy.load(content)["ids"].tolist()
    [0, 1, 2]
    """
    # Wide numbers first, so that each array begins at a multiple of its own width.
    names = sorted(arrays, key=lambda name: -arrays[name].itemsize)
    described: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        described[name] = {
            "dtype": DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    header = json.dumps(described).encode("ascii")
    header += b" " * (-len(header) % ALIGNMENT)
    yield memoryview(len(header).to_bytes(8, "little") + header)
    for name in names:
        array = np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<"))
        yield array.reshape(-1).view(np.uint8).data
