"""Where rewards and rho of exact contributions lie, if only sampled ones are known: intervals that
hold.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairpool as fp
from fairpool.rewards.intervals import ContributionIntervals
from tests.support import oracles
from tests.support.clones import CloneGame
from tests.support.examples import MODELS
from tests.support.games import tables

pytestmark = pytest.mark.filterwarnings("ignore::fairpool.FairpoolWarning")

ROUNDING = 1e-9


def heterogeneous(n, seed):
    """Parties of very different size and scale."""
    rng = np.random.default_rng(seed)
    tables_ = [
        rng.lognormal() * rng.standard_normal((int(rng.integers(1, 30)), 3)) for _ in range(n)
    ]
    parties = [fp.Party(str(i), X, np.zeros(len(X))) for i, X in enumerate(tables_)]
    return fp.InformationGain(MODELS["blr"], parties)


def inside(interval, truth):
    low, high = np.asarray(interval).T
    margin = ROUNDING * (1 + np.abs(np.where(np.isfinite(truth), truth, 0.0)))
    return (low - margin <= truth) & (truth <= high + margin)


def coverage(game, phi, evaluations, seeds):
    """In how many samplings the intervals hold.

    They hold if rho_r, rho_s and all rewards of the exact contributions are within them.
    """
    exact = fp.RewardScheme(game, phi)
    found = {"rho_rational": [], "rho_stable": [], "rational": [], "stable": [], "0.5": []}
    for seed in seeds:
        scheme = fp.RewardScheme(game, fp.shapley(game, "sampled", seed, evaluations=evaluations))
        found["rho_rational"].append(inside(scheme.rho_rational_interval, exact.rho_rational))
        found["rho_stable"].append(inside(scheme.rho_stable_interval, exact.rho_stable))
        for rho in ("rational", "stable", 0.5):
            found[str(rho)].append(inside(scheme.reward_intervals(rho), exact.rewards(rho)).all())
    return {name: np.mean(hits) for name, hits in found.items()}


def test_the_clones_contributions_are_exact():
    clones = CloneGame(types=3, each=3, seed=0)
    np.testing.assert_allclose(clones.phi, fp.shapley(clones.game).values, rtol=1e-9)


@given(tables(least=2, most=5), st.data())
@settings(max_examples=200)
def test_whatever_the_contributions_are_within_theirs_the_intervals_hold(v, data):
    """Few different integers, so that many tie, some are 0, and intervals touch."""
    game = fp.TableGame(v)
    numbers = st.lists(st.integers(0, 6), min_size=game.n, max_size=game.n)
    estimates, errors = np.array(data.draw(numbers), dtype=float), np.array(data.draw(numbers)) / 6
    scheme = fp.RewardScheme(game, fp.Contributions(estimates, errors, "sampled", 100))
    phi = ContributionIntervals.of(game, scheme.contributions)
    places = np.array(data.draw(numbers)) / 6
    truth = phi.low + places * (phi.high - phi.low)
    if data.draw(st.booleans()):
        truth = np.clip(np.round(truth), phi.low, phi.high)
    exact = fp.RewardScheme(game, truth)
    assert inside(scheme.rho_rational_interval, exact.rho_rational)
    assert inside(scheme.rho_stable_interval, exact.rho_stable)
    for rho in ("rational", "stable", 0.0, 0.3, 1.0):
        assert inside(scheme.reward_intervals(rho), exact.rewards(rho)).all(), rho
        assert inside(scheme.reward_intervals(rho), scheme.rewards(rho)).all(), rho


@given(tables(least=1, most=4))
def test_exact_contributions_leave_no_doubt(v):
    scheme = fp.RewardScheme(fp.TableGame(v), oracles.shapley(v))
    assert scheme.rho_stable_interval == (scheme.rho_stable, scheme.rho_stable)
    assert scheme.rho_rational_interval == (scheme.rho_rational, scheme.rho_rational)
    np.testing.assert_array_equal(
        scheme.reward_intervals("stable"), np.tile(scheme.rewards("stable"), (2, 1)).T
    )


def test_an_interval_is_as_narrow_as_the_contributions_allow():
    """Two parties in doubt, one pair of contributions at each end: both ends are reached."""
    game = fp.TableGame([0, 8, 5, 10])
    phi = fp.Contributions(np.array([6.5, 3.5]), np.array([0.1, 0.1]), "sampled", 100)
    scheme = fp.RewardScheme(game, phi)
    known = ContributionIntervals.of(game, phi)
    ends = (known.high[0], known.low[1]), (known.low[0], known.high[1])
    for interval in (scheme.rho_rational_interval, scheme.rho_stable_interval):
        assert interval == pytest.approx(
            [np.log(5 / 10) / np.log(small / large) for large, small in ends]
        )
    low, high = scheme.reward_intervals(1.0)[1]
    assert (low, high) == pytest.approx(tuple(10 * small / large for large, small in ends))
    assert scheme.reward_intervals("stable")[0] == pytest.approx([10, 10])


def test_a_word_leaves_more_doubt_than_its_number_unless_rho_is_1_for_certain():
    for alone, uncertain in (
        (0.7, True),
        (0.595, True),
        (0.5, False),
    ):  # rho_r below 1, a little above, far above
        phi = fp.Contributions(np.array([1.0, 0.6]), np.array([0.01, 0.01]), "sampled", 100)
        scheme = fp.RewardScheme(fp.TableGame([0, 1, alone, 1]), phi)
        by_word, by_number = (
            scheme.reward_intervals("rational")[1],
            scheme.reward_intervals(scheme.rho("rational"))[1],
        )
        assert (np.ptp(by_word) > np.ptp(by_number)) == uncertain, scheme.rho_rational


def test_who_is_estimated_to_contribute_nothing_may_deserve_something():
    phi = fp.Contributions(np.array([3.0, -0.1]), np.array([0.1, 0.2]), "sampled", 100)
    scheme = fp.RewardScheme(fp.TableGame([0, 3, 1, 3]), phi)
    for rho in ("stable", 0.5):
        low, high = scheme.reward_intervals(rho)[1]
        assert low == scheme.rewards(rho)[1] == 0 < high
    assert scheme.reward_intervals("welfare")[1].tolist() == [3, 3]


def test_nothing_is_known_of_rho_s_where_values_may_not_be_monotone():
    class Unknown(fp.Game):
        names = tuple("abcdefghijklmnopq")

        def value_of_mask(self, mask):
            return float(mask.bit_count())

    phi = fp.Contributions(np.linspace(0.9, 1.1, 17), np.full(17, 0.1), "sampled", 100)
    assert fp.RewardScheme(Unknown(), phi).rho_stable_interval == (-np.inf, np.inf)


def test_intervals_hold_where_many_parties_nearly_tie():
    clones = CloneGame(types=4, each=12, seed=3)
    found = coverage(clones.game, clones.phi, evaluations=1200, seeds=range(15))
    assert min(found.values()) >= 0.95, found


def test_intervals_hold_and_are_narrow_where_none_tie():
    game = heterogeneous(13, 0)
    exact = fp.shapley(game)
    found = coverage(game, exact.values, evaluations=600, seeds=range(25))
    assert min(found.values()) >= 0.95, found
    scheme = fp.RewardScheme(game, fp.shapley(game, "sampled", 0, evaluations=600))
    low, high = scheme.rho_stable_interval
    assert high - low < 0.3 * fp.RewardScheme(game, exact).rho_stable
    low, high = scheme.reward_intervals(0.5).T
    assert (high - low).max() < 0.25 * game.total


def test_rewards_at_the_estimated_rho_s_are_stable_although_it_may_be_far_from_the_exact_one():
    clones = CloneGame(types=4, each=12, seed=3)
    exact = fp.RewardScheme(clones.game, clones.phi).rho_stable
    below = []
    for seed in range(10):
        phi = fp.shapley(clones.game, "sampled", seed, evaluations=1200)
        scheme = fp.RewardScheme(clones.game, phi)
        below.append(scheme.rho_stable < 0.9 * exact)
        assert fp.check_incentives(clones.game, phi, scheme.rewards("stable"))["stable"].holds
    assert np.mean(below) >= 0.5


@pytest.mark.soak
@pytest.mark.parametrize("seed", [3, 8])
def test_intervals_of_a_hundred_parties_of_four_kinds(seed):
    clones = CloneGame(types=4, each=25, seed=seed)
    found = coverage(clones.game, clones.phi, evaluations=3000, seeds=range(150))
    assert min(found.values()) >= 0.97, found


@pytest.mark.soak
@pytest.mark.parametrize("evaluations", [400, 1000])
def test_intervals_of_twenty_parties(evaluations):
    phi = fp.shapley(heterogeneous(20, 1), "exact").values
    found = coverage(heterogeneous(20, 1), phi, evaluations, seeds=range(200))
    assert min(found.values()) >= 0.97, found
