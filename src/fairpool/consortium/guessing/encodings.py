"""In which encoding a file is, from its first bytes."""

import codecs
from dataclasses import dataclass

from fairpool.errors import DataError

MOST_CONTROL = 0.01
"""A text has hardly a control character; of more than this share of them, a file is no text."""

TEXT_CONTROL = frozenset(b"\t\n\r\f\v\x1a")
"""Control characters that texts do have; the last one ended files once."""

WINDOWS_GAPS = frozenset(b"\x81\x8d\x8f\x90\x9d")
"""Bytes that stand for nothing in Windows' encoding of Western Europe."""

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class EncodingGuess:
    """An encoding, as `[reading] encoding` names it, and what it rests on."""

    name: str
    why: str


def guess_encoding(content: bytes) -> EncodingGuess:
    """The encoding of some text; what is no text is refused.

    Args:
        content: The first bytes of a file; the last character may be cut.
    """
    for mark, name in MARKS.items():
        if content.startswith(mark):
            return EncodingGuess(name, "its first bytes say so")
    if b"\0" in content:
        raise DataError("not a text file: it has bytes of value 0; ask for it again, as CSV")
    control = sum(byte < ord(" ") and byte not in TEXT_CONTROL for byte in content)
    if control > MOST_CONTROL * len(content):
        raise DataError(
            f"not a text file: {control} of its first {len(content)} bytes are control characters;"
            " ask for it again, as CSV"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError as error:
        byte = content[error.start]
        why = f"byte {byte:#x} is not UTF-8"
        if WINDOWS_GAPS.isdisjoint(content):
            return EncodingGuess("cp1252", why)
        return EncodingGuess("latin-1", why)
    return EncodingGuess("utf-8", "all its bytes are")
