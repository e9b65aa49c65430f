import numpy as np
import pytest

import fairpool as fp
from fairpool.realisation.noise import label_noise
from tests.support import oracles
from tests.support.examples import MODELS, P, make_parties

X_STAR = np.random.default_rng(9).standard_normal((6, P))


def midway(game, share=0.5):
    return game.alone + share * (game.total - game.alone)


@pytest.mark.parametrize("name", MODELS)
def test_reward_model_is_trained_on_own_labels_and_the_others_noisy_ones(name):
    """The dense posterior of D_i^r, with the same noise drawn again."""
    model = MODELS[name]
    parties = make_parties([6, 9, 4], 1, lambda size, rng: rng.uniform(0.2, 1))
    game = fp.InformationGain(model, parties)
    rewards = midway(game)
    models = fp.realise(game, rewards, rng=5, covariance="full")
    pool = game.pool
    noise = label_noise("nested", [m.eta for m in models], pool.y.shape, np.random.default_rng(5))
    for i, z in noise:
        others = pool.owner != i
        expected = oracles.predict(
            model, pool.X, pool.y + others * z, pool.noise + others * models[i].eta, X_STAR
        )
        np.testing.assert_allclose(models[i].predict(X_STAR), expected, rtol=1e-7, atol=1e-8)
        assert models[i].value == pytest.approx(rewards[i], rel=1e-9)
        assert models[i].party == parties[i].name


def test_nested_noise_has_covariance_of_the_smaller_variance():
    eta = [0.5, 2.0, 0.1, np.inf, 2.0]
    draws = dict(label_noise("nested", eta, (200_000,), np.random.default_rng(0)))
    assert 3 not in draws  # nothing is drawn for a recipient who gets no labels
    Z = np.array([draws[i] for i in (0, 1, 2, 4)])
    finite = np.array([0.5, 2.0, 0.1, 2.0])
    expected = np.minimum.outer(finite, finite)
    error = np.sqrt((np.outer(finite, finite) + expected**2) / Z.shape[1])  # of a sample covariance
    assert (np.abs(np.cov(Z) - expected) < 5 * error).all()


def test_two_copies_tell_no_more_than_the_less_noisy_one():
    """The best linear combination a z_1 + (1 - a) z_2 of two recipients' copies.

    It has a = 1 on the less noisy one.
    """
    z = dict(label_noise("nested", [0.4, 1.5], (400_000,), np.random.default_rng(1)))
    difference = z[0] - z[1]
    best = -np.mean(z[1] * difference) / np.mean(difference**2)  # the a of least variance
    assert best == pytest.approx(1.0, abs=0.01)
    combined = np.var(best * z[0] + (1 - best) * z[1])
    assert combined == pytest.approx(np.var(z[0]), rel=0.001)


def test_standardised_noise_is_the_same_for_every_rho():
    a = dict(label_noise("standardised", [0.5, np.inf, 2.0], (50,), np.random.default_rng(3)))
    b = dict(label_noise("standardised", [4.5, 1.0, 8.0], (50,), np.random.default_rng(3)))
    np.testing.assert_allclose(b[0], 3 * a[0])
    np.testing.assert_allclose(b[2], 2 * a[2])
    assert np.corrcoef(b[0], b[2])[0, 1] < 0.5  # and different for every party
    assert sorted(a) == [0, 2]


def test_unknown_noise_and_no_draws_are_refused():
    game = fp.InformationGain(MODELS["gp"], make_parties([5, 6], 0))
    with pytest.raises(ValueError, match='no noise of kind "pink"'):
        fp.realise(game, midway(game), 0, noise="pink")
    with pytest.raises(ValueError, match="draws 0 is not a whole number from 1"):
        fp.realise(game, midway(game), 0, draws=0)


@pytest.mark.parametrize("name", ["gp", "blr", "sparse"])
def test_several_draws_at_once_share_one_variance(name):
    game = fp.InformationGain(MODELS[name], make_parties([20, 30, 0], 0))
    many = fp.realise(game, midway(game), 0, draws=7)
    for reward in many:
        mean, variance = reward.predict(X_STAR)
        assert mean.shape == (6, 7)
        assert variance.shape == (6,)
        assert (mean.std(axis=1) > 0).all() or np.isinf(reward.eta)
        assert fp.mnlp(np.zeros(6), mean, variance).shape == (7,)
    one = fp.realise(game, midway(game), 0, draws=1)
    assert one[0].predict(X_STAR)[0].shape == (6, 1)


@pytest.mark.parametrize("name", ["blr-prior", "sparse", "network"])
def test_rows_and_statistics_alone_give_the_same_distribution(name):
    """Same precision exactly; mean and covariance of the trained weights within sampling error."""
    model, draws = MODELS[name], 20_000
    parties = make_parties([14, 9, 11], 2, lambda size, rng: rng.uniform(0.3, 1))
    by_rows = fp.InformationGain(model, parties)
    by_summary = fp.InformationGain(model, [model.summarise(party) for party in parties])
    np.testing.assert_allclose(by_rows.values(), by_summary.values(), rtol=1e-9, atol=1e-12)
    rewards = midway(by_rows)
    a = fp.realise(by_rows, rewards, 1, draws=draws, covariance="full")
    b = fp.realise(by_summary, rewards, 2, draws=draws, covariance="full")
    for left, right in zip(a, b, strict=True):
        assert left.eta == pytest.approx(right.eta, rel=1e-6)
        np.testing.assert_allclose(
            left.posterior.factor, right.posterior.factor, rtol=1e-6, atol=1e-9
        )
        w, u = left.posterior.weights, right.posterior.weights
        scale = np.maximum(w.std(axis=1), 1e-9)
        assert (np.abs(w.mean(axis=1) - u.mean(axis=1)) < 6 * scale * np.sqrt(2 / draws)).all()
        gap = np.abs(np.cov(w) - np.cov(u)) / np.outer(scale, scale)
        assert gap.max() < 6 * np.sqrt(4 / draws)


def test_statistics_alone_are_nested_across_recipients_too():
    model = MODELS["blr"]
    parties = make_parties([14, 9, 11, 10], 2)
    game = fp.InformationGain(model, [model.summarise(party) for party in parties])
    a, b, *_ = fp.realise(game, midway(game), 1, draws=40_000)
    assert a.eta != b.eta
    # Undo the weighting: what each copy says of party 2's moment, as far as it differs between
    # draws.
    rows = fp.InformationGain(model, parties)
    exact = fp.realise(rows, midway(rows), 1, draws=40_000)
    for k in range(
        4
    ):  # the trained weights' covariance across recipients, by statistics and by rows
        ours = np.corrcoef(a.posterior.weights[k], b.posterior.weights[k])[0, 1]
        theirs = np.corrcoef(exact[0].posterior.weights[k], exact[1].posterior.weights[k])[0, 1]
        assert ours == pytest.approx(theirs, abs=0.03)


def test_statistics_alone_with_no_and_all_noise():
    model = MODELS["blr"]
    parties = make_parties([14, 9], 2)
    game = fp.InformationGain(model, [model.summarise(party) for party in parties])
    best, own = fp.realise(game, [game.total, game.alone[1]], 0, covariance="full")
    both = [np.concatenate([getattr(p, a) for p in parties]) for a in ("X", "y")]
    np.testing.assert_allclose(
        best.predict(X_STAR), model.posterior(*both).predict(X_STAR), rtol=1e-9
    )
    np.testing.assert_allclose(
        own.predict(X_STAR), model.posterior(parties[1].X, parties[1].y).predict(X_STAR), rtol=1e-9
    )


def test_rewards_say_what_they_are():
    game = fp.InformationGain(MODELS["gp"], make_parties([5, 6, 7], 0))
    a, b, c = fp.realise(game, [game.total, game.alone[1], midway(game)[2]], 0, covariance="full")
    assert "no noise" in repr(a)
    assert "own data only" in repr(b)
    assert "noise variance" in repr(c)
