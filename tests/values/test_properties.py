import numpy as np
import pytest

import fairpool as fp
from tests.support.examples import MODELS, make_parties


def verdict(table, condition):
    return fp.check_properties(
        fp.TableGame(table, names=["a", "b", "c"][: len(table).bit_length() - 1])
    )[condition]


def test_all_four_hold_for_a_submodular_game():
    assert [v.holds for v in fp.check_properties(fp.TableGame([0, 7, 5, 8]))] == [True] * 4


@pytest.mark.parametrize(
    ("table", "condition", "why", "parties", "coalition"),
    [
        ([1, 7, 5, 8], "empty is 0", "nobody's data is worth 1", (), ()),
        ([0, -2, 5, 8], "non-negative", "the data of {a} is worth -2", (), ("a",)),
        (
            [0, 7, 5, 4],
            "monotone",
            'adding "b" to {a} lowers its value from 7 to 4',
            ("b",),
            ("a",),
        ),
        ([0, 7, 5, 13], "submodular", '"a" adds 7 to {}, but 8 once "b" is in it', ("a", "b"), ()),
        (
            [0, 1, 1, 2, 1, 2, 2, 4],
            "submodular",
            '"a" adds 1 to {c}, but 2 once "b" is in it',
            ("a", "b"),
            ("c",),
        ),
    ],
)
def test_each_failure_has_its_witness(table, condition, why, parties, coalition):
    found = verdict(table, condition)
    assert found.holds is False
    assert found.why == why
    assert (found.witness.parties, found.witness.coalition) == (parties, coalition)


def test_rounding_does_not_break_a_property():
    assert verdict([0, 7, 5, 7 - 1e-15], "monotone").holds
    assert verdict([1e-15, 7, 5, 12 + 1e-14], "submodular").holds


def test_many_parties_are_not_enumerated():
    game = fp.InformationGain(MODELS["blr"], make_parties([2] * 20, 0))
    assert [v.holds for v in fp.check_properties(game)] == [True] * 4
    assert "always is (Sec. 3)" in fp.check_properties(game)["monotone"].why
    X = np.zeros((1, 3))
    unknown = fp.ValidationGain(MODELS["blr"], make_parties([2] * 20, 0), X, [0.0])
    assert fp.check_properties(unknown)["monotone"].holds is None
