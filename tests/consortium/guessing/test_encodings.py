import codecs

import pytest

from fairpool.consortium.guessing.encodings import guess_encoding
from fairpool.errors import DataError


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"a,b\n1,2\n", "utf-8"),
        ("größe,ß\n".encode(), "utf-8"),
        (codecs.BOM_UTF8 + b"a,b\n", "utf-8"),
        ("größe\n".encode("cp1252"), "cp1252"),
        ("größe €\n".encode("cp1252"), "cp1252"),
        (b"gr\x81\xf6\n", "latin-1"),
        ("größe\n".encode("utf-16"), "utf-16"),
        ("größe"[:3].encode()[:-1], "utf-8"),  # the head of a file may end within a character
        (b"", "utf-8"),
    ],
)
def test_encodings(content, name):
    assert guess_encoding(content).name == name


@pytest.mark.parametrize("content", [b"a\0b", bytes(range(256)), b"\x01\x02\x03abc"])
def test_what_is_no_text_is_refused(content):
    with pytest.raises(DataError, match=r"not a text file: .*; ask for it again, as CSV"):
        guess_encoding(content)
