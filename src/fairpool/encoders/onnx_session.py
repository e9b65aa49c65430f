"""A network in ONNX's format, whatever it reads: opened, asked, and its answer as one vector.

One thread computes, so that the same input becomes the same numbers to the last bit.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.encoders.pin import MOST_DIMENSIONS
from fairpool.encoders.tokens import missing_extra
from fairpool.errors import EncoderError, cut
from fairpool.tables.arrays import FloatArray

SILENT = 4

REMEMBERED_BYTES = 1 << 27
"""So much memory is spent on what inputs became: a run reads every table several times."""

ELSEWHERE = re.compile(rb"(?:\x08|\x88\x80*\x00)location")
"""How a tensor says that its numbers lie in another file: the key "location", behind its length.

No conforming file can say it otherwise. onnxruntime would look for that file in the folder in which
the program happens to run.
"""


SHAPES = {
    "text": {2: "(1, d)", 3: "(1, tokens, d)"},
    "image": {2: "(1, d)", 3: "(1, patches, d)", 4: "(1, d, height, width)"},
}
"""What a network may give for one input, by the number of axes."""


def session_of(content: bytes, where: str) -> Any:
    """A session of one thread; weights in other files, which no hash pins, are refused.

    Operators that are not ONNX's own would need a library, and none is loaded.
    """
    try:
        import onnxruntime
    except ImportError:
        raise missing_extra(f"the encoder {where}", "onnxruntime") from None
    if ELSEWHERE.search(content):
        raise EncoderError(
            f"{where}: some of its weights lie in another file, which no hash would pin; export it"
            " as a single file"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = SILENT
    try:
        return onnxruntime.InferenceSession(
            content,
            options,
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # with it, errors are printed
        )
    except Exception as error:  # its errors have no common class
        what = cut(_first_line(error))
        raise EncoderError(f"{where}: not a network that can be used ({what})") from None


def names_of(entries: Sequence[Any], where: str) -> tuple[str, ...]:
    """What inputs or outputs are called."""
    try:
        return tuple(entry.name for entry in entries)
    except UnicodeDecodeError:
        raise EncoderError(f"{where}: an input or output has a name that is no text") from None


def answer_of(
    session: Any, output: str, fed: dict[str, NDArray[Any]], *, of: str, where: str
) -> FloatArray:
    """What a network makes of one input [d].

    Args:
        session: The network's.
        output: What is taken of what it gives.
        fed: The input.
        of: What that is, for errors: "text" or "image".
        where: The file, for errors.
    """
    try:
        (found,) = session.run([output], fed)
    except Exception as error:  # its errors have no common class
        what = cut(_first_line(error))
        raise EncoderError(f"{where}: the network fails on {_a(of)} ({what})") from None
    return _pooled(np.asarray(found), of=of, where=where)


def refuse_dimensions(dimensions: int, *, of: str, where: str) -> None:
    """Refuse a network that makes no number of an input, or too many."""
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise EncoderError(
            f"{where}: it makes {dimensions} numbers of {_a(of)}; 1 to {MOST_DIMENSIONS} are"
            " allowed"
        )


def _pooled(found: NDArray[Any], *, of: str, where: str) -> FloatArray:
    """The embedding of one input [d]: as it is, or the mean over tokens or places of an image."""
    is_number = np.issubdtype(found.dtype, np.floating)
    shapes = SHAPES[of]
    if not is_number or found.ndim not in shapes or len(found) != 1:
        raise EncoderError(
            f"{where}: it gives {found.dtype} of shape {found.shape} for one {of}; it must give"
            f" {' or '.join(shapes.values())} floating numbers"
        )
    vectors = found[0].astype(np.float64)
    if found.ndim == 3:
        vectors = vectors.mean(axis=0)
    elif found.ndim == 4:
        vectors = vectors.mean(axis=(1, 2))
    if not np.isfinite(vectors).all():
        raise EncoderError(f"{where}: it gives values that are not finite; take another encoder")
    return np.asarray(vectors)


def _a(of: str) -> str:
    return {"text": "a text", "image": "an image"}[of]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
