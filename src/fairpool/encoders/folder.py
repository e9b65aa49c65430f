"""The folder of an encoder: which files count, how large they may be, and their hash.

Files are read once, and what was hashed is what is used: a file that is replaced meanwhile changes
nothing. A link may lead anywhere, since whoever names the folder chose it and the hash pins what is
in it (the cache of a download tool is full of links).
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpool.compute.files import NotPlainError, plain_content
from fairpool.errors import EncoderError, cut, shown

STATIC, ONNX = "static", "onnx"
WEIGHTS = {STATIC: "model.safetensors", ONNX: "model.onnx"}
"""The file by which each format is recognised."""

TOKENIZER = "tokenizer.json"
SETTINGS = "config.json"
PREPROCESSOR = "preprocessor_config.json"
"""What is done to an image before a network sees it; an encoder of texts has a tokenizer."""

TEXT, IMAGE = "text", "image"
"""What an encoder reads."""

MOST_BYTES = {
    "model.safetensors": 1 << 30,
    "model.onnx": 1 << 30,
    TOKENIZER: 1 << 26,
    SETTINGS: 1 << 20,
    PREPROCESSOR: 1 << 20,
}
"""Of each file. Static embeddings of half a million words take half of that."""


@dataclass(frozen=True, kw_only=True)
class EncoderFiles:
    """What an encoder's folder holds.

    Attributes:
        folder: Where it is.
        format: "static" or "onnx".
        contents: Of each file that counts, by name; others in the folder do not matter.
    """

    folder: Path
    format: str
    contents: Mapping[str, bytes] = field(repr=False)

    @property
    def reads(self) -> str:
        """What it makes numbers of: "text" or "image"."""
        return IMAGE if PREPROCESSOR in self.contents else TEXT

    def settings(self, name: str) -> dict[str, Any]:
        """What one of its files says, in JSON."""
        where = self.folder / name
        try:
            settings = json.loads(self.contents[name])
        except (ValueError, RecursionError) as error:
            raise EncoderError(f"{where}: not JSON ({cut(str(error))})") from None
        if not isinstance(settings, dict):
            raise EncoderError(f"{where}: {shown(settings)} is not a JSON object")
        return settings

    @property
    def sha256(self) -> str:
        """The hash by which an encoder is known.

        It is that of the text which `sha256sum` prints of the files, in the order of their names.
        """
        whole = hashlib.sha256()
        for name in sorted(self.contents):
            of_file = hashlib.sha256(self.contents[name]).hexdigest()
            whole.update(f"{of_file}  {name}\n".encode())
        return whole.hexdigest()


def holds_encoder(folder: Path) -> bool:
    """Whether a folder looks like that of an encoder; its files may still be anything."""
    return any((folder / name).is_file() for name in WEIGHTS.values())


def read_folder(folder: Path) -> EncoderFiles:
    """Read an encoder's files; refused where one is lacking, too large, or no plain file."""
    if not folder.is_dir():
        raise EncoderError(f"{folder}: there is no such folder; give that of an encoder")
    formats = [name for name, weights in WEIGHTS.items() if (folder / weights).exists()]
    either = " or ".join(WEIGHTS.values())
    if not formats:
        raise EncoderError(
            f"{folder}: no encoder; it needs {either}, and {TOKENIZER} (of images {PREPROCESSOR})"
        )
    if len(formats) > 1:
        raise EncoderError(f"{folder}: it holds two encoders; leave out {either}")
    (found,) = formats
    names = [WEIGHTS[found], TOKENIZER]
    if found == ONNX and (folder / PREPROCESSOR).exists():
        if (folder / TOKENIZER).exists():
            raise EncoderError(
                f"{folder}: it holds {TOKENIZER}, as an encoder of texts does, and {PREPROCESSOR},"
                " as one of images does; leave out the one that is not meant"
            )
        names = [WEIGHTS[found], PREPROCESSOR]
    if found == STATIC and (folder / SETTINGS).exists():
        names.append(SETTINGS)
    contents = {name: _read(folder / name) for name in names}
    return EncoderFiles(folder=folder, format=found, contents=contents)


def _read(file: Path) -> bytes:
    """A plain file's content, of bounded size."""
    most = MOST_BYTES[file.name]
    try:
        content = plain_content(file, most)
    except NotPlainError:
        raise EncoderError(f"{file}: not a plain file; give the encoder's own") from None
    except FileNotFoundError:
        raise EncoderError(f"{file}: there is no such file; the encoder needs it") from None
    except OSError as error:
        what = os.strerror(error.errno or 0)
        raise EncoderError(f"{file}: cannot be read ({what}); make it readable") from None
    if len(content) > most:
        raise EncoderError(f"{file}: more than {most} bytes; take a smaller encoder")
    return content
