"""A reward beside the model of a party's own data: against training again, row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, ttest_rel

import fairpool as fp
from fairpool.audit import PairedDifference
from fairpool.targets import NumberTarget
from tests.support.examples import MODELS, NOISES, P, labels, make_parties


def everything(model, parties):
    """Rewards worth all data, trained on everybody's labels as they are."""
    game = fp.InformationGain(model, parties)
    return game, fp.realise(game, np.full(game.n, game.total), 0, covariance="full")


def naive_log_densities(model, parties, i, members):
    """Of each of party i's rows, by a model trained on all rows of some parties but that one."""
    found = []
    for k in range(len(parties[i])):
        X, y, noise = [], [], []
        for j in members:
            rest = np.arange(len(parties[j])) != (k if j == i else -1)
            X.append(parties[j].X[rest])
            y.append(parties[j].y[rest])
            noise.append(parties[j].noise_of_rows(model.noise_variance)[rest])
        posterior = model.posterior(np.vstack(X), np.concatenate(y), np.concatenate(noise))
        mean, variance = posterior.predict(parties[i].X[[k]])
        own = parties[i].noise_of_rows(model.noise_variance)[k]
        deviation = np.sqrt(variance[0] - model.noise_variance + own)
        if np.isfinite(own):
            found.append(norm.logpdf(parties[i].y[k], mean[0], deviation))
    return np.array(found)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("noises", NOISES)
def test_the_comparison_is_that_of_models_trained_without_each_row(name, noises):
    model = MODELS[name]
    parties = make_parties([9, 14, 1, 0], 2, NOISES[noises])
    game, models = everything(model, parties)
    found = fp.compare_with_alone(game, models)
    assert [against.party for against in found] == ["p0", "p1", "p2", "p3"]
    for i in (0, 1):
        reward = naive_log_densities(model, parties, i, range(4))
        alone = naive_log_densities(model, parties, i, [i])
        got = found[i].own_rows.log_density
        assert got.rows == len(reward)
        np.testing.assert_allclose(got.reward, reward.mean(), rtol=1e-9)
        np.testing.assert_allclose(got.alone, alone.mean(), rtol=1e-9)
        np.testing.assert_allclose(got.difference, (reward - alone).mean(), rtol=1e-9, atol=1e-9)
        error = (reward - alone).std(ddof=1) / np.sqrt(len(reward))
        np.testing.assert_allclose(got.standard_error, error, rtol=1e-8)
    assert found[3].own_rows is None
    if found[2].own_rows is not None:  # its only row may be silent
        assert found[2].own_rows.rows == 1
        assert found[2].own_rows.verdict == "not known"


def test_on_test_rows_both_models_predict_all():
    parties = make_parties([20, 30, 25], 2)
    model = MODELS["gp"]
    result = fp.collaborate(parties, model, rho="stable", rng=1)
    rng = np.random.default_rng(9)
    X = rng.standard_normal((50, P))
    y = labels(X, rng)
    target = NumberTarget("yield", mean=3.0, scale=20.0)
    found = fp.compare_with_alone(result.game, result.models, X, y, target=target)
    for i, against in enumerate(found):
        alone = result.game.posterior([i]).predict(X)[0]
        reward = result.models[i].predict(X)[0]
        errors = 400 * (alone - y) ** 2, 400 * (reward - y) ** 2
        got = against.test.squared_error
        np.testing.assert_allclose([got.alone, got.reward], np.mean(errors, axis=1), rtol=1e-12)
        of_score = target.score(y, *result.models[i].predict(X))["mnlp"]
        np.testing.assert_allclose(against.test.log_density.reward, -of_score, rtol=1e-12)


def test_garbage_of_others_makes_rewards_worse_and_says_so():
    """The promise in nats is kept, and the one that people mean is broken."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-2, 2, (180, P))
    y = labels(X, rng)
    honest = fp.Party("honest", X[:60], y[:60])
    reversed_ = fp.Party("reversed", X[60:], -y[60:])
    game, models = everything(MODELS["gp"], [honest, reversed_])
    assert models[0].value > game.alone[0]
    against, _ = fp.compare_with_alone(game, models, X[60:], y[60:])
    assert against.own_rows.verdict == against.test.verdict == "worse"
    assert against.own_rows.squared_error.verdict == "worse"
    truthful = fp.Party("truthful", X[60:], y[60:])
    game, models = everything(MODELS["gp"], [honest, truthful])
    against, _ = fp.compare_with_alone(game, models)
    assert against.own_rows.verdict == against.own_rows.squared_error.verdict == "better"


@pytest.mark.parametrize("name", ["sparse", "gp", "blr"])
def test_a_reward_of_ones_own_data_is_no_different(name):
    """Rounding between two ways to the same model is no difference."""
    parties = make_parties([20, 30], 2)
    game = fp.InformationGain(MODELS[name], parties)
    models = fp.realise(game, game.alone)
    for against in fp.compare_with_alone(game, models, parties[0].X, parties[0].y):
        for how in (against.test, against.own_rows):
            assert how.log_density.difference == how.squared_error.difference == 0
            assert how.verdict == how.squared_error.verdict == "no different"


def test_parties_known_by_sums_have_no_rows_to_leave_out():
    model = MODELS["blr"]
    a, b = make_parties([20, 30], 2)
    game, models = everything(model, [model.summarise(a), b])
    first, second = fp.compare_with_alone(game, models)
    assert first.own_rows is None
    assert second.own_rows.rows == 30
    # Who has the rows can give them.
    given, _ = fp.compare_with_alone(game, models, rows=[a, b])
    by_rows, _ = fp.compare_with_alone(*everything(model, [a, b]))
    np.testing.assert_allclose(
        given.own_rows.log_density.difference, by_rows.own_rows.log_density.difference, rtol=1e-9
    )


def test_what_cannot_be_compared_is_refused():
    parties = make_parties([20, 30], 2)
    game = fp.InformationGain(MODELS["blr"], parties)
    models = fp.realise(game, game.alone)
    with pytest.raises(fp.FairpoolError, match="2 parties and 1 models; give one for each"):
        fp.compare_with_alone(game, models[:1])
    with pytest.raises(fp.FairpoolError, match="both inputs X and labels y"):
        fp.compare_with_alone(game, models, parties[0].X)
    several = fp.realise(game, np.full(2, game.total), 0, draws=3)
    with pytest.raises(fp.FairpoolError, match="several draws of the noise"):
        fp.compare_with_alone(game, several)


@given(
    st.lists(st.floats(-3, 3), min_size=3, max_size=30),
    st.lists(st.floats(-3, 3), min_size=3, max_size=30),
    st.booleans(),
)
def test_the_verdict_is_that_of_a_paired_t_test(first, second, larger_is_better):
    rows = min(len(first), len(second))
    alone = np.array(first[:rows])
    reward = np.array(second[:rows])
    found = PairedDifference.of(alone, reward, larger_is_better=larger_is_better)
    if np.ptp(reward - alone) < 1e-6:
        return
    p = ttest_rel(reward, alone).pvalue
    if abs(p - 0.05) < 1e-9:
        return
    expected = "no different"
    if p < 0.05:
        is_better = (reward.mean() > alone.mean()) == larger_is_better
        expected = "better" if is_better else "worse"
    assert found.verdict == expected


def test_no_rows_give_no_verdict():
    found = PairedDifference.of(np.empty(0), np.empty(0), larger_is_better=True)
    assert found.verdict == "not known"
    assert found.rows == 0
