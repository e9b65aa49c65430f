"""What the concepts declare is true of them, and they are found by their names."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fairpool as fp
from fairpool.compute.workers import Workers
from fairpool.contributions import CONCEPTS, concept_of
from fairpool.contributions.concept import GIVEN
from fairpool.contributions.contributions import as_contributions
from fairpool.errors import GameError
from fairpool.rewards.intervals import ContributionIntervals
from tests.support.examples import MODELS, make_parties
from tests.support.games import tables

METHODS = {
    "shapley": "exact",
    "banzhaf": "banzhaf",
    "standalone": "standalone",
    "leave_one_out": "leave one out",
}


def measured(name, game):
    return CONCEPTS[name].measure(
        game, rng=0, evaluations=None, target_standard_error=None, workers=Workers()
    )


def test_every_function_gives_what_its_concept_measures_and_says_so():
    game = fp.TableGame([0, 7, 5, 8])
    assert set(METHODS) <= set(CONCEPTS)
    for name, method in METHODS.items():
        for phi in (getattr(fp, name)(game), measured(name, game)):
            assert phi.concept is CONCEPTS[name]
            assert phi.concept.name == name
            assert phi.method == method
            np.testing.assert_array_equal(phi.values, getattr(fp, name)(game).values)


@pytest.mark.parametrize("name", ["shapley", "banzhaf"])
def test_what_is_sampled_is_of_the_same_concept(name):
    game = fp.InformationGain(MODELS["blr"], make_parties([3] * 17, 0))
    phi = measured(name, game)
    assert not phi.exact
    assert phi.concept is CONCEPTS[name]


@pytest.mark.parametrize("name", CONCEPTS)
@given(v=tables())
def test_those_that_are_efficient_sum_to_the_total(name, v):
    game = fp.TableGame(v)
    if CONCEPTS[name].efficient:
        assert measured(name, game).values.sum() == pytest.approx(game.total)


@pytest.mark.parametrize("name", ["banzhaf", "standalone", "leave_one_out"])
def test_those_that_are_not_efficient_need_not(name):
    game = fp.TableGame([0, 2, 2, 3, 2, 3, 3, 4])
    assert not CONCEPTS[name].efficient
    assert abs(measured(name, game).values.sum() - game.total) > 0.1


@pytest.mark.parametrize("name", [name for name in CONCEPTS if CONCEPTS[name].averages_marginals])
@given(v=tables())
def test_averages_of_what_a_party_adds_lie_between_the_least_and_the_most_of_it(name, v):
    game = fp.TableGame(v)
    masks = np.arange(len(v))
    for i, phi_i in enumerate(measured(name, game).values):
        without = masks[masks >> i & 1 == 0]
        adds = v[without | 1 << i] - v[without]
        assert adds.min() - 1e-9 * v.max() <= phi_i <= adds.max() + 1e-9 * v.max()


@pytest.mark.parametrize("name", CONCEPTS)
@given(v=tables(least=2), data=st.data())
def test_strict_party_monotonicity_is_declared_of_those_that_have_it(name, v, data):
    """The party whose data became more valuable contributes more, and nobody rises by more."""
    n = len(v).bit_length() - 1
    i = data.draw(st.integers(0, n - 1))
    with_i = np.flatnonzero(np.arange(len(v)) >> i & 1)
    rise = np.zeros(len(v))
    rise[with_i] = data.draw(
        st.lists(st.integers(0, 3), min_size=len(with_i), max_size=len(with_i))
    )
    assume(rise.any())
    before, after = fp.TableGame(v), fp.TableGame(v + rise)
    change = measured(name, after).values - measured(name, before).values
    assert change.max() <= change[i] + 1e-9 * after.values().max()
    if CONCEPTS[name].strictly_party_monotone:
        assert change[i] > 0


@pytest.mark.parametrize("name", ["standalone", "leave_one_out"])
def test_the_naive_ones_do_not_see_that_data_became_more_valuable_elsewhere(name):
    before = fp.TableGame([0, 2, 2, 3, 2, 3, 3, 4])
    after = fp.TableGame([0, 2, 2, 3.5, 2, 3, 3, 4])  # only together with the second party
    assert not CONCEPTS[name].strictly_party_monotone
    assert measured(name, after).values[0] == measured(name, before).values[0]


@pytest.mark.parametrize("name", ["shapley", "banzhaf"])
def test_f4_is_proved_for_those_that_are_strictly_party_monotone(name):
    game = fp.TableGame([0, 7, 5, 8])
    phi = measured(name, game)
    rewards = fp.RewardScheme(game, phi).rewards(0.5)
    assert fp.check_incentives(game, phi, rewards)["F4"].holds is True


@pytest.mark.parametrize("name", ["standalone", "leave_one_out"])
@given(v=tables(), rho=st.floats(0.01, 1))
@pytest.mark.filterwarnings("ignore::fairpool.FairpoolWarning")
def test_f4_is_never_said_to_hold_for_the_naive_ones(name, v, rho):
    game = fp.TableGame(v)
    phi = measured(name, game)
    verdicts = fp.check_incentives(game, phi, fp.RewardScheme(game, phi).rewards(rho))
    assert verdicts["F4"].holds is None
    assert verdicts["R5"].holds is not True


def test_the_same_numbers_guarantee_nothing_when_they_are_given():
    game = fp.TableGame([0, 7, 5, 8])
    phi = as_contributions(fp.shapley(game).values, 2)
    assert (phi.concept, phi.method) == (GIVEN, "given")
    rewards = fp.RewardScheme(game, phi).rewards(0.5)
    assert fp.check_incentives(game, phi, rewards)["F4"].holds is None
    with pytest.raises(GameError, match="given as numbers cannot be measured for 2 parties"):
        GIVEN.measure(game, rng=0, evaluations=None, target_standard_error=None, workers=Workers())


def test_intervals_are_kept_within_bounds_only_where_the_concept_has_them():
    """No average of what a party adds is more than it has alone; other numbers may be."""
    game = fp.InformationGain(MODELS["blr"], make_parties([3, 5], 0))
    estimates = game.alone - 0.01
    given = fp.Contributions(estimates, np.full(2, 0.1), "sampled", 100)
    bounded = fp.Contributions(
        estimates, np.full(2, 0.1), "sampled", 100, concept=CONCEPTS["shapley"]
    )
    assert (ContributionIntervals.of(game, given).high > game.alone + 0.1).all()
    assert (ContributionIntervals.of(game, bounded).high <= game.alone).all()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shapely", 'did you mean "shapley"? There are shapley, banzhaf, standalone, leave_one_o'),
        ("leave one out", 'did you mean "leave_one_out"?'),
        ("x", "'x' is not a way to measure contributions; there are shapley, banzhaf, standalone"),
        (None, "None is not a way to measure contributions; give one of shapley"),
    ],
)
def test_an_unknown_name_is_refused_with_what_there_is(name, text):
    with pytest.raises(GameError, match=re.escape(text)):
        concept_of(name)


def test_leave_one_out_of_information_gain_is_what_the_table_says():
    game = fp.InformationGain(MODELS["gp"], make_parties([9, 3, 5, 4], 5))
    v = game.values()
    everybody = len(v) - 1
    expected = [v[everybody] - v[everybody ^ 1 << i] for i in range(4)]
    np.testing.assert_allclose(fp.leave_one_out(game).values, expected, rtol=1e-9, atol=1e-12)
