"""Sampled Shapley values: unbiased, with errors that hold, the same for any workers."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairpool as fp
from fairpool.contributions.sampling import fewest_evaluations
from tests.support.examples import MODELS
from tests.support.games import tables
from tests.support.row_games import exact_contributions, row_game, shapley_weights


class Fresh(fp.Game):
    """A game whose values are known to the test, but not to the library."""

    def __init__(self, v):
        self.v = v
        self.names = tuple(str(i) for i in range(len(v).bit_length() - 1))
        self.valued = 0

    def value_of_mask(self, mask):
        self.valued += 1
        return float(self.v[mask])


@given(tables(least=1, most=6), st.integers(0, 100))
def test_sampled_values_sum_to_the_total_and_are_repeatable(v, seed):
    game = Fresh(v)
    phi, again = (fp.shapley(game, "sampled", seed) for _ in range(2))
    assert phi.values.sum() == pytest.approx(v[-1] - v[0], rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(phi.values, again.values)
    assert phi.method == "sampled"
    assert not phi.exact


def heterogeneous(n, seed, model="blr"):
    """Parties of very different size and scale."""
    rng = np.random.default_rng(seed)
    X = [rng.lognormal() * rng.standard_normal((int(rng.integers(1, 20)), 3)) for _ in range(n)]
    return fp.InformationGain(
        MODELS[model], [fp.Party(str(i), x, np.zeros(len(x))) for i, x in enumerate(X)]
    )


@pytest.mark.parametrize("model", ["blr", "gp"])
@pytest.mark.parametrize("evaluations", [200, 600])
def test_the_95_percent_interval_holds_the_truth_in_95_percent(model, evaluations):
    inside, z = [], []
    for seed in range(60):
        game = heterogeneous(11, seed, model)
        exact = fp.shapley(game, "exact").values
        phi = fp.shapley(heterogeneous(11, seed, model), "sampled", seed, evaluations=evaluations)
        assert fewest_evaluations(11) <= phi.evaluations <= evaluations
        np.testing.assert_allclose(phi.values, exact, atol=max(6 * phi.standard_errors.max(), 1e-9))
        sampled = phi.standard_errors > 1e-9  # not those whose bounds meet, which are known
        z.extend(((phi.values - exact) / np.where(sampled, phi.standard_errors, 1.0))[sampled])
        inside.extend(np.abs(z[-sampled.sum() :]) <= 1.96)
    assert len(z) > 500
    assert 0.92 <= np.mean(inside) <= 0.98
    assert np.abs(np.mean(z)) < 0.15  # and errs to neither side


def coverage_by_groups(n, spread, seeds, evaluations, groups):
    """How often the 95% interval holds, from the least contributors to the largest [groups]."""
    sizes = 6 * np.random.default_rng(0).lognormal(sigma=spread, size=n)
    rows = [max(1, int(size)) for size in sizes]
    game, exact = row_game(rows), exact_contributions(rows, shapley_weights(n))
    inside = []
    for seed in seeds:
        phi = fp.shapley(game, "sampled", seed, evaluations=evaluations)
        inside.append(np.abs(phi.values - exact) <= 1.96 * phi.standard_errors)
    inside = np.array(inside)
    return np.array(
        [inside[:, group].mean() for group in np.array_split(np.argsort(exact), groups)]
    )


def test_at_the_least_budget_the_interval_holds_for_the_largest_contributors_too():
    """They add most to small coalitions, which few samples have them in."""
    least = fewest_evaluations(40)
    found = coverage_by_groups(n=40, spread=0.3, seeds=range(60), evaluations=least, groups=8)
    assert found.min() >= 0.93, found


def test_however_soon_it_is_precise_enough_no_fewer_are_valued_than_the_least():
    game = row_game([5] * 150)
    phi = fp.shapley(game, "sampled", 0, target_standard_error=game.total)
    assert (
        phi.evaluations >= fewest_evaluations(150) > 2000
    )  # 300 of two parties alone, that each be in four


@pytest.mark.soak
@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize("spread", [0.3, 1.0])
@pytest.mark.parametrize("n", [20, 40, 100])
def test_the_interval_holds_for_every_kind_of_party(n, spread, factor):
    budget = int(factor * fewest_evaluations(n))
    found = coverage_by_groups(n=n, spread=spread, seeds=range(200), evaluations=budget, groups=5)
    assert found.min() >= 0.93, found


@pytest.mark.parametrize("target", [0.01, 0.03])
def test_the_interval_holds_where_sampling_stops_at_a_precision(target):
    """Stopping when the errors look small could choose those that only look so."""
    z, evaluations = [], []
    for seed in range(100):
        exact = fp.shapley(heterogeneous(12, seed), "exact").values
        phi = fp.shapley(
            heterogeneous(12, seed), "sampled", seed, evaluations=4000, target_standard_error=target
        )
        sampled = phi.standard_errors > 1e-9
        z.extend(((phi.values - exact) / np.where(sampled, phi.standard_errors, 1.0))[sampled])
        evaluations.append(phi.evaluations)
    assert len(set(evaluations)) > 2  # they stop at different looks
    assert 0.92 <= np.mean(np.abs(z) <= 1.96) <= 0.98


@pytest.mark.parametrize(("n", "evaluations"), [(6, None), (8, None), (14, 450)])
def test_the_interval_holds_where_samples_are_few(n, evaluations):
    """A smooth, concave game; about as many samples as a group of the surrogate's terms needs."""
    z = []
    for seed in range(80):
        weight = np.random.default_rng(seed).exponential(size=n) ** 2
        masks = np.arange(2**n)
        v = np.log1p(sum(weight[i] * (masks >> i & 1) for i in range(n)))
        phi = fp.shapley(Fresh(v), "sampled", seed, evaluations=evaluations)
        z.extend((phi.values - fp.shapley(fp.TableGame(v)).values) / phi.standard_errors)
    assert 0.92 <= np.mean(np.abs(z) <= 1.96) <= 0.99
    assert np.abs(z).max() < 7


def test_samples_that_are_alike_by_chance_do_not_stop_the_search():
    """Two parties can do nothing without each other: most small coalitions are worth 0."""
    n, z = 12, []
    masks = np.arange(2**n)
    v = np.bitwise_count(masks) * ((masks & 3) == 3).astype(float)
    exact = fp.shapley(fp.TableGame(v)).values
    for seed in range(25):
        phi = fp.shapley(Fresh(v), "sampled", seed, evaluations=2000, target_standard_error=0.05)
        assert (phi.standard_errors > 0).all()
        z.extend((phi.values - exact) / phi.standard_errors)
    assert np.abs(z).max() < 8  # rare values make wide tails, but no error of almost nothing


@pytest.mark.parametrize("scale", [1e-160, 1e-12, 1e12, 1e160])
def test_values_of_any_scale(scale):
    game = heterogeneous(10, 0)
    usual, scaled = (
        fp.shapley(Fresh(c * game.values()), "sampled", 3, evaluations=300) for c in (1.0, scale)
    )
    np.testing.assert_allclose(scaled.values / scale, usual.values, rtol=1e-6)
    np.testing.assert_allclose(scaled.standard_errors / scale, usual.standard_errors, rtol=1e-4)


def test_estimates_keep_within_what_a_party_adds_first_and_last():
    """So that who contributes little, but something, is not estimated to contribute nothing."""
    game = heterogeneous(150, 3)
    phi = fp.shapley(game, "sampled", 0, evaluations=2500)
    assert (phi.values >= game.total - game.without_one - 1e-12).all()
    assert (phi.values <= game.alone + 1e-12).all()
    assert phi.values.sum() == pytest.approx(game.total, rel=1e-9)
    assert (phi.values > 0).all()


def test_a_sample_is_far_better_than_as_many_permutations():
    """At the same number of valued coalitions, against the usual way."""
    game = heterogeneous(12, 0)
    exact = fp.shapley(game, "exact").values
    v = game.values()
    ours, usual = [], []
    for seed in range(20):
        ours.append(
            np.abs(
                fp.shapley(heterogeneous(12, 0), "sampled", seed, evaluations=600).values - exact
            ).mean()
        )
        orders = np.random.default_rng(seed).permuted(np.tile(np.arange(12), (50, 1)), axis=1)
        gains = np.diff(v[np.cumsum(1 << orders, axis=1)], axis=1, prepend=0)
        phi = np.take_along_axis(gains, orders.argsort(axis=1), axis=1).mean(axis=0)
        usual.append(np.abs(phi - exact).mean())
    assert np.mean(ours) < 0.15 * np.mean(usual)


def test_sampling_stops_at_the_target_error_and_counts_what_was_valued():
    game = heterogeneous(14, 1)
    phi = fp.shapley(game, "sampled", 0, evaluations=20_000, target_standard_error=0.05)
    assert phi.standard_errors.max() <= 0.05
    assert phi.evaluations < 10_000
    fresh = Fresh(game.values())
    capped = fp.shapley(fresh, "sampled", 0, evaluations=300, target_standard_error=1e-9)
    assert capped.evaluations == 300
    assert fresh.valued == 300


def test_the_same_seed_gives_the_same_numbers_for_any_number_of_workers():
    alone = fp.shapley(
        heterogeneous(20, 2), "sampled", 5, evaluations=1500, target_standard_error=0.03
    )
    for threads in (1, 3):
        with ThreadPoolExecutor(threads) as pool:
            phi = fp.shapley(
                heterogeneous(20, 2),
                "sampled",
                5,
                evaluations=1500,
                target_standard_error=0.03,
                executor=pool,
            )
        np.testing.assert_array_equal(phi.values, alone.values)
        np.testing.assert_array_equal(phi.standard_errors, alone.standard_errors)
        assert phi.evaluations == alone.evaluations


def test_a_thousand_parties():
    """Half of them have the same data as the other half, and two have none."""
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((4, 3)) * (1 + i % 7) for i in range(499)]
    tables_ = [*X, *X, np.empty((0, 3)), np.empty((0, 3))]
    parties = [fp.Party(str(i), x, np.zeros(len(x))) for i, x in enumerate(tables_)]
    phi = fp.shapley(fp.InformationGain(MODELS["blr"], parties), rng=0, evaluations=14_000)
    assert phi.method == "sampled"
    assert phi.values.sum() == pytest.approx(fp.InformationGain(MODELS["blr"], parties).total)
    assert phi.values[-2:].tolist() == phi.standard_errors[-2:].tolist() == [0, 0]
    twins = (phi.values[:499] - phi.values[499:998]) / np.hypot(
        phi.standard_errors[:499], phi.standard_errors[499:998]
    )
    assert np.mean(np.abs(twins) < 1.96) > 0.9
