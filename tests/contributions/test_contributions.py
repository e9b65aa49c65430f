import numpy as np
import pytest
from hypothesis import given

import fairpool as fp
from tests.support import oracles
from tests.support.examples import MODELS, make_parties
from tests.support.games import tables


@given(tables())
def test_exact_shapley_and_banzhaf_equal_their_definitions(v):
    game = fp.TableGame(v)
    phi = fp.shapley(game)
    np.testing.assert_allclose(phi.values, oracles.shapley(v), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fp.banzhaf(game).values, oracles.banzhaf(v), rtol=1e-9, atol=1e-9)
    assert phi.values.sum() == pytest.approx(game.total)
    assert (phi.method, phi.standard_errors.any()) == ("exact", False)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n", range(1, 8))
def test_shapley_of_information_gain_equals_all_permutations(name, n):
    parties = make_parties(
        np.random.default_rng(n).permutation([0, 1, 12, 5, 9, 3, 7][:n]) if n > 1 else [4], n
    )
    phi = fp.shapley(fp.InformationGain(MODELS[name], parties))
    np.testing.assert_allclose(
        phi.values, oracles.shapley(oracles.values(MODELS[name], parties)), rtol=1e-9, atol=1e-9
    )


def test_twenty_parties_are_exact_once_values_are_known():
    """An additive game with one joint bonus, whose Shapley values are known in closed form."""
    n, worth = 20, np.arange(1, 21.0)
    masks = np.arange(2**n)
    v = sum(worth[i] * (masks >> i & 1) for i in range(n)) + 100.0 * (masks == 2**n - 1)
    phi = fp.shapley(fp.TableGame(v), "exact")
    np.testing.assert_allclose(phi.values, worth + 5, rtol=1e-9)


def test_auto_samples_beyond_the_limit_of_sixteen():
    for n, method in ((16, "exact"), (17, "sampled")):
        game = fp.InformationGain(MODELS["blr"], make_parties([1] * n, 0))
        assert fp.shapley(game, rng=0, evaluations=300).method == method


def test_the_two_naive_schemes():
    game = fp.TableGame([0, 7, 5, 8])
    assert fp.standalone(game).values.tolist() == [7, 5]
    assert fp.leave_one_out(game).values.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"method": "magic"}, 'no method "magic" for Shapley values'),
        (
            {"method": "sampled", "evaluations": 2},
            "evaluations 2 are too few for 2 parties; give at least 4",
        ),
        (
            {"method": "sampled", "target_standard_error": 0.0},
            "target_standard_error 0.0 must be above 0",
        ),
    ],
)
def test_bad_requests_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        fp.shapley(fp.TableGame([0, 7, 5, 8]), **arguments)


def test_contributions_say_what_they_are():
    assert repr(fp.shapley(fp.TableGame([0, 7, 5, 8]))) == "Contributions([5. 3.], exact)"
    game = fp.InformationGain(MODELS["blr"], make_parties([9, 3, 5], 5))
    assert "+-" in repr(fp.shapley(game, "sampled", 0))


def test_sampled_contributions_never_count_as_exact():
    """Even where the samples missed a rare synergy, and all standard errors are 0."""
    masks = np.arange(2**10)
    v = 2.0 * np.bitwise_count(masks) + (masks == 2**10 - 1)
    phi = fp.Contributions(np.full(10, 2.1), np.zeros(10), "sampled", 40)
    assert not phi.exact
    assert fp.check_incentives(fp.TableGame(v), phi, phi.values)["F2"].holds is None


def test_auto_is_exact_wherever_all_values_are_known():
    masks = np.arange(2**17)
    assert fp.shapley(fp.TableGame(np.bitwise_count(masks).astype(float))).method == "exact"


def test_small_errors_are_not_shown_as_none():
    phi = fp.Contributions(np.array([2.5, 1.0]), np.array([0.0018, 4e-7]), "sampled", 100)
    assert repr(phi) == "Contributions([2.5 1. ] +- [0.0018 4e-07], sampled)"


@pytest.mark.parametrize("function", [fp.shapley, fp.banzhaf, fp.standalone, fp.leave_one_out])
def test_what_is_no_game_is_refused(function):
    with pytest.raises(
        ValueError, match="None is not a game; give an InformationGain, ValidationGain or TableGame"
    ):
        function(None)
    with pytest.raises(ValueError, match="None is not a game"):
        fp.check_incentives(None, [1.0], [1.0])
