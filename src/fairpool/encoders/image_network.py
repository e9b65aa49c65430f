"""A network that reads images: an image is its own embedding of it, or the mean over its places.

Images go in one by one, as texts do: what an image becomes depends on its bytes alone.
"""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.encoders.folder import EncoderFiles
from fairpool.encoders.onnx_session import (
    REMEMBERED_BYTES,
    answer_of,
    names_of,
    refuse_dimensions,
    session_of,
)
from fairpool.encoders.pictures import made_up_picture, picture_of, refuse_without_pillow
from fairpool.encoders.preprocessing import Preprocessing
from fairpool.errors import EncoderError, cut, few
from fairpool.tables.arrays import FloatArray

POOLED = ("image_embeds", "pooler_output")
"""Of several outputs, those that are wanted, as exports of transformers call them; otherwise the
first."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageNetwork:
    """A network that reads pixels; what it remembers changes nothing that it gives.

    Attributes:
        preprocessing: What is done to an image first.
        session: That of onnxruntime.
        fed: What the network calls its input.
        output: What is taken of what it gives.
        dimensions: How many numbers it makes of an image.
        where: The file, for errors.
    """

    preprocessing: Preprocessing
    session: Any
    fed: str
    output: str
    dimensions: int
    where: str
    _remembered: dict[bytes, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, files: EncoderFiles) -> "ImageNetwork":
        """The encoder with these files, tried on an image."""
        where = str(files.folder / "model.onnx")
        refuse_without_pillow(where)
        preprocessing = Preprocessing.of(files)
        session = session_of(files.contents["model.onnx"], where)
        inputs = names_of(session.get_inputs(), where)
        takes = [(entry.type, len(entry.shape)) for entry in session.get_inputs()]
        if takes != [("tensor(float)", 4)]:
            asked = few([cut(name) for name in inputs]) or "nothing"
            raise EncoderError(
                f"{where}: it asks for {asked}; an encoder of images asks for one input of floating"
                " numbers, (1, 3, height, width)"
            )
        outputs = names_of(session.get_outputs(), where)
        pooled = [name for name in POOLED if name in outputs]
        network = cls(
            preprocessing=preprocessing,
            session=session,
            fed=inputs[0],
            output=[*pooled, *outputs][0],
            dimensions=1,  # not known yet
            where=where,
        )
        dimensions = len(network.of_picture(picture_of(made_up_picture(0))))
        refuse_dimensions(dimensions, of="image", where=where)
        return replace(network, dimensions=dimensions)

    def embed(self, content: bytes) -> FloatArray:
        """What the network makes of an image [d].

        A run reads every table several times, and the first so many images of it once.
        """
        key = hashlib.sha256(content).digest()
        if key in self._remembered:
            return self._remembered[key]
        embedding = self.of_picture(picture_of(content))
        if embedding.shape != (self.dimensions,):
            raise EncoderError(
                f"{self.where}: it makes {embedding.shape[0]} numbers of one image and"
                f" {self.dimensions} of another; take another encoder"
            )
        if len(self._remembered) < REMEMBERED_BYTES // (8 * self.dimensions):
            self._remembered[key] = embedding
        return embedding

    def of_picture(self, picture: Any) -> FloatArray:
        """What the network makes of a decoded image."""
        pixels: NDArray[np.float32] = self.preprocessing.tensor(picture)
        return answer_of(
            self.session, self.output, {self.fed: pixels}, of="image", where=self.where
        )
