"""Learning on sixty sets of data: a share of them in every test run, all of them with `pytest -m
soak`.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import WhiteKernel

import fairpool as fp
from fairpool.models.descent import NEAR
from fairpool.models.hyperparameters import GRADIENT_PER_ROW, NOISE_BOUNDS
from fairpool.models.likelihoods import dtc_likelihood, gp_likelihood
from tests.support.learning_problems import COUNT, problem

SHARE = range(0, COUNT, 5)
SPARSE_SHARE = (1, 9, 41, 0, 10, 22, 30, 55)
"""The first three stayed where they began when steps could be as long as the gradient."""

STARTS = 8

pytestmark = [
    # Some of the data have no noise, or can be interpolated: the search then ends at a bound, and
    # says so.
    pytest.mark.filterwarnings("ignore:the best noise variance:fairpool.FairpoolWarning"),
    pytest.mark.filterwarnings("ignore:the likelihood would rise beyond:fairpool.FairpoolWarning"),
]


def exact_problem(number):
    return problem(number, least_rows=40, most_rows=300)


def sparse_problem(number):
    return problem(number, least_rows=300, most_rows=900)


def largest_slope(model, X, y):
    """The largest component of the gradient at a model's hyperparameters.

    Those that a bound holds are left out.
    """
    if isinstance(model, fp.SparseGaussianProcess):
        _, gradient = dtc_likelihood(
            model.kernel, model.noise_variance, X, y, model.inducing_points
        )
    else:
        _, gradient = gp_likelihood(model.kernel, model.noise_variance, X, y)
    theta = np.append(model.kernel.theta, np.log(model.noise_variance))
    bounds = np.vstack([model.kernel.bounds, np.log(NOISE_BOUNDS)])
    lower, upper = bounds.T
    held = ((theta <= lower + NEAR) & (gradient < 0)) | ((theta >= upper - NEAR) & (gradient > 0))
    return np.abs(np.where(held, 0.0, gradient)).max()


def learned_likelihood(start, X, y):
    """The likelihood that learning achieves; it must have moved, and to an optimum."""
    fitted = start.fit_hyperparameters(X, y)
    achieved = fitted.log_marginal_likelihood(X, y)
    assert achieved > start.log_marginal_likelihood(X, y) + 1
    assert largest_slope(fitted, X, y) <= GRADIENT_PER_ROW * len(y)
    return achieved


def scikit_learns_likelihood(found):
    model = GaussianProcessRegressor(clone(found.kernel) + WhiteKernel(found.noise), alpha=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(found.X, found.y).log_marginal_likelihood_value_


@pytest.mark.parametrize("number", SHARE)
def test_an_exact_gp_is_learned_as_well_as_by_scikit_learn(number):
    found = exact_problem(number)
    assert learned_likelihood(found.gp, found.X, found.y) >= scikit_learns_likelihood(found) - 1e-3


@pytest.mark.parametrize("number", SPARSE_SHARE)
def test_a_sparse_gp_is_learned(number):
    found = sparse_problem(number)
    learned_likelihood(found.sparse_gp, found.X, found.y)


@pytest.mark.parametrize("number", [3, 21, 42])
def test_a_sparse_gp_is_learned_about_as_well_as_from_many_starts(number):
    found = sparse_problem(number)
    ours = learned_likelihood(found.sparse_gp, found.X, found.y)
    assert ours >= best_of_many_starts(found, np.random.default_rng(number)) - 0.1


@pytest.mark.soak
def test_sixty_exact_gps_are_learned_as_well_as_by_scikit_learn():
    """Same start, same bounds, at most 300 rows.

    Measured: none is below, 11 are above by more than 1e-3 nats.
    """
    below = []
    for number in range(COUNT):
        found = exact_problem(number)
        if learned_likelihood(found.gp, found.X, found.y) < scikit_learns_likelihood(found) - 1e-3:
            below.append(number)
    assert len(below) <= 2, below


@pytest.mark.soak
def test_sixty_sparse_gps_are_learned_about_as_well_as_from_many_starts():
    """Against the best of eight searches from random starts.

    Measured: 55 are within 0.1 nats of it, 58 within 1.
    """
    behind = []
    for number in range(COUNT):
        found = sparse_problem(number)
        ours = learned_likelihood(found.sparse_gp, found.X, found.y)
        behind.append(best_of_many_starts(found, np.random.default_rng(number)) - ours)
    behind = np.array(behind)
    assert (behind < 0.1).sum() >= 54, behind
    assert (behind < 1).sum() >= 57, behind


def best_of_many_starts(found, rng):
    """Length scales and amplitudes up to 4.5 times longer or shorter, noise from 0.01 to 1."""
    likelihoods = []
    for _ in range(STARTS):
        theta = found.kernel.theta
        kernel = found.kernel.clone_with_theta(theta + rng.uniform(-1.5, 1.5, len(theta)))
        noise = float(np.exp(rng.uniform(np.log(0.01), 0)))
        start = fp.SparseGaussianProcess(kernel, noise, found.sparse_gp.inducing_points)
        likelihoods.append(
            start.fit_hyperparameters(found.X, found.y).log_marginal_likelihood(found.X, found.y)
        )
    return max(likelihoods)
