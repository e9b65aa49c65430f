"""Noise that is made of a secret: the same rows have the same noise whenever they are released."""

import numpy as np
import pytest

import fairpool as fp
from fairpool.errors import RewardError
from tests.support.examples import MODELS, make_parties
from tests.support.noise_attacks import labels_in

SECRET = fp.Secret(bytes(range(32)))
SHARES = np.linspace(0.2, 0.6, 12)


def noisy_labels(secret, shares=SHARES):
    """What one party sees of another's labels, over several releases at different noise."""
    parties = make_parties([20, 20], 1)
    game = fp.InformationGain(MODELS["gp"], parties)
    seen, etas = [], []
    for share in shares:
        rewards = game.alone + share * (game.total - game.alone)
        reward = fp.realise(game, rewards, secret=secret)[0]
        seen.append(labels_in(reward)[20:])
        etas.append(reward.eta)
    return parties[1].y, np.array(seen), np.array(etas)


def test_several_releases_tell_no_more_than_the_least_noisy_one():
    """The best estimate from all of them is the one with the least noise, exactly."""
    y, seen, etas = noisy_labels(SECRET)
    C = np.minimum(etas[:, None], etas)
    weights = np.linalg.solve(C, np.ones(len(etas)))
    best = weights @ seen / weights.sum()
    np.testing.assert_allclose(best, seen[np.argmin(etas)], atol=1e-6)
    assert np.std(np.mean(seen, axis=0) - y) > 0.9 * np.sqrt(etas.min()) * 0.7
    # Fresh noise averages out.
    _, fresh, _ = noisy_labels(None)
    together = np.average(fresh, axis=0, weights=1 / etas)
    assert np.std(together - y) < 0.6 * np.sqrt(etas.min())


def test_the_same_secret_gives_the_same_models_and_another_one_others():
    _, first, _ = noisy_labels(SECRET, [0.4])
    _, again, _ = noisy_labels(SECRET, [0.4])
    _, other, _ = noisy_labels(fp.Secret.fresh(), [0.4])
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).min() > 0


def test_a_party_more_changes_nobodys_noise():
    parties = make_parties([20, 20, 15], 1)
    seen = []
    for count in (2, 3):
        game = fp.InformationGain(MODELS["gp"], parties[:count])
        levels = fp.noise_levels(game, game.alone + 0.4 * (game.total - game.alone))
        mechanism = fp.realise(game, game.alone + 0.4 * (game.total - game.alone), secret=SECRET)
        seen.append((levels[0].eta, labels_in(mechanism[0])[20:40] - parties[1].y))
    (eta, noise), (eta_of_three, noise_of_three) = seen
    # Brownian: the step between two etas is small where they are.
    step = np.std(noise_of_three - noise)
    assert step == pytest.approx(np.sqrt(abs(eta_of_three - eta)), rel=0.5)


@pytest.mark.parametrize("kind", ["blr", "sparse"])
def test_rewards_are_worth_what_they_must_be_from_rows_and_from_sums(kind):
    model = MODELS[kind]
    parties = make_parties([40, 30, 35], 2)
    for data in (parties, [model.summarise(party) for party in parties]):
        game = fp.InformationGain(model, data)
        rewards = game.alone + 0.5 * (game.total - game.alone)
        models = fp.realise(game, rewards, secret=SECRET)
        # Another game: one that is asked twice finds eta by a quicker way, to another last digit.
        again = fp.realise(fp.InformationGain(model, data), rewards, secret=SECRET)
        for reward, twin, target in zip(models, again, rewards, strict=True):
            assert reward.value == pytest.approx(target, abs=1e-9)
            assert not reward.known_noise
            np.testing.assert_array_equal(reward.posterior.weights, twin.posterior.weights)


def test_a_whole_collaboration_takes_a_secret():
    parties = make_parties([20, 20, 20], 3)
    model = MODELS["blr"]
    first = fp.collaborate(parties, model, secret=SECRET)
    again = fp.collaborate(parties, model, secret=SECRET)
    for one, other in zip(first.models, again.models, strict=True):
        np.testing.assert_array_equal(one.posterior.weights, other.posterior.weights)


@pytest.mark.parametrize("more", [{"rng": 1}, {"draws": 3}, {"noise": "standardised"}])
def test_what_makes_no_sense_with_a_secret_is_refused(more):
    game = fp.InformationGain(MODELS["blr"], make_parties([20, 20], 3))
    with pytest.raises(RewardError, match="secret"):
        fp.realise(game, game.alone, secret=SECRET, **more)
    if "rng" in more:
        with pytest.raises(RewardError, match="leave rng and mechanism out"):
            fp.collaborate(make_parties([20, 20], 3), MODELS["blr"], secret=SECRET, rng=1)
