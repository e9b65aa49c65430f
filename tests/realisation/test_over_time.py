"""What the files of several runs tell together: the column "over time" of docs/privacy.md."""

import numpy as np
import pytest

import fairpool as fp
from fairpool.realisation import update
from fairpool.realisation.reward_file import reward_bytes
from tests.support.examples import MODELS, P, labels, make_parties
from tests.support.noise_attacks import labels_in
from tests.support.reconstruction import mean_beyond_own, precision_beyond_own

MODEL = MODELS["blr"]
WEIGHTS = P + 1


def rows_of_its_own(seed, count=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, P))
    return fp.Party("a", X, labels(X, rng))


def game_of(own, other):
    return fp.InformationGain(MODEL, [own, other])


def other_party(count=60):
    return make_parties([10, count], 3)[1]


def gram_from(points):
    """G out of pairs (mu, sum of a_k (y_k - a_k mu)), which are linear in it."""
    means, sums = (np.array(side) for side in zip(*points, strict=True))
    steps = np.linalg.lstsq(means[1:] - means[0], sums[0] - sums[1:], rcond=None)[0]
    return steps.T


def test_attack_fresh_noise_averages_out():
    """Twelve runs of the same data, as if every month one: the labels' noise shrinks."""
    parties = make_parties([20, 20], 1)
    game = fp.InformationGain(MODELS["gp"], parties)
    rewards = game.alone + 0.4 * (game.total - game.alone)
    seen = [labels_in(fp.realise(game, rewards)[0])[20:] for _ in range(12)]
    one = np.std(seen[0] - parties[1].y)
    together = np.std(np.mean(seen, axis=0) - parties[1].y)
    assert together < 0.6 * one


@pytest.mark.parametrize("covariance", ["full", "hidden"])
def test_attack_a_row_that_is_new(covariance):
    """The other party gets one row more: of full covariances the difference is that row."""
    own, other = rows_of_its_own(0), other_party()
    grams = []
    for count in (len(other) - 1, len(other)):
        known = fp.Party("b", other.X[:count], other.y[:count])
        game = game_of(own, known)
        rewards = game.alone + 0.7 * (game.total - game.alone)
        reward = fp.realise(game, rewards, covariance=covariance)[0]
        reward_bytes(reward, share_inputs=False)  # the rule looks at one run alone
        noise = MODEL.noise_variance + reward.eta
        grams.append(precision_beyond_own(reward, game.pool.statistics[0].told) * noise)
    difference = grams[1] - grams[0]
    guess = difference[:P, P] / difference[P, P]
    error = np.abs(guess - other.X[-1]).max()
    assert error < 1e-6 if covariance == "full" else error > 0.3


def test_attack_the_gram_matrix_after_enough_releases():
    """d + 1 new models, each with other rows of its recipient's own, tell all of the Gram matrix.

    Covariances are hidden, and every single file is allowed.
    """
    other = other_party()
    truth = game_of(rows_of_its_own(0), other).pool.statistics[1].gram
    points = []
    for seed in range(WEIGHTS + 1):
        game = game_of(rows_of_its_own(seed), other)
        reward = fp.realise(game, [game.total] * 2)[0]
        reward_bytes(reward, share_inputs=False)
        told = mean_beyond_own(reward, game.pool.statistics[0].told) * MODEL.noise_variance
        points.append((reward.posterior.weights, told))
    np.testing.assert_allclose(gram_from(points), truth, rtol=1e-5, atol=1e-5 * np.abs(truth).max())
    # With one release less it does not.
    fewer = gram_from(points[:-1])
    assert np.abs(fewer - truth).max() > 0.05 * np.abs(truth).max()


def test_own_rows_added_by_an_update_tell_nothing_new():
    """The same attack finds what stood in the first file already, kappa M, and not the others'."""
    game = game_of(rows_of_its_own(0), other_party())
    reward = fp.realise(game, [game.total] * 2)[0]
    others = reward.posterior.others
    points = []
    for seed in range(WEIGHTS + 1):
        own = rows_of_its_own(seed)
        later = update(reward, own, corrected=True)
        assert later.posterior.others is others
        told = mean_beyond_own(later, game_of(own, other_party()).pool.statistics[0].told)
        points.append((later.posterior.weights, told))
    found = gram_from(points)
    np.testing.assert_allclose(found, others.precision, rtol=1e-5, atol=1e-5 * np.abs(found).max())
    truth = game.pool.statistics[1].gram / MODEL.noise_variance
    assert np.abs(found - truth).max() > 0.05 * np.abs(truth).max()
