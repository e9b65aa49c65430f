import pytest

from fairpool.consortium.guessing.separators import guess_separator, split_rows


@pytest.mark.parametrize(
    ("lines", "sign"),
    [
        (["a,b\n", "1,2\n"], ","),
        (["a;b;c\n", "1,5;2,5;3\n", "1,5;2;3,25\n"], ";"),
        (["a\tb\n", "1\t2\n"], "\t"),
        (["a|b\n", "1|2\n"], "|"),
        (["a,b\n", '"x;y",2\n', '"x;y;z",3\n'], ","),
        (['"a;b",c\n', "1,2\n"], ","),
        (["a;b\n"], ";"),
        (["alone\n", "1\n"], ","),
        (["a,b;c\n", "1;2\n", "3;4\n"], ";"),
        ([], ","),
    ],
)
def test_separators(lines, sign):
    assert guess_separator(lines).sign == sign


def test_it_says_what_it_rests_on():
    why = guess_separator(["a;b\n", "1;2\n", "broken\n"]).why
    assert why == "1 of 2 rows then have 2 values, as the first line does"


def test_a_quote_that_is_never_closed_ends_the_rows():
    assert split_rows(["a,b\n", "1,2\n", '"open,3\n', "4,5\n"], ",")[:2] == [["a", "b"], ["1", "2"]]
