"""Numbers as people write them."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.tables.dialect import Dialect, known_encoding
from fairpool.tables.numerals import number_in, numbers_in

GERMAN = Dialect(decimal=",", thousands=".")
SWISS = Dialect(thousands="'")
FRENCH = Dialect(decimal=",", thousands="\u202f")
AMERICAN = Dialect(thousands=",")
DIALECTS = [Dialect(), Dialect(decimal=","), GERMAN, SWISS, FRENCH, AMERICAN]


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("1.234,5", GERMAN, 1234.5),
        ("1234,5", GERMAN, 1234.5),
        ("-1.234.567", GERMAN, -1234567.0),
        ("1.5", GERMAN, None),  # it would be 15
        ("1.2345", GERMAN, None),
        ("12.34,5", GERMAN, None),
        ("1'234.5", SWISS, 1234.5),
        ("1'23", SWISS, None),
        ("1,234.5", AMERICAN, 1234.5),
        ("1,5", AMERICAN, None),
        ("1\u202f234,5", FRENCH, 1234.5),
        ("1.5", Dialect(decimal=","), None),
        ("1,5e3", Dialect(decimal=","), 1500.0),
        (" 2,5 ", Dialect(decimal=","), 2.5),
        ("1_000", Dialect(), None),
        ("", Dialect(), None),
        ("1,5", Dialect(), None),
    ],
)
def test_numbers_are_read_or_refused_one_by_one_and_together(text, dialect, expected):
    assert number_in(text, dialect) == expected
    column = pa.chunked_array([pa.array([text, None])])
    if expected is None:
        with pytest.raises(pa.ArrowInvalid, match=r"."):
            numbers_in(column, dialect)
    else:
        assert numbers_in(column, dialect).to_pylist() == [expected, None]


def written(number, dialect):
    """A number with every digit, as somebody who uses the dialect writes it."""
    text = format(number, f"{',' if dialect.thousands else ''}.6f")
    return text.translate({ord(","): dialect.thousands, ord("."): dialect.decimal})


@given(
    st.lists(st.floats(-1e12, 1e12).map(lambda x: round(x, 6)), min_size=1),
    st.sampled_from(DIALECTS),
)
def test_what_is_written_is_read(numbers, dialect):
    texts = [written(number, dialect) for number in numbers]
    expected = [float(f"{number:.6f}") for number in numbers]
    assert [number_in(text, dialect) for text in texts] == expected
    assert numbers_in(pa.chunked_array([texts]), dialect).to_pylist() == expected


@given(st.text("0123456789.,'+-e ", max_size=12), st.sampled_from(DIALECTS))
def test_columns_are_read_as_single_texts_are(text, dialect):
    expected = number_in(text, dialect)
    try:
        [found] = numbers_in(pa.chunked_array([[text]]), dialect).to_pylist()
    except pa.ArrowInvalid:
        # Arrow is a little stricter; then the reading that tells of faults finds none.
        assert expected is None or text.strip().startswith("+") or not text.strip()[-1].isdigit()
    else:
        assert math.isclose(found, expected, rel_tol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("latin-1", "iso8859-1"),
        ("UTF8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("Windows-1252", "cp1252"),
    ],
)
def test_encodings_go_by_all_their_names(name, expected):
    assert known_encoding(name) == expected


@pytest.mark.parametrize(
    "name", ["latin-99", "ansi", "idna", "rot13", "zlib", "unicode_escape", "\0", ""]
)
def test_other_encodings_are_refused(name):
    with pytest.raises(ValueError, match="is no encoding that is read"):
        known_encoding(name)


@pytest.mark.parametrize(
    ("dialect", "problem"),
    [
        (Dialect(separator=""), "separator '' is not one sign"),
        (Dialect(separator=";;"), "separator ';;' is not one sign"),
        (Dialect(separator="\n"), r"separator '\n' is not one sign"),
        (Dialect(decimal=";"), "decimal ';' is neither a point nor a comma"),
        (Dialect(thousands="."), "thousands and decimal are both '.'"),
        (Dialect(thousands="1"), "thousands '1' is not one sign"),
        (Dialect(thousands="-"), "thousands '-' is not one sign"),
    ],
)
def test_dialects_that_make_no_sense_are_told(dialect, problem):
    assert any(problem in text for text in dialect.problems())
