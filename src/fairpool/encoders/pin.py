"""Which encoder is meant: by the hash of its files, in configurations and reward files."""

import re
from dataclasses import dataclass
from typing import Any

from fairpool.errors import RewardFileError, shown
from fairpool.stored import text, whole_number

SHA256 = re.compile(r"[0-9a-f]{64}")

MOST_DIMENSIONS = 1024
"""Of an embedding: each is an input of the model, and of more no consortium has the rows."""


@dataclass(frozen=True, kw_only=True)
class EncoderPin:
    """An encoder by what identifies it; its weights are elsewhere.

    Attributes:
        name: What its folder was called, for people; never opened as a path.
        sha256: Of its files: see `fairpool.encoders.folder`.
        dimensions: How many numbers it makes of a text or an image.
    """

    name: str
    sha256: str
    dimensions: int

    def __str__(self) -> str:
        return f'the encoder "{self.name}" with sha256 {self.sha256}'

    def entries(self) -> dict[str, Any]:
        """Itself as entries of a reward file."""
        return {"name": self.name, "sha256": self.sha256, "dimensions": self.dimensions}


def is_sha256(value: str) -> bool:
    """Whether a text is a hash, in the small letters that `fairpool check` prints."""
    return SHA256.fullmatch(value) is not None


def pin_of(entries: Any) -> EncoderPin:
    """The pin with some entries of a reward file, all of them checked."""
    if not isinstance(entries, dict) or set(entries) != {"name", "sha256", "dimensions"}:
        raise RewardFileError(f"{shown(entries)} is no encoder")
    sha256 = text(entries["sha256"])
    if not is_sha256(sha256):
        raise RewardFileError(f"{shown(sha256)} is no sha256 of an encoder")
    dimensions = whole_number(entries["dimensions"], "dimensions")
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise RewardFileError(f"dimensions {dimensions} is outside 1 .. {MOST_DIMENSIONS}")
    return EncoderPin(name=text(entries["name"]), sha256=sha256, dimensions=dimensions)
