"""Static embeddings, in the format of model2vec: a text is the mean of its words' vectors.

The files are read with tokenizers and safetensors instead of the package model2vec: that is a few
lines, and the package would look on the Hugging Face hub for a folder that is not there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import safetensors
from numpy.typing import NDArray
from safetensors import SafetensorError

from fairpool.encoders.folder import SETTINGS, EncoderFiles
from fairpool.encoders.pin import MOST_DIMENSIONS
from fairpool.encoders.tokens import MOST_TOKENS, Tokens
from fairpool.errors import EncoderError, cut
from fairpool.tables.arrays import FloatArray

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "<i1"}
"""Of vectors and weights; model2vec quantises to the last."""

NUMBERS = {"I64": "<i8", "I32": "<i4"}
"""Of a mapping from words to vectors."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StaticEmbeddings:
    """Vectors of words.

    Attributes:
        tokens: How a text becomes words.
        vectors: [v, d].
        weights: Of each word [w]; None: all count the same.
        mapping: Which vector a word has [w]; None: each its own.
    """

    tokens: Tokens
    vectors: NDArray[Any]
    weights: FloatArray | None = None
    mapping: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, files: EncoderFiles) -> "StaticEmbeddings":
        """The encoder with these files, all of them checked."""
        where = files.folder / "model.safetensors"
        tokens = Tokens.of(files, _most_tokens(files))
        try:
            stored = dict(safetensors.deserialize(files.contents["model.safetensors"]))  # type: ignore[no-untyped-call]  # not typed
        except SafetensorError as error:
            what = cut(str(error))
            raise EncoderError(f"{where}: not a safetensors file ({what})") from None
        if "embeddings" not in stored:
            raise EncoderError(f'{where}: it has no tensor "embeddings"; is it of model2vec?')
        vectors = _array(stored, "embeddings", TYPES, where=str(where))
        if vectors.ndim != 2 or not len(vectors) or not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
            raise EncoderError(
                f'{where}: "embeddings" of shape {vectors.shape}; it must be a row for each word,'
                f" of 1 to {MOST_DIMENSIONS} numbers"
            )
        words = tokens.last + 1
        weights = mapping = None
        rows = words
        if "mapping" in stored:
            mapping = _of_words(stored, "mapping", NUMBERS, words=words, where=str(where))
            mapping = mapping.astype(np.int64)
            if mapping.min() < 0:
                raise EncoderError(f'{where}: "mapping" has negative numbers')
            rows = int(mapping.max()) + 1
        if "weights" in stored:
            weights = _of_words(stored, "weights", TYPES, words=words, where=str(where))
            weights = weights.astype(np.float64)
        if len(vectors) < rows:
            raise EncoderError(
                f"{where}: {len(vectors)} vectors for a vocabulary that needs {rows}; model and"
                " tokenizer do not belong together"
            )
        return cls(tokens=tokens, vectors=vectors, weights=weights, mapping=mapping)

    @property
    def dimensions(self) -> int:
        """How many numbers it makes of a text."""
        return int(self.vectors.shape[1])

    def embed(self, text: str) -> FloatArray:
        """The mean of the vectors of a text's words [d]; zero if none of them is known.

        As model2vec does it: without words that are not known, and without marks.
        """
        ids = [t for t in self.tokens.of_text(text, marks=False) if t != self.tokens.unknown]
        if not ids:
            return np.zeros(self.dimensions)
        rows = np.array(ids) if self.mapping is None else self.mapping[ids]
        vectors = self.vectors[rows].astype(np.float64)
        if self.weights is not None:
            vectors *= self.weights[ids][:, None]
        return np.asarray(vectors.mean(axis=0))


def _most_tokens(files: EncoderFiles) -> int:
    """How many tokens of a text count, by config.json."""
    if SETTINGS not in files.contents:
        return MOST_TOKENS
    most = files.settings(SETTINGS).get("max_length", MOST_TOKENS)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        return MOST_TOKENS
    return most


def _array(stored: dict[str, Any], name: str, types: dict[str, str], *, where: str) -> NDArray[Any]:
    """A tensor with finite numbers of one of some types."""
    tensor = stored[name]
    if tensor["dtype"] not in types:
        raise EncoderError(
            f'{where}: "{name}" is of type {tensor["dtype"]}; it must be {" or ".join(types)}'
        )
    array = np.frombuffer(tensor["data"], types[tensor["dtype"]]).reshape(tensor["shape"])
    if not np.isfinite(array).all():
        raise EncoderError(f'{where}: "{name}" has values that are not finite')
    return array


def _of_words(
    stored: dict[str, Any], name: str, types: dict[str, str], *, words: int, where: str
) -> NDArray[Any]:
    """A tensor with one number for each word."""
    array = _array(stored, name, types, where=where)
    if array.ndim != 1 or len(array) < words:
        raise EncoderError(
            f'{where}: "{name}" of shape {array.shape} for a vocabulary of {words} words; model and'
            " tokenizer do not belong together"
        )
    return array
