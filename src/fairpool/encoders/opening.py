"""An encoder that is there: opened once in every process, and handed to workers by its path."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fairpool.encoders.folder import IMAGE, STATIC, EncoderFiles, read_folder
from fairpool.encoders.image_network import ImageNetwork
from fairpool.encoders.onnx_network import OnnxNetwork
from fairpool.encoders.pin import EncoderPin
from fairpool.encoders.static import StaticEmbeddings
from fairpool.errors import EncoderError
from fairpool.tables.arrays import FloatArray

MOST_OPEN = 4
"""Encoders that a process keeps in memory."""


class Encoder(Protocol):
    """What a format gives: see `StaticEmbeddings`, `OnnxNetwork` and `ImageNetwork`."""

    @property
    def dimensions(self) -> int:
        """How many numbers it makes of a text or an image."""
        ...  # pragma: no cover

    def embed(self, value: Any, /) -> FloatArray:
        """What it makes of a text, or of an image's bytes [d]."""
        ...  # pragma: no cover


@dataclass(frozen=True, kw_only=True)
class OpenEncoder:
    """An encoder and where it is. Weights stay out of it, so that it goes to workers as a path.

    Attributes:
        folder: Where it is.
        pin: What it must be; another one in the same place is refused.
    """

    folder: Path
    pin: EncoderPin

    def embed(self, values: Sequence[str] | Sequence[bytes]) -> FloatArray:
        """Each text or image as a vector [m, d] of length sqrt(d), or zero if nothing is known.

        So a feature is 1 in quadratic mean over the d of a text, as standardised numbers are over
        rows, and nothing has to be learned from anybody's texts. What a text becomes depends on
        that text alone.

        Args:
            values: Texts, or images' bytes, as the encoder reads them.
        """
        encoder = _loaded(self.folder, self.pin)
        vectors = np.zeros((len(values), self.pin.dimensions))
        for k, value in enumerate(values):
            vectors[k] = encoder.embed(value)
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        scale = np.sqrt(self.pin.dimensions)
        lengths[lengths == 0] = 1.0
        return np.asarray(vectors * scale / lengths)

    def words(self, share: FloatArray) -> list[str]:
        """Words of its vocabulary at some shares of the way through it: anybody could name them."""
        encoder = _loaded(self.folder, self.pin)
        assert isinstance(encoder, StaticEmbeddings | OnnxNetwork)  # others have no words
        tokens = encoder.tokens
        places = np.minimum((share * (tokens.last + 1)).astype(int), tokens.last)
        return [tokens.text_of(int(place)) for place in places]


def open_encoder(files: EncoderFiles) -> OpenEncoder:
    """Open an encoder, and try it."""
    encoder = _encoder_of(files)
    name = files.folder.absolute().name
    pin = EncoderPin(name=name, sha256=files.sha256, dimensions=encoder.dimensions)
    return OpenEncoder(folder=files.folder.absolute(), pin=pin)


def _encoder_of(files: EncoderFiles) -> Encoder:
    with _within_memory(files.folder):
        if files.format == STATIC:
            return StaticEmbeddings.of(files)
        if files.reads == IMAGE:
            return ImageNetwork.of(files)
        return OnnxNetwork.of(files)


@contextmanager
def _within_memory(folder: Path) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise EncoderError(f"{folder}: too large for memory; take a smaller encoder") from None


@lru_cache(maxsize=MOST_OPEN)
def _loaded(folder: Path, pin: EncoderPin) -> Encoder:
    """The encoder itself, read and checked again: it may have changed since it was opened."""
    files = read_folder(folder)
    if files.sha256 != pin.sha256:
        raise EncoderError(
            f"{folder}: its sha256 is {files.sha256}, and {pin.sha256} is needed; do not change an"
            " encoder while it is used"
        )
    encoder = _encoder_of(files)
    if encoder.dimensions != pin.dimensions:
        raise EncoderError(
            f"{folder}: it makes {encoder.dimensions} numbers of each, and {pin.dimensions} are"
            " expected; ask for the reward again"
        )
    return encoder
