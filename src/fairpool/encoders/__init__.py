"""Frozen, public encoders: how a text or an image becomes numbers, by weights learned elsewhere.

An encoder is a folder that all parties have, known by the hash of its files:

| files | encoder |
|---|---|
| `model.safetensors`, `tokenizer.json`, mostly `config.json` | static embeddings, as model2vec |
| `model.onnx`, `tokenizer.json` | a network in ONNX's format that reads texts |
| `model.onnx`, `preprocessor_config.json` | one that reads images |

Nothing is downloaded, no code of the folder is run, and no pickle is opened.
"""

from fairpool.encoders.folder import EncoderFiles, read_folder
from fairpool.encoders.opening import OpenEncoder, open_encoder
from fairpool.encoders.pin import EncoderPin, pin_of
from fairpool.encoders.search import find_encoder

__all__ = [
    "EncoderFiles",
    "EncoderPin",
    "OpenEncoder",
    "find_encoder",
    "open_encoder",
    "pin_of",
    "read_folder",
]
