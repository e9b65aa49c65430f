"""Rows predicted without themselves: the closed form against training again without each row."""

import numpy as np
import pytest

import fairpool as fp
from fairpool.models.leave_one_out import leverages
from tests.support.examples import MODELS, NOISES, make_parties

OWN = 12


def trained_again(model, X, y, noise):
    """Mean and variance of each of the first rows, by a model that was trained without it."""
    means, variances = [], []
    for k in range(OWN):
        rest = np.arange(len(y)) != k
        mean, variance = model.posterior(X[rest], y[rest], noise[rest]).predict(X[[k]])
        means.append(mean[0])
        variances.append(variance[0] - model.noise_variance + noise[k])
    return np.array(means), np.array(variances)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("noises", ["model", "per party", "per row"])
def test_the_closed_form_is_training_without_the_row(name, noises):
    model = MODELS[name]
    own, other = make_parties([OWN, 25], 3, NOISES[noises])
    X = np.vstack([own.X, other.X])
    y = np.concatenate([own.y, other.y])
    noise = np.concatenate([p.noise_of_rows(model.noise_variance) for p in (own, other)])
    noise[OWN:] += 0.7  # noise that was added to the others' labels
    posterior = model.posterior(X, y, noise)
    found = posterior.predict_without_each(own.X, own.y, noise[:OWN])
    for got, expected in zip(found, trained_again(model, X, y, noise), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["sparse", "blr", "blr-prior", "network"])
def test_with_a_hidden_covariance_the_mean_is_trained_without_the_row(name):
    """And the variance is that which is handed out, without the row."""
    model = MODELS[name]
    parties = make_parties([30, 30, 40], 1)
    game = fp.InformationGain(model, parties)
    rewards = fp.RewardScheme(game, fp.shapley(game)).rewards("stable")
    full = fp.realise(game, rewards, 5, covariance="full")
    hidden = fp.realise(game, rewards, 5, covariance="hidden")
    i = int(np.argmin(rewards))
    own = parties[i]
    s2 = model.noise_variance
    noise = np.full(len(own), s2)
    mean, variance = hidden[i].posterior.predict_without_each(own.X, own.y, noise)
    trained, _ = full[i].posterior.predict_without_each(own.X, own.y, noise)
    np.testing.assert_allclose(mean, trained, rtol=1e-9, atol=1e-9)
    A = model.whitened_features(own.X)
    for k in (0, 7):
        rest = np.delete(A, k, axis=0)
        B = np.eye(A.shape[1]) + rest.T @ rest / s2 + hidden[i].posterior.others.precision
        latent = A[k] @ np.linalg.solve(B, A[k])
        residual = model.residual_variance(own.X[[k]], A[[k]])[0]
        np.testing.assert_allclose(variance[k], latent + residual + s2, rtol=1e-9)


def test_a_hidden_covariance_alone_would_leave_a_part_of_the_label_in_the_mean():
    """What a recipient could compute flatters its reward: a change of y moves its own prediction.

    So the comparison uses the precision that the weights were trained with, which no file has.
    """
    model = MODELS["sparse"]
    parties = make_parties([15, 30, 40], 1)
    game = fp.InformationGain(model, parties)
    (reward, *_) = fp.realise(game, np.full(3, game.total), 5)
    own = parties[0]
    y = own.y.copy()
    y[0] += 1.0
    changed = [fp.Party("p0", own.X, y), *parties[1:]]
    (other, *_) = fp.realise(fp.InformationGain(model, changed), np.full(3, game.total), 5)
    noise = np.full(len(own), model.noise_variance)
    before, _ = reward.posterior.predict_without_each(own.X, own.y, noise)
    after, _ = other.posterior.predict_without_each(own.X, y, noise)
    assert abs(before[0] - after[0]) < 1e-9
    assert abs(before[1:] - after[1:]).max() > 1e-3  # other rows' predictions follow it


def test_a_row_that_rounding_leaves_nothing_of_is_not_known():
    v = np.array([0.2, 1.0 - 1e-15])
    np.testing.assert_array_equal(leverages(v, np.ones(2), np.ones(2)), [0.2, np.nan])


def test_a_loaded_reward_has_no_trained_factor(tmp_path):
    """It would tell the others' inputs."""
    parties = make_parties([40, 40, 40], 1)
    result = fp.collaborate(parties, MODELS["sparse"], rho=0.5)
    for model in result.models:
        assert model.posterior.trained_factor is not None
        model.save(tmp_path / "reward.safetensors")
        loaded = fp.load_reward(tmp_path / "reward.safetensors")
        assert loaded.posterior.trained_factor is None
        size = (tmp_path / "reward.safetensors").stat().st_size
        factor = model.posterior.trained_factor.tobytes()
        assert factor[:64] not in (tmp_path / "reward.safetensors").read_bytes()
        assert size > 0
