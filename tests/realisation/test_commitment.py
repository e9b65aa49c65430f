"""A commitment to what a model was trained with: the same for the same, and for nothing else."""

from dataclasses import replace

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from fairpool import BayesianLinearRegression, GaussianProcess
from fairpool.models import WeightPosterior
from fairpool.realisation.commitment import MOMENT_CELL, PRECISION_CELL, commit, is_kept

SALT = bytes(range(32))


def a_posterior(d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, d)) * np.logspace(-3, 3, d)
    model = BayesianLinearRegression(0.3, bias=False)
    return model.posterior(X, rng.normal(size=80))


def rounded_otherwise(posterior, seed, size=1e-13):
    """The same posterior as another machine may have computed it."""
    rng = np.random.default_rng(seed)

    def stirred(array):
        return array * (1 + size * rng.uniform(-1, 1, array.shape))

    return replace(posterior, factor=stirred(posterior.factor), weights=stirred(posterior.weights))


def test_another_rounding_keeps_the_commitment():
    posterior = a_posterior()
    promised = commit(posterior, SALT)
    for seed in range(200):
        assert is_kept(promised, rounded_otherwise(posterior, seed), SALT)


def test_many_weights_find_a_grid_and_keep_it():
    posterior = a_posterior(d=60)
    promised = commit(posterior, SALT)
    for seed in range(5):
        assert is_kept(promised, rounded_otherwise(posterior, seed), SALT)


def test_the_grid_is_shifted_away_from_numbers_on_its_borders():
    # One grid for all comes too near to some of the numbers.
    shifts = {commit(a_posterior(seed=seed), SALT).shift for seed in range(40)}
    assert len(shifts) > 1


def with_moment(posterior, factor, moment):
    """A posterior with this precision and moment."""
    weights = np.linalg.solve(factor @ factor.T, moment)
    return replace(posterior, factor=factor, weights=weights)


def test_another_precision_breaks_it_though_the_moment_stays():
    posterior = a_posterior()
    promised = commit(posterior, SALT)
    moment = posterior.factor @ (posterior.factor.T @ posterior.weights)
    assert is_kept(promised, with_moment(posterior, posterior.factor, moment), SALT)
    for k in range(posterior.weight_count):
        factor = posterior.factor.copy()
        factor[k, k] *= 1 + 4 * PRECISION_CELL
        assert not is_kept(promised, with_moment(posterior, factor, moment), SALT)


def test_another_moment_breaks_it_though_the_precision_stays():
    posterior = a_posterior()
    promised = commit(posterior, SALT)
    B = posterior.factor @ posterior.factor.T
    for k in range(posterior.weight_count):
        moment = B @ posterior.weights
        deviation = np.sqrt(B[k, k])
        moment[k] = deviation * np.sinh(np.arcsinh(moment[k] / deviation) + 2 * MOMENT_CELL)
        assert not is_kept(promised, with_moment(posterior, posterior.factor, moment), SALT)


def test_it_is_to_what_was_trained_and_not_to_what_is_shown():
    posterior = a_posterior()
    shown = replace(
        posterior, factor=np.eye(posterior.weight_count), trained_factor=posterior.factor
    )
    assert is_kept(commit(posterior, SALT), shown, SALT)


def test_the_salt_hides_what_was_committed_to():
    posterior = a_posterior()
    promised = commit(posterior, SALT)
    assert promised.digest != commit(posterior, bytes(32)).digest
    assert not is_kept(promised, posterior, bytes(32))


def test_a_model_without_weights_commits_to_nothing():
    posterior = GaussianProcess(RBF(1.0), 0.1).posterior(np.ones((3, 1)), np.zeros(3))
    assert not isinstance(posterior, WeightPosterior)
    assert commit(posterior, SALT) is None
