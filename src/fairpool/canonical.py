"""JSON with one way to write every value, so that equal values are equal bytes, and have one hash.

Keys are sorted, there are no blanks and no signs beyond ASCII, and a float is written as Python's
`repr` writes it. Whatever is signed or hashed is written so, and what is read must be.
"""

import hashlib
import json
from typing import Any

DEEPEST = 50
"""So many objects and lists may lie inside one another; how many Python takes differs."""

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def encoded(value: Any) -> bytes:
    """A value as canonical JSON."""
    return _ENCODER.encode(value).encode("ascii")


def digest_of(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal digits."""
    return hashlib.sha256(encoded(value)).hexdigest()


def decoded(content: bytes) -> Any:
    """The value of canonical JSON; any other bytes are a `ValueError` that says why."""
    try:
        value = json.loads(
            content.decode("ascii"),
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError:
        raise ValueError("it holds bytes that are no ASCII") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON ({error.msg} at character {error.pos + 1})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if depth_of(value) > DEEPEST:
        raise ValueError("it is nested too deeply")
    if _written(value) != content:
        raise ValueError("it is not written as fairpool writes (blanks, order of keys, numbers)")
    return value


def _written(value: Any) -> bytes:
    try:
        return encoded(value)
    except ValueError:
        # 1e999 is read as infinity.
        raise ValueError("it holds a number out of range") from None


def depth_of(value: Any) -> int:
    """How many objects and lists lie inside one another."""
    depth = 0
    level = [value]
    while level:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        depth += 1
        level = inner
    return depth - 1


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it has the same key twice in one object")
    return fields


def _no_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no number")
