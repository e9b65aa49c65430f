"""A network that reads texts: a text is its own embedding of it, or the mean over its tokens.

Texts go in one by one: what a text becomes depends on nothing else than the text, to the last bit.
In a batch, padding and other texts would change the last digits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from fairpool.encoders.folder import EncoderFiles
from fairpool.encoders.onnx_session import (
    REMEMBERED_BYTES,
    answer_of,
    names_of,
    refuse_dimensions,
    session_of,
)
from fairpool.encoders.tokens import Tokens
from fairpool.errors import EncoderError, cut, few
from fairpool.tables.arrays import FloatArray

IDS = "input_ids"
INPUTS = (IDS, "attention_mask", "token_type_ids")
"""What a network may ask for, as exports of transformers call it."""

POOLED = "sentence_embedding"
"""Of several outputs, the one that is wanted; otherwise the first."""


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
        session = session_of(files.contents["model.onnx"], where)
        inputs = names_of(session.get_inputs(), where)
        strange = [name for name in inputs if name not in INPUTS]
        if strange or IDS not in inputs:
            asked = few([cut(name) for name in inputs]) or "nothing"
            raise EncoderError(
                f"{where}: it asks for {asked}; an encoder of texts asks for {', '.join(INPUTS)} or"
                " some of them"
            )
        outputs = names_of(session.get_outputs(), where)
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
        refuse_dimensions(dimensions, of="text", where=where)
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
        wanted = {name: fed[name] for name in self.inputs}
        return answer_of(self.session, self.output, wanted, of="text", where=self.where)
