"""A network in ONNX's format: a text is the network's own embedding, or the mean over its tokens.

Texts go in one by one, and one thread computes: what a text becomes depends on nothing else than
the text, to the last bit. In a batch, padding and other texts would change the last digits.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.encoders.folder import EncoderFiles
from fairpool.encoders.pin import MOST_DIMENSIONS
from fairpool.encoders.tokens import Tokens, missing_extra
from fairpool.errors import EncoderError, cut, few
from fairpool.tables.arrays import FloatArray

IDS = "input_ids"
INPUTS = (IDS, "attention_mask", "token_type_ids")
"""What a network may ask for, as exports of transformers call it."""

POOLED = "sentence_embedding"
"""Of several outputs, the one that is wanted; otherwise the first."""

SILENT = 4

REMEMBERED_BYTES = 1 << 27
"""So much memory is spent on what the last texts became."""

ELSEWHERE = re.compile(rb"(?:\x08|\x88\x80*\x00)location")
"""How a tensor says that its numbers lie in another file: the key "location", behind its length.

No conforming file can say it otherwise. onnxruntime would look for that file in the folder in which
the program happens to run.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class OnnxNetwork:
    """A network that reads tokens.

    Attributes:
        tokens: How a text becomes tokens.
        session: That of onnxruntime.
        inputs: What the network asks for.
        output: What is taken of what it gives.
        dimensions: How many numbers it makes of a text.
        where: The file, for errors.
    """

    tokens: Tokens
    session: Any
    inputs: tuple[str, ...]
    output: str
    dimensions: int
    where: str

    @classmethod
    def of(cls, files: EncoderFiles) -> "OnnxNetwork":
        """The encoder with these files, tried on a word."""
        where = str(files.folder / "model.onnx")
        tokens = Tokens.of(files)
        session = _session(files.contents["model.onnx"], where)
        inputs = _names(session.get_inputs(), where)
        strange = [name for name in inputs if name not in INPUTS]
        if strange or IDS not in inputs:
            asked = few([cut(name) for name in inputs]) or "nothing"
            raise EncoderError(
                f"{where}: it asks for {asked}; an encoder of texts asks for {', '.join(INPUTS)} or"
                " some of them"
            )
        outputs = _names(session.get_outputs(), where)
        output = POOLED if POOLED in outputs else outputs[0]
        network = cls(
            tokens=tokens,
            session=session,
            inputs=inputs,
            output=output,
            dimensions=1,  # not known yet
            where=where,
        )
        dimensions = len(network.of_tokens([0]))
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise EncoderError(
                f"{where}: it makes {dimensions} numbers of a text; 1 to {MOST_DIMENSIONS} are"
                " allowed"
            )
        return replace(network, dimensions=dimensions)

    def embed(self, text: str) -> FloatArray:
        """What the network makes of a text [d]."""
        return self._remembered(text[: self.tokens.longest])

    @cached_property
    def _remembered(self) -> Callable[[str], FloatArray]:
        """The same with a memory: a run reads every table several times, and a network is slow."""
        return lru_cache(maxsize=REMEMBERED_BYTES // (8 * self.dimensions))(self._computed)

    def _computed(self, text: str) -> FloatArray:
        ids = self.tokens.of_text(text, marks=True)
        if not ids:
            return np.zeros(self.dimensions)
        embedding = self.of_tokens(ids)
        if embedding.shape != (self.dimensions,):
            raise EncoderError(
                f"{self.where}: it makes {embedding.shape[0]} numbers of one text and"
                f" {self.dimensions} of another; take another encoder"
            )
        return embedding

    def of_tokens(self, ids: list[int]) -> FloatArray:
        """What the network makes of some tokens."""
        row = np.array([ids], dtype=np.int64)
        fed = {IDS: row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        asked = {name: fed[name] for name in self.inputs}
        try:
            (found,) = self.session.run([self.output], asked)
        except Exception as error:
            what = cut(_first_line(error))
            raise EncoderError(f"{self.where}: the network fails on a text ({what})") from None
        return _pooled(np.asarray(found), self.where)


def _session(content: bytes, where: str) -> Any:
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


def _names(entries: Sequence[Any], where: str) -> tuple[str, ...]:
    """What inputs or outputs are called."""
    try:
        return tuple(entry.name for entry in entries)
    except UnicodeDecodeError:
        raise EncoderError(f"{where}: an input or output has a name that is no text") from None


def _pooled(found: NDArray[Any], where: str) -> FloatArray:
    """The embedding of one text [d]: as it is, or the mean over tokens."""
    is_number = np.issubdtype(found.dtype, np.floating)
    if not is_number or found.ndim not in (2, 3) or len(found) != 1:
        raise EncoderError(
            f"{where}: it gives {found.dtype} of shape {found.shape} for one text; it must give"
            " (1, d) or (1, tokens, d) floating numbers"
        )
    vectors = found[0].astype(np.float64)
    if found.ndim == 3:
        vectors = vectors.mean(axis=0)
    if not np.isfinite(vectors).all():
        raise EncoderError(f"{where}: it gives values that are not finite; take another encoder")
    return np.asarray(vectors)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
