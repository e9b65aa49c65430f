import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.consortium.guessing.numerals import Notation, guess_notation


@pytest.mark.parametrize(
    ("cells", "decimal", "thousands"),
    [
        (["1.5", "2"], ".", ""),
        (["1,5", "2"], ",", ""),
        (["0,125", "7"], ",", ""),
        (["1.234,5"], ",", "."),
        (["1,234.5"], ".", ","),
        (["12,5", "1.234"], ",", "."),
        (["12.5", "1,234"], ".", ","),
        (["1 234", "12"], ".", " "),
        (["1'234.5"], ".", "'"),
        (["abc", "", "-"], ".", ""),
        (["2024-12-31", "31.12.2024"], ".", ""),
        (["1e5", "1.5e-3"], ".", ""),
        ([], ".", ""),
    ],
)
def test_notations(cells, decimal, thousands):
    notation = guess_notation(cells)
    assert (notation.decimal, notation.thousands, notation.doubt) == (decimal, thousands, "")


def test_a_number_that_may_be_two_is_a_doubt_and_changes_nothing():
    notation = guess_notation(["1,234", "2,345"])
    assert (notation.decimal, notation.thousands) == (".", "")
    assert notation.doubt == "1,234"
    assert notation.read("1,234") is None


@pytest.mark.parametrize(
    ("notation", "text", "number"),
    [
        (Notation(), "1.5", 1.5),
        (Notation(), " -2e3 ", -2000.0),
        (Notation(), "1,5", None),
        (Notation(), "١", None),
        (Notation(), "1_000", None),
        (Notation(), "", None),
        (Notation(","), "1,5", 1.5),
        (Notation(","), "1.5", None),
        (Notation(",", "."), "1.234,5", 1234.5),
        (Notation(",", "."), "12.34,5", None),
        (Notation(",", "."), "1.5", None),
        (Notation(".", " "), "1\u00a0234", 1234.0),
        (Notation(".", "'"), "1'234.5", 1234.5),
    ],
)
def test_reading(notation, text, number):
    assert notation.read(text) == number


@given(
    st.floats(min_value=-1e9, max_value=1e9, allow_nan=False), st.integers(min_value=1, max_value=6)
)
def test_numbers_come_back_from_every_notation(number, digits):
    plain = f"{number:,.{digits}f}"
    expected = float(plain.replace(",", ""))
    german = plain.translate(str.maketrans(",.", ".,"))
    assert Notation(".", ",").read(plain) == expected
    assert Notation(",", ".").read(german) == expected
