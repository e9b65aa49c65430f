"""A hash of settings: two of them are equal where what they say is the same, and only there."""

import hashlib
import json
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any

import numpy
import pyarrow
import scipy
from pydantic import BaseModel

from fairpool.__about__ import __version__
from fairpool.encoding import TableEncoding
from fairpool.realisation.encoding_codec import encode_encoding

VERSIONS = (__version__, numpy.__version__, scipy.__version__, pyarrow.__version__)
"""What reads tables and adds up: another version may round another way."""


class NoFingerprintError(TypeError):
    """Something of which nobody knows whether it is the same: what depends on it is not kept."""


def fingerprint(*settings: object) -> str:
    """A hash of settings, and of the versions that go by them.

    Args:
        settings: Records, their fields as long as they make a difference between two of them;
            texts, numbers, and collections of such.
    """
    said = [VERSIONS, *(_said(setting) for setting in settings)]
    text = json.dumps(said, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _said(setting: object) -> Any:
    """A setting as JSON, in one way only."""
    if setting is None or isinstance(setting, bool | int | str):
        return setting
    if isinstance(setting, float):
        return repr(setting)
    if isinstance(setting, TableEncoding):
        # As reward files have it: later rounds take it from such a file.
        return ["encoding", encode_encoding(setting)]
    if isinstance(setting, BaseModel):
        return [type(setting).__qualname__, setting.model_dump(mode="json")]
    if is_dataclass(setting) and not isinstance(setting, type):
        said = {}
        for entry in fields(setting):
            if entry.compare:
                said[entry.name] = _said(getattr(setting, entry.name))
        return [type(setting).__qualname__, said]
    if isinstance(setting, Mapping):
        return ["mapping", [[_said(key), _said(value)] for key, value in setting.items()]]
    if isinstance(setting, Set):
        return ["set", sorted(json.dumps(_said(one)) for one in setting)]
    if isinstance(setting, tuple | list):
        return [_said(one) for one in setting]
    raise NoFingerprintError(f"{type(setting).__qualname__} has no fingerprint")
