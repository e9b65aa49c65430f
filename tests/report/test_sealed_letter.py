"""What an operator signs of a letter: all of it, but the places for what is known only then."""

import hashlib
import time

import pytest

from fairpool.errors import SignatureError
from fairpool.report.sealed_letter import letter_digest, sealed, unsealed

PAGE = (
    b'<p>SHA-256 of the file: <code id="fairpool-file"></code></p>\n'
    b'<data id="fairpool-statement" value="">signed</data> \xff'
)
STATEMENT = b'{"body":{"name":"\\u00e9 & <data id=\'\\1\'>"},"kind":"statement"}\n'
FILE = "ab" * 32


def test_what_is_put_into_a_letter_comes_out_again():
    letter = unsealed(sealed(PAGE, statement=STATEMENT, file=FILE), "letter.html")
    assert letter.statement == STATEMENT.removesuffix(b"\n")
    assert letter.file == FILE
    assert letter.digest == hashlib.sha256(PAGE).hexdigest() == letter_digest(PAGE)


def test_a_letter_that_nobody_signed_has_empty_places_or_none():
    for page in (sealed(PAGE, statement=None, file=""), b"<p>Nothing</p>"):
        letter = unsealed(page, "letter.html")
        assert (letter.statement, letter.file) == (None, "")
        assert letter.digest == hashlib.sha256(page).hexdigest()


def test_every_byte_but_those_in_the_places_is_signed():
    page = sealed(PAGE, statement=STATEMENT, file=FILE)
    for i in range(len(page)):
        damaged = page[:i] + bytes([page[i] ^ 1]) + page[i + 1 :]
        if letter_digest(damaged) == letter_digest(page):
            letter = unsealed(damaged, "letter.html")
            # Then what is in a place is another statement, or the digits of another file.
            assert (letter.statement, letter.file) != (STATEMENT.strip(), FILE)


def test_nothing_but_digits_stands_where_readers_look():
    page = sealed(PAGE, statement=STATEMENT, file=FILE)
    for words in (b"none", FILE.encode() + b" or not", b"<b>ab</b>"):
        changed = page.replace(FILE.encode(), words)
        assert letter_digest(changed) != letter_digest(PAGE)


@pytest.mark.parametrize("place", [b'<code id="fairpool-file"></code>', PAGE[-56:]])
def test_two_places_of_a_kind_are_refused(place):
    with pytest.raises(SignatureError, match=r"^letter\.html: .*more than one statement"):
        unsealed(PAGE + place, "letter.html")


def test_a_statement_that_is_no_ascii_is_refused():
    with pytest.raises(SignatureError, match="none of fairpool's"):
        unsealed(PAGE.replace(b'value="', b'value="\xe9'), "letter.html")


@pytest.mark.parametrize(
    "words", [b"<svg ", b'<data id="fairpool-statement" ', b'<data id="fairpool-statement" value="']
)
def test_a_letter_that_is_made_to_be_slow_is_not(words):
    """To look for words in markup took seconds for 100 kB of this, and four times that for 200."""
    page = words * (4_000_000 // len(words))
    began = time.perf_counter()
    unsealed(page, "letter.html")
    assert time.perf_counter() - began < 2
