import numpy as np
import pytest
from hypothesis import given

import fairpool as fp
import oracles
from examples import MODELS, make_parties
from games import tables


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
    parties = make_parties(np.random.default_rng(n).permutation([0, 1, 12, 5, 9, 3, 7][:n]) if n > 1 else [4], n)
    phi = fp.shapley(fp.InformationGain(MODELS[name], parties))
    np.testing.assert_allclose(phi.values, oracles.shapley(oracles.values(MODELS[name], parties)), rtol=1e-9, atol=1e-9)


def test_twenty_parties_are_exact_once_values_are_known():
    """An additive game with one joint bonus, whose Shapley values are known in closed form."""
    n, worth = 20, np.arange(1, 21.0)
    masks = np.arange(2**n)
    v = sum(worth[i] * (masks >> i & 1) for i in range(n)) + 100.0 * (masks == 2**n - 1)
    phi = fp.shapley(fp.TableGame(v), "exact")
    np.testing.assert_allclose(phi.values, worth + 5, rtol=1e-9)


@given(tables(least=2, most=4))
def test_sampled_shapley_sums_to_the_total_and_is_repeatable(v):
    game = fp.TableGame(v)
    phi, again = (fp.shapley(game, "sampled", 3, permutations=20) for _ in range(2))
    assert phi.values.sum() == pytest.approx(game.total, rel=1e-12)
    np.testing.assert_array_equal(phi.values, again.values)
    assert (phi.method, phi.permutations) == ("sampled", 20)


@pytest.mark.parametrize("name", ["gp", "blr"])
def test_sampled_shapley_is_near_the_exact_within_its_standard_errors(name):
    game = fp.InformationGain(MODELS[name], make_parties([9, 3, 14, 6, 11, 4], 5))
    exact = fp.shapley(game).values
    z = []
    for seed in range(40):
        phi = fp.shapley(game, "sampled", seed, permutations=60)
        z.append((phi.values - exact) / phi.standard_errors)
    assert 0.8 < np.std(z) < 1.25  # the errors are as large as they say
    assert np.abs(np.mean(z)) < 0.2


def test_antithetic_pairs_beat_independent_permutations():
    game = fp.InformationGain(MODELS["gp"], make_parties([9, 3, 14, 6, 11, 4], 5))
    rng = np.random.default_rng(0)
    marginals = []
    for _ in range(400):
        order = rng.permutation(6)
        found = np.empty(6)
        found[order] = np.diff(game.prefix_values(order), prepend=0)
        marginals.append(found)
    independent = np.std(marginals, axis=0) / np.sqrt(400)
    paired = fp.shapley(game, "sampled", 1, permutations=400).standard_errors
    assert (paired < 0.6 * independent).all()


def test_sampling_stops_at_the_target_error():
    game = fp.InformationGain(MODELS["blr"], make_parties([9, 3, 14, 6, 11, 4], 5))
    phi = fp.shapley(game, "sampled", 0, permutations=5000, target_standard_error=0.05)
    assert phi.standard_errors.max() <= 0.05
    assert 32 <= phi.permutations < 5000
    capped = fp.shapley(game, "sampled", 0, permutations=40, target_standard_error=1e-9)
    assert capped.permutations == 40


def test_auto_samples_beyond_the_limit_of_sixteen():
    for n, method in ((16, "exact"), (17, "sampled")):
        game = fp.InformationGain(MODELS["blr"], make_parties([1] * n, 0))
        assert fp.shapley(game, rng=0, permutations=4).method == method


def test_the_two_naive_schemes():
    game = fp.TableGame([0, 7, 5, 8])
    assert fp.standalone(game).values.tolist() == [7, 5]
    assert fp.leave_one_out(game).values.tolist() == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"method": "magic"}, 'no method "magic" for Shapley values'),
        ({"method": "sampled", "permutations": 2}, "permutations 2 is not a whole number from 4"),
        ({"method": "sampled", "target_standard_error": 0.0}, "target_standard_error 0.0 must be above 0"),
    ],
)
def test_bad_requests_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        fp.shapley(fp.TableGame([0, 7, 5, 8]), **arguments)


def test_contributions_say_what_they_are():
    assert repr(fp.shapley(fp.TableGame([0, 7, 5, 8]))) == "Contributions([5. 3.], exact)"
    game = fp.InformationGain(MODELS["blr"], make_parties([9, 3, 5], 5))
    assert "+-" in repr(fp.shapley(game, "sampled", 0, permutations=8))


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


def test_standard_errors_are_those_of_the_pairs():
    """sd / sqrt(pairs), the sample standard deviation: recomputed from the same permutations."""
    game = fp.InformationGain(MODELS["blr"], make_parties([9, 3, 5, 7], 5))
    phi = fp.shapley(game, "sampled", 11, permutations=12)
    rng, pairs = np.random.default_rng(11), []
    for _ in range(6):
        order = rng.permutation(4)
        both = []
        for o in (order, order[::-1]):
            found = np.empty(4)
            found[o] = np.diff(game.prefix_values(o.tolist()), prepend=0)
            both.append(found)
        pairs.append(np.mean(both, axis=0))
    np.testing.assert_allclose(phi.values, np.mean(pairs, axis=0))
    np.testing.assert_allclose(phi.standard_errors, np.std(pairs, axis=0, ddof=1) / np.sqrt(6))
