"""The same properties for every model: `check_model` is run over all of `examples.MODELS`."""

import numpy as np

import fairpool as fp
from tests.support import oracles
from tests.support.examples import P, labels, make_parties


def check_model(model):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((25, P))
    y = labels(X, rng)
    X_star = rng.standard_normal((9, P))
    check_posterior(model, X, y, X_star, rng)
    check_likelihood(model, X, y, rng)
    check_information_gain(model)
    check_fit(model, X, y)


def check_posterior(model, X, y, X_star, rng):
    noise = rng.uniform(0.1, 2, len(X))
    for given, used in ((None, model.noise_variance), (0.7, 0.7), (noise, noise)):
        mean, variance = model.posterior(X, y, given).predict(X_star)
        expected_mean, expected_variance = oracles.predict(model, X, y, used, X_star)
        np.testing.assert_allclose(mean, expected_mean, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(variance, expected_variance, rtol=1e-8)
    # A row of infinite noise is as good as no row; several sets of labels are as good as several
    # models.
    noise[:5] = np.inf
    silent = model.posterior(X, y, noise).predict(X_star)
    absent = model.posterior(X[5:], y[5:], noise[5:]).predict(X_star)
    np.testing.assert_allclose(silent, absent, rtol=1e-8, atol=1e-9)
    many, _ = model.posterior(X, np.column_stack([y, 2 * y])).predict(X_star)
    np.testing.assert_allclose(
        many[:, 1], model.posterior(X, 2 * y).predict(X_star)[0], rtol=1e-9, atol=1e-9
    )
    # No rows: the prior.
    mean, variance = model.posterior(X[:0], y[:0]).predict(X_star)
    K = oracles.prior_covariance(model, X_star)
    if not hasattr(model, "kernel"):
        np.testing.assert_allclose(variance, np.diag(K) + model.noise_variance, rtol=1e-9)
        np.testing.assert_allclose(mean, model.prior_mean_at(X_star), atol=1e-12)
    else:
        np.testing.assert_allclose(
            variance, model.kernel.diag(X_star) + model.noise_variance, rtol=1e-9
        )


def check_likelihood(model, X, y, rng):
    noise = rng.uniform(0.1, 2, len(X))
    for given, used in ((None, model.noise_variance), (noise, noise)):
        found = model.log_marginal_likelihood(X, y, given)
        np.testing.assert_allclose(
            found, oracles.log_marginal_likelihood(model, X, y, used), rtol=1e-8
        )


def check_information_gain(model):
    """Values agree with slogdet, and have the four properties of Sec. 3."""
    for sizes in ([4, 9, 2], [30, 40, 50, 1, 0]):
        game = fp.InformationGain(model, make_parties(sizes, 1))
        np.testing.assert_allclose(
            game.values(), oracles.values(model, game.pool.parties), rtol=1e-9, atol=1e-9
        )
        assert all(verdict.holds for verdict in fp.check_properties(game))


def check_fit(model, X, y):
    fitted = model.fit_hyperparameters(X, y, rng=0)
    assert fitted is not model
    assert fitted.log_marginal_likelihood(X, y) >= model.log_marginal_likelihood(X, y)
