"""No tolerance depends on the unit of a column: neither values, rewards, verdicts nor noise do."""

import decimal
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import DotProduct

import fairpool as fp
from fairpool.linear_algebra.rounding import coarse_rounding, fine_rounding
from fairpool.values import tolerance_of


def parties_of(scales, sizes=(40, 25, 30), shift=0.0, seed=0):
    """Parties whose columns have such standard deviations."""
    rng = np.random.default_rng(seed)
    tables = [shift + rng.standard_normal((size, len(scales))) * scales for size in sizes]
    return [fp.Party(f"p{i}", X, rng.standard_normal(len(X))) for i, X in enumerate(tables)]


def unix_times(seed=0):
    """A column of Unix times beside an ordinary one."""
    rng = np.random.default_rng(seed)
    tables = [
        np.column_stack([rng.normal(1.7e9, 1e7, m), rng.standard_normal(m)]) for m in (40, 25, 30)
    ]
    return [fp.Party(f"p{i}", X, X[:, 1]) for i, X in enumerate(tables)]


@pytest.mark.parametrize(
    "parties", [unix_times(), parties_of([1e6, 1e6, 1e6])], ids=["Unix times", "millions"]
)
@pytest.mark.parametrize("rho", ["fair", "rational", "stable"])
def test_rewards_are_those_of_the_same_values_in_a_table(parties, rho):
    game = fp.InformationGain(fp.BayesianLinearRegression(1.0), parties)
    table = fp.TableGame(game.values(), game.names)
    scheme, expected = (fp.RewardScheme(g, fp.shapley(g)) for g in (game, table))
    assert expected.rewards(rho).min() > 20
    np.testing.assert_allclose(scheme.rewards(rho), expected.rewards(rho), rtol=1e-9)
    levels = fp.noise_levels(game, scheme.rewards(rho)) if rho != "fair" else ()
    assert [level.value for level in levels] == pytest.approx(
        scheme.rewards(rho)[: len(levels)], rel=1e-9
    )
    for rewards in (scheme.rewards(rho), 0 * game.alone):
        verdicts, others = (fp.check_incentives(g, fp.shapley(g), rewards) for g in (game, table))
        assert [(v.condition, v.holds) for v in verdicts] == [
            (v.condition, v.holds) for v in others
        ]
    assert verdicts["R4"].holds is False


@given(
    st.integers(0, 10**6),
    st.integers(-60, 60),
    st.integers(0, 2),
    st.sampled_from(["fair", "rational", "stable", 0.4]),
)
def test_the_same_values_have_the_same_rewards_whatever_unit_they_come_from(
    seed, power, column, rho
):
    """A column in another unit, and the prior as it was.

    The values are other ones, but the same as those values in a table.
    """
    unit = np.ones(3)
    unit[column] = 2.0**power
    parties = [
        fp.Party(p.name, p.X * unit, p.y) for p in parties_of([1.0, 2.0, 0.5], (6, 4, 5), 0.3, seed)
    ]
    game = fp.InformationGain(fp.BayesianLinearRegression(0.3, bias=False), parties)
    table = fp.TableGame(game.values(), game.names)
    schemes = [fp.RewardScheme(g, fp.shapley(g)) for g in (game, table)]
    np.testing.assert_allclose(schemes[0].rewards(rho), schemes[1].rewards(rho), rtol=1e-9)
    for rewards in (schemes[1].rewards(rho), game.alone, 0 * game.alone):
        found, expected = (fp.check_incentives(g, fp.shapley(g), rewards) for g in (game, table))
        assert [v.holds for v in found] == [v.holds for v in expected]


@given(
    st.integers(0, 10**6),
    st.integers(-60, 60),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from(["fair", "rational", "stable", 0.4]),
)
def test_a_columns_unit_changes_no_reward_verdict_or_noise(seed, power, column, correlated, rho):
    unit = np.ones(3)
    unit[column] = 2.0**power
    parties = parties_of([1.0, 2.0, 0.5], (6, 4, 5), 0.3, seed)
    Sigma_0 = np.array([[1.0, 0.3 * correlated, 0], [0.3 * correlated, 2.0, 0], [0, 0, 0.7]])
    found = []
    for scale in (np.ones(3), unit):
        scaled = [fp.Party(p.name, p.X * scale, p.y) for p in parties]
        model = fp.BayesianLinearRegression(0.3, Sigma_0 / np.outer(scale, scale), bias=False)
        game = fp.InformationGain(model, scaled)
        phi = fp.shapley(game)
        rewards = np.maximum(fp.RewardScheme(game, phi).rewards(rho), game.alone)
        verdicts = fp.check_incentives(game, phi, rewards)
        summaries = fp.InformationGain(model, [model.summarise(p) for p in scaled])
        levels = [level for g in (game, summaries) for level in fp.noise_levels(g, rewards)]
        found.append((rewards, [v.holds for v in verdicts], [level.eta for level in levels]))
    (rewards, holds, eta), (other_rewards, other_holds, other_eta) = found
    np.testing.assert_allclose(rewards, other_rewards, rtol=1e-12)
    assert holds == other_holds
    np.testing.assert_allclose(eta, other_eta, rtol=1e-9)


@given(st.integers(0, 10**6), st.floats(-20, 20), st.integers(0, 2))
def test_the_bound_does_not_depend_on_a_columns_unit(seed, exponent, column):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((5, 3))
    unit = np.ones(3)
    unit[column] = 10.0**exponent
    B = A.T @ A
    assert fine_rounding(B) == pytest.approx(fine_rounding(B * np.outer(unit, unit)), rel=1e-6)


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize(
    "scales", [[1.0, 1.0, 1.0], [1e6, 1e6], [1e-3, 1.0, 1e7], [1e4, 1e4, 1e4, 1e4, 1e4]]
)
def test_values_are_as_exact_as_is_said(scales, shift):
    """Against decimal arithmetic of 80 digits, from the rows themselves."""
    for seed in range(5):
        parties = parties_of(scales, (6, 2, 9), shift, seed)
        game = fp.InformationGain(fp.BayesianLinearRegression(0.5), parties)
        for mask in range(1, 8):
            exact = decimal_information_gain(
                np.vstack([parties[i].X for i in range(3) if mask >> i & 1]), 0.5
            )
            assert abs(game.values()[mask] - exact) <= game.rounding_error + 4e-15 * exact


def decimal_information_gain(X, noise):
    """1/2 log|I + Phi^T Phi / noise|, Phi the rows with a bias.

    It is computed by elimination, without rounding to speak of.
    """
    with decimal.localcontext(prec=80):
        Phi = np.vectorize(decimal.Decimal, otypes=[object])(np.column_stack([X, np.ones(len(X))]))
        B = Phi.T @ Phi / decimal.Decimal(noise)
        B[np.diag_indices(len(B))] += 1
        value = decimal.Decimal(0)
        for k in range(len(B)):
            value += B[k, k].ln() / 2
            B[k + 1 :] -= np.outer(B[k + 1 :, k] / B[k, k], B[k])
        return float(value)


def test_the_cheap_bound_serves_only_where_it_cannot_matter():
    game = fp.InformationGain(fp.BayesianLinearRegression(0.5), parties_of([1.0, 1.0, 1.0]))
    trace = float(np.trace(game.space.P, axis1=1, axis2=2).sum())
    assert coarse_rounding(trace, 4) == game.rounding_error <= 1e-9 * game.total
    assert coarse_rounding(1e20, 4) is None
    assert tolerance_of(game) == pytest.approx(1e-9 * game.total)


def test_many_parties_and_fewer_rows_than_weights_have_a_bound_too():
    """Kernel space: one row and column per row of data."""
    scaled = [
        fp.InformationGain(fp.GaussianProcess(DotProduct(1.0), 1.0), parties_of([s, s], (3, 4)))
        for s in (1, 1e6)
    ]
    assert (
        max(game.rounding_error for game in scaled) < 1e-2
    )  # of 27 nats; eps times the trace is 2000
    few = fp.InformationGain(
        fp.BayesianLinearRegression(1.0, bias=False), parties_of([1e6] * 30, (3, 4))
    )
    assert few.rounding_error < 1e-12


def test_values_that_rounding_may_have_made_are_refused():
    """Two copies of a column of large numbers: the second pivot is nothing but rounding."""
    parties = [fp.Party(p.name, p.X[:, [0, 1, 0]], p.y) for p in parties_of([3e6, 1.0])]
    game = fp.InformationGain(fp.BayesianLinearRegression(1.0), parties)
    with pytest.raises(
        ValueError,
        match=r"rounding may put the values off by .* nats, and the largest is .*standardise",
    ):
        fp.RewardScheme(game, [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="leave out copies of a column"):
        fp.check_incentives(game, [1.0, 1.0, 1.0], [1.0, 1.0, 1.0])


def test_values_that_rounding_blurs_are_told():
    parties = parties_of([1.0, 1.0], (5, 6))
    twice = [
        fp.Party(p.name, np.column_stack([p.X, 1e5 * p.X[:, 0], 1e5 * p.X[:, 0]]), p.y)
        for p in parties
    ]
    game = fp.InformationGain(fp.BayesianLinearRegression(0.3), twice)
    assert 1e-6 * game.total < game.rounding_error < 1e-3 * game.total
    with pytest.warns(
        fp.FairpoolWarning,
        match="rounding may put values and rewards off by .* make them more exact",
    ):
        fp.RewardScheme(game, fp.shapley(game))


@pytest.mark.filterwarnings("ignore:everybody's data together is worth")
def test_a_value_of_nothing_but_rounding_is_nothing():
    parties = parties_of([1.0, 1.0], (5, 6, 4))
    for tiny in (1e-15, 3e-15, 1e-14, 0.0):
        model = fp.BayesianLinearRegression(1.0, max(tiny, 1e-300) / 40, bias=False)
        game = fp.InformationGain(model, parties)
        scheme = fp.RewardScheme(game, phi := fp.shapley(game))
        verdicts = fp.check_incentives(game, phi, scheme.rewards("stable"))
        assert not scheme.rewards("stable").any()
        assert not [v for v in verdicts if v.holds is False], str(verdicts)


def test_a_tiny_game_that_is_known_exactly_is_a_game():
    table = fp.TableGame(np.array([0, 7, 5, 8]) * 1e-15)
    scheme = fp.RewardScheme(table, phi := fp.shapley(table))
    np.testing.assert_allclose(scheme.rewards("rational"), [8e-15, 5e-15], rtol=1e-9)
    assert not [
        v
        for v in fp.check_incentives(table, phi, scheme.rewards("rational"))[:6]
        if v.holds is False
    ]


def test_a_target_below_what_a_party_has_never_gives_away_the_others_labels():
    """The second party has nothing: what the first has alone is all there is."""
    parties = [*parties_of([1.0], (30,)), fp.Party("none", np.empty((0, 1)), [])]
    game = fp.InformationGain(fp.BayesianLinearRegression(1.0), parties)
    assert game.alone[0] == game.total
    at, below = (fp.noise_levels(game, [share * game.total, 0.0])[0] for share in (1.0, 1 - 1e-10))
    assert (at.eta, at.value) == (0.0, game.total)
    assert (below.eta, below.value) == (np.inf, game.total)


@pytest.mark.filterwarnings("ignore:everybody's data together is worth")
def test_many_empty_parties_are_quiet(capfd):
    parties = [fp.Party(f"p{i}", np.empty((0, 2)), []) for i in range(18)]
    game = fp.InformationGain(fp.BayesianLinearRegression(1.0), parties)
    phi = fp.shapley(game)
    assert not phi.values.any()
    assert not fp.RewardScheme(game, phi).rewards("stable").any()
    assert capfd.readouterr() == ("", "")


def test_statistics_are_checked_in_every_columns_own_unit():
    model = fp.BayesianLinearRegression(1.0, bias=False)
    [party] = parties_of([1e8, 1.0, 1.0], (20,))
    good = model.summarise(party)
    for change in ([(1, 2, 0.5)], [(1, 1, -30.0)]):  # not symmetric; a square sum that is negative
        gram = good.gram.copy()
        for i, j, by in change:
            gram[i, j] += by
        with pytest.raises(ValueError, match="gram is not a sum of squares"):
            replace(good, gram=gram)
    small = fp.BayesianLinearRegression(1.0, [1.0, 1e-24, 1.0], bias=False)
    other = fp.BayesianLinearRegression(1.0, [1.0, 4e-24, 1.0], bias=False)
    with pytest.raises(ValueError, match="was made with another model"):
        fp.InformationGain(other, [small.summarise(party)])
    with pytest.raises(ValueError, match="is not a symmetric, positive definite covariance"):
        fp.BayesianLinearRegression(
            1.0, np.array([[1.0, 0, 0], [0, 1e-12, 1e-13], [0, 0, 1e-12]]), bias=False
        )


@pytest.mark.parametrize("noise_variance", [1e-300, 1e-20, 1e200])
def test_an_extreme_noise_variance_shares_out_what_there_is(noise_variance):
    game = fp.InformationGain(fp.BayesianLinearRegression(noise_variance), parties_of([1.0, 1.0]))
    if noise_variance < 1:
        scheme = fp.RewardScheme(game, fp.shapley(game))
        assert game.total > 60
        assert scheme.rewards("stable").max() == game.total
        assert [v.value for v in fp.noise_levels(game, scheme.rewards("stable"))] == pytest.approx(
            scheme.rewards("stable"), rel=1e-9
        )
    else:
        with pytest.warns(fp.FairpoolWarning, match="there is nothing to give"):
            assert not fp.RewardScheme(game, fp.shapley(game)).rewards("stable").any()
