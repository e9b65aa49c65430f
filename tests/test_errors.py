"""Errors echo what was given, but never all of something large."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, CompoundKernel

import fairpool as fp
from fairpool.consortium.configuration_file import load_configuration
from fairpool.errors import (
    LONGEST_ECHO,
    DataError,
    FairpoolError,
    cut,
    is_printable,
    printable,
    shown,
)
from fairpool.model_kinds.kernel_expression import parse_kernel

MANY = np.linspace(0, 1, 999)  # numpy itself cuts only what has more than a thousand numbers
LONG = "x" * 5000
X = np.random.default_rng(0).standard_normal((4, 2))
PARTIES = [fp.Party("a", X, X[:, 0]), fp.Party("b", X, X[:, 1])]
GP = fp.GaussianProcess(RBF(), 0.1)
GAME = fp.InformationGain(GP, PARTIES)
TABLE = fp.TableGame([0, 7, 5, 8])


class Unwritable:
    def __repr__(self):
        raise RuntimeError("no repr")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (0.1, "0.1"),
        (np.float64(0.1), "np.float64(0.1)"),
        ("a  b\n", r"'a  b\n'"),
        ([1, 2, 3], "[1, 2, 3]"),
        (np.eye(2), "array([[1., 0.],        [0., 1.]])"),
        ({"a": 1}, "{'a': 1}"),
    ],
)
def test_what_is_short_is_shown_in_one_line(value, text):
    assert shown(value) == text


def test_what_is_long_is_cut():
    nested = [[MANY] * 9] * 9
    for value in (
        MANY,
        MANY.tolist(),
        tuple(MANY),
        set(MANY),
        LONG,
        LONG.encode(),
        nested,
        10**1000,
    ):
        text = shown(value)
        assert "..." in text
        assert len(text) <= LONGEST_ECHO
        assert "\n" not in text


def test_what_python_does_not_write_out_has_its_type():
    assert shown(10**5000) == "of type int"
    assert "Unwritable" in shown(Unwritable())


def test_a_text_is_cut_only_where_it_is_too_long():
    assert cut("x" * LONGEST_ECHO) == "x" * LONGEST_ECHO
    assert cut("x" * (LONGEST_ECHO + 1)) == "x" * (LONGEST_ECHO - 3) + "..."


@pytest.mark.parametrize(
    "call",
    [
        lambda: fp.collaborate(PARTIES, GP, rng=LONG),
        lambda: fp.collaborate(PARTIES, GP, rho=LONG),
        lambda: fp.collaborate(PARTIES, GP, rho=MANY),
        lambda: fp.collaborate(PARTIES, MANY),
        lambda: fp.collaborate([MANY], GP),
        lambda: fp.collaborate(PARTIES, GP, executor=MANY),
        lambda: fp.realise(TABLE, MANY, 0),
        lambda: fp.realise(TABLE, MANY.tolist(), 0),
        lambda: fp.realise(GAME, [GAME.total] * 2, 0, noise=LONG),
        lambda: fp.realise(GAME, [GAME.total] * 2, 0, draws=MANY),
        lambda: fp.RewardScheme(MANY, [1]),
        lambda: fp.RewardScheme(TABLE, MANY),
        lambda: fp.shapley(MANY),
        lambda: fp.shapley(TABLE, LONG),
        lambda: fp.shapley(TABLE, "sampled", evaluations=LONG),
        lambda: fp.shapley(TABLE, "sampled", evaluations=-(10**5000)),
        lambda: TABLE.value(LONG),
        lambda: TABLE.value([LONG]),
        lambda: TABLE.value([tuple(MANY)]),
        lambda: fp.TableGame([0, 1], names=[MANY]),
        lambda: fp.Party(LONG + "\n", X, X[:, 0]),
        lambda: fp.Party(MANY, X, X[:, 0]),
        lambda: fp.GaussianProcess(MANY, 0.1),
        lambda: fp.GaussianProcess(CompoundKernel([RBF(MANY + 1)]), 0.1),
        lambda: fp.GaussianProcess(RBF(MANY + 1), 0.1).posterior(X, X[:, 0]),
        lambda: fp.GaussianProcess(RBF(), LONG),
        lambda: fp.GaussianProcess(RBF(), MANY),
        lambda: fp.BayesianLinearRegression(0.1, bias=MANY),
        lambda: fp.BayesianLinearRegression(0.1, features=MANY),
        lambda: fp.BayesianLinearRegression(0.1, prior_variance=-MANY),
        lambda: fp.inducing_points(X, LONG),
        lambda: fp.inducing_points(X, 2, LONG),
        lambda: parse_kernel("rbf + " * 1000, 2),
        lambda: parse_kernel(f"rbf + {LONG}", 2),
        lambda: parse_kernel("rbf - (" + " + ".join(["rbf"] * 60) + ")", 2),
    ],
)
def test_no_error_echoes_all_of_something_large(call):
    with pytest.raises(FairpoolError, match=r".") as caught:
        call()
    text = str(caught.value)
    assert len(text) < 400
    assert "\n" not in text
    assert "..." in text or "of type int" in text


@pytest.mark.parametrize("key", ["rho", "share_inputs"])
@pytest.mark.parametrize("value", [LONG, MANY.tolist()], ids=["text", "list"])
def test_a_configuration_error_echoes_no_more(tmp_path, key, value):
    line = f"{key} = {value!r}"
    text = f'target = "y"\n[rewards]\n{line}\n[[parties]]\nname = "a"\ndata = "a.csv"\n'
    (tmp_path / "collaboration.toml").write_text(text)
    with pytest.raises(FairpoolError, match=r"\.\.\.") as caught:
        load_configuration(tmp_path)
    assert len(str(caught.value)) < 400 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nerror: b\r\t\x00", r"a\nerror: b\r\t\x00"),
        ("\x9b2J\x85", r"\x9b2J\x85"),  # the eight-bit form of ESC [, and of a new line
        ("a\u2028b\u2029", r"a\u2028b\u2029"),
        ("vsc\u202eexe.csv\u2066", r"vsc\u202eexe.csv\u2066"),
        ("a\u200bb\ufeff\u00ad", r"a\u200bb\ufeff\xad"),
        ("\U000e0041", r"\U000e0041"),  # a letter that has no shape
        ("p\udcff.csv", r"p\udcff.csv"),  # a byte of a file name that is no text
        ("\ue000", r"\ue000"),  # of private use: every font shows another shape
    ],
)
def test_what_cannot_be_seen_is_written_out(text, expected):
    assert printable(text) == expected
    assert not is_printable(text)
    assert str(DataError(text)) == expected
    assert DataError(text).args == (text,)


@pytest.mark.parametrize(
    "text", ["", "age", "Hôpital n°\u00a05", "می\u200cخواهم", "病院\u3000北", "👩\u200d⚕️", "a\\x1b"]
)
def test_what_has_a_shape_is_shown_as_it_is(text):
    assert printable(text) == text
    assert is_printable(text)


@given(st.text(st.characters()))
def test_nothing_is_shown_that_a_terminal_obeys(text):
    once = printable(text)
    assert printable(once) == once
    assert len(once.splitlines()) <= 1
    assert not [sign for sign in once if sign < " " or "\x7f" <= sign < "\xa0"]
    once.encode()  # no half of a pair


def test_no_party_has_a_name_that_cannot_be_shown(tmp_path):
    for name in ("a\x1b[2J", "a\u202eb", "a\nb"):
        with pytest.raises(FairpoolError, match="cannot be shown"):
            fp.Party(name, X, X[:, 0])
        with pytest.raises(FairpoolError, match="cannot be shown"):
            fp.TableGame([0, 7, 5, 8], names=[name, "b"])
        summary = fp.BayesianLinearRegression(0.1).summarise(PARTIES[0])
        with pytest.raises(FairpoolError, match="cannot be shown"):
            fp.InformationGain(fp.BayesianLinearRegression(0.1), [replace(summary, name=name)])
        escaped = "".join(f"\\u{ord(sign):04x}" for sign in name)
        text = f'target = "y"\n[[parties]]\nname = "{escaped}"\ndata = "a.csv"\n'
        (tmp_path / "collaboration.toml").write_text(text)
        with pytest.raises(FairpoolError, match="has a control character; use letters"):
            load_configuration(tmp_path)
