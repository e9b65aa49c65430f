"""A recipient adds rows of its own to its reward, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.models import WeightPosterior
from fairpool.realisation import Update, update
from fairpool.realisation.reward_file import decode_reward, reward_bytes
from tests.support.examples import MODELS, P, labels, make_parties

WEIGHTS = [name for name, model in MODELS.items() if hasattr(model, "summarise")]
X_STAR = np.random.default_rng(9).standard_normal((20, P))


def realised(name, covariance="hidden", noise=None):
    game = fp.InformationGain(MODELS[name], make_parties((30, 25, 40), 1, noise))
    rewards = game.alone + 0.5 * (game.total - game.alone)
    return game, fp.realise(game, rewards, None, covariance=covariance)[0]


def new_rows(count=15, seed=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(-0.5, 1.2, (count, P))
    return fp.Party("p0", X, labels(X, rng))


def both(first, second):
    return fp.Party("p0", np.vstack([first.X, second.X]), np.append(first.y, second.y))


def oracle(reward, own):
    """Made in the naive way: from every row's features, kappa M and h."""
    model, others = reward.posterior.model, reward.posterior.others
    A = model.whitened_features(own.X)
    residual = own.y - model.prior_mean_at(own.X)
    B = np.eye(A.shape[1]) + A.T @ A / model.noise_variance + others.precision
    mean = np.linalg.solve(B, A.T @ residual / model.noise_variance + others.moment)
    a = model.whitened_features(X_STAR)
    variance = model.residual_variance(X_STAR, a) + np.einsum(
        "ij,ji->i", a, np.linalg.solve(B, a.T)
    )
    worth = 0.5 * np.linalg.slogdet(B)[1]
    return model.prior_mean_at(X_STAR) + a @ mean, variance + model.noise_variance, worth


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_same_as_if_it_had_been_realised_with_these_rows(name):
    game, reward = realised(name)
    own = both(game.pool.rows[0], new_rows())
    updated = update(reward, own)
    mean, variance, worth = oracle(reward, own)
    np.testing.assert_allclose(updated.predict(X_STAR), (mean, variance), rtol=1e-8, atol=1e-10)
    assert updated.value == pytest.approx(worth, rel=1e-9)
    assert updated.value == updated.posterior.worth > reward.value
    assert (updated.target, updated.eta, updated.tau) == (reward.target, reward.eta, reward.tau)
    assert updated.posterior.others is reward.posterior.others
    assert updated.updated == Update(rows=45, rows_are_all=True, awarded=reward.value)


@pytest.mark.parametrize("name", WEIGHTS)
def test_its_old_rows_alone_change_nothing(name):
    game, reward = realised(name)
    updated = update(reward, game.pool.rows[0])
    np.testing.assert_allclose(
        updated.predict(X_STAR), reward.predict(X_STAR), rtol=1e-7, atol=1e-9
    )
    assert updated.value == pytest.approx(reward.value, rel=1e-9)


@pytest.mark.parametrize("name", ["sparse", "blr", "network"])
def test_rows_that_are_added_and_all_rows_anew_give_the_same(name):
    game, reward = realised(name)
    whole = update(reward, both(game.pool.rows[0], new_rows()))
    added = update(reward, new_rows(), add=True)
    np.testing.assert_allclose(added.predict(X_STAR), whole.predict(X_STAR), rtol=1e-7, atol=1e-9)
    assert added.value == pytest.approx(whole.value, rel=1e-9)
    assert added.updated == Update(rows=15, rows_are_all=False, awarded=reward.value)
    # However it came about: all rows anew are all rows anew, and no row counts twice.
    again = update(added, both(game.pool.rows[0], new_rows()))
    np.testing.assert_allclose(again.predict(X_STAR), whole.predict(X_STAR), rtol=1e-7, atol=1e-9)
    assert again.updated == whole.updated


def test_rows_that_are_added_in_two_steps_are_counted_together():
    game, reward = realised("sparse")
    twice = update(update(reward, new_rows(), add=True), new_rows(7, seed=8), add=True)
    assert twice.updated == Update(rows=22, rows_are_all=False, awarded=reward.value)
    whole = update(reward, game.pool.rows[0])
    assert update(whole, new_rows(), add=True).updated == Update(
        rows=45, rows_are_all=True, awarded=reward.value
    )


@pytest.mark.parametrize("name", ["sparse", "blr", "network"])
def test_a_full_covariance_is_that_of_the_noisy_data_with_the_rows_added(name):
    """In it own rows cannot be told from the others', so that they cannot be replaced."""
    game, reward = realised(name, "full")
    updated = update(reward, new_rows(), add=True)
    B = reward.posterior.factor @ reward.posterior.factor.T
    model = reward.posterior.model
    A = model.whitened_features(new_rows().X)
    residual = new_rows().y - model.prior_mean_at(new_rows().X)
    more = B + A.T @ A / model.noise_variance
    weights = np.linalg.solve(
        more, B @ reward.posterior.weights + A.T @ residual / model.noise_variance
    )
    np.testing.assert_allclose(updated.posterior.weights, weights, rtol=1e-8, atol=1e-10)
    assert updated.value == pytest.approx(0.5 * np.linalg.slogdet(more)[1], rel=1e-9)
    with pytest.raises(ValueError, match=r'covariance = "full", in which .* give new rows alone'):
        update(reward, both(game.pool.rows[0], new_rows()))


@pytest.mark.parametrize("name", ["sparse", "blr", "network"])
def test_new_rows_that_would_replace_the_old_ones_are_refused(name):
    game, reward = realised(name)
    with pytest.raises(ValueError, match=r"are not among these.*give all rows, old and new"):
        update(reward, new_rows())
    some = game.pool.rows[0]
    fewer = fp.Party("p0", some.X[:-1], some.y[:-1])
    with pytest.raises(ValueError, match=r"left out, say so \(--corrected, or corrected=True"):
        update(reward, fewer)
    updated = update(reward, fewer, corrected=True)
    np.testing.assert_allclose(
        updated.predict(X_STAR), oracle(reward, fewer)[:2], rtol=1e-8, atol=1e-10
    )
    assert updated.value < reward.value


def test_a_corrected_label_is_taken_without_asking():
    """Its inputs are as before; labels do not count in what a row is worth."""
    game, reward = realised("blr")
    own = game.pool.rows[0]
    y = own.y + np.eye(30)[3]
    updated = update(reward, fp.Party("p0", own.X, y))
    assert updated.value == pytest.approx(reward.value)
    assert np.abs(updated.predict(X_STAR)[0] - reward.predict(X_STAR)[0]).max() > 1e-3


def test_columns_of_very_different_units_are_no_reason_to_refuse():
    rng = np.random.default_rng(0)
    units = np.array([1e6, 1.0, 1e-6])
    parties = [fp.Party(p.name, p.X * units, p.y) for p in make_parties((30, 25), 1)]
    game = fp.InformationGain(fp.BayesianLinearRegression(1e-3, 1e3), parties)
    reward = fp.realise(game, (game.alone + game.total) / 2)[0]
    for more in (0, 1, 20):
        new = fp.Party("p0", rng.standard_normal((more, P)) * units, np.zeros(more))
        assert update(reward, both(parties[0], new)).value >= reward.value - 1e-6


@pytest.mark.parametrize("noise", [lambda m, rng: 0.7, lambda m, rng: rng.uniform(0.1, 2, m)])
def test_rows_keep_a_noise_variance_of_their_own(noise):
    game, reward = realised("sparse", noise=noise)
    updated = update(reward, game.pool.rows[0])
    np.testing.assert_allclose(
        updated.predict(X_STAR), reward.predict(X_STAR), rtol=1e-7, atol=1e-9
    )


def test_a_summary_does_as_well_as_rows():
    game, reward = realised("sparse")
    own = both(game.pool.rows[0], new_rows())
    np.testing.assert_allclose(
        update(reward, game.model.summarise(own)).predict(X_STAR),
        update(reward, own).predict(X_STAR),
    )
    with pytest.raises(ValueError, match="was made with another model"):
        update(reward, MODELS["blr"].summarise(own))


@pytest.mark.parametrize("name", ["sparse", "blr", "network"])
def test_a_file_says_that_it_was_updated_and_can_be_updated_again(name):
    game, reward = realised(name)
    content = reward_bytes(reward, share_inputs=False)
    assert b"updated" not in content
    loaded = decode_reward(content, "file")
    own = both(game.pool.rows[0], new_rows())
    updated = update(loaded, own)
    again = decode_reward(reward_bytes(updated, share_inputs=False), "file")
    assert again.updated == Update(rows=45, rows_are_all=True, awarded=reward.value)
    assert again.value == updated.value
    np.testing.assert_allclose(again.predict(X_STAR), updated.predict(X_STAR), rtol=1e-12)
    np.testing.assert_allclose(
        update(again, own).predict(X_STAR), again.predict(X_STAR), rtol=1e-9, atol=1e-9
    )


def test_an_exact_process_is_refused():
    game = fp.InformationGain(MODELS["gp"], make_parties((5, 6), 1))
    reward = fp.realise(game, [game.total] * 2, None)[0]
    with pytest.raises(ValueError, match='"p0" is an exact Gaussian process, which holds rows'):
        update(reward, new_rows())


def test_several_draws_are_refused():
    game = fp.InformationGain(MODELS["blr"], make_parties((5, 6), 1))
    reward = fp.realise(game, [game.total] * 2, 0, draws=3)[0]
    with pytest.raises(ValueError, match="several draws of the noise"):
        update(reward, new_rows())


def test_rows_of_other_columns_are_refused():
    _, reward = realised("blr")
    with pytest.raises(ValueError, match='"p0" has 2 columns, the model was trained on 3'):
        update(reward, fp.Party("p0", np.zeros((4, 2)), np.zeros(4)))


def test_sums_of_no_rows_in_a_file_are_refused_in_words():
    game, reward = realised("blr")
    assert isinstance(reward.posterior, WeightPosterior)
    forged = reward.posterior.others._replace(precision=-1e6 * np.eye(4))
    reward = replace(reward, posterior=replace(reward.posterior, others=forged))
    with pytest.raises(ValueError, match="holds sums that are of no rows"):
        update(reward, game.pool.rows[0], corrected=True)
