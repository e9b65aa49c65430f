import warnings
from itertools import product

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

import fairpool as fp
from fairpool.models.likelihoods import JITTER, dtc_likelihood
from tests.support import exact_dtc
from tests.support.examples import make_parties

SPACINGS = (0.5, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0005)
OUTSIDE = np.linspace(-2, 2, 10)[:, None]
"""Inputs on both sides of the inducing points: what is known there depends on the smallest
eigenvalues of K_UU.
"""


def in_a_row(spacing):
    return spacing * np.arange(5.0)[:, None]


def value(X, U, length_scale, noise):
    model = fp.SparseGaussianProcess(RBF(length_scale), noise, U)
    return fp.InformationGain(model, [fp.Party("a", X, X[:, 0])]).total


def scattered(spacing):
    rng = np.random.default_rng(0)
    return rng.uniform(-2, 2, (10, 2)), spacing * rng.standard_normal((6, 2))


@pytest.mark.parametrize("spacing", SPACINGS)
def test_values_are_those_of_the_stated_model_however_close_the_points(spacing):
    """9e-5 nats measured at worst; of leaving points out, as was done before, up to 2.8 nats."""
    for length_scale, noise in product((0.3, 1.8, 5.0), (1.0, 0.1, 1e-4)):
        for X, U in ((OUTSIDE, in_a_row(spacing)), scattered(spacing)):
            exact = exact_dtc.information_gain(
                X, U, length_scale=length_scale, noise=noise, jitter=JITTER
            )
            assert value(X, U, length_scale, noise) == pytest.approx(exact, abs=2e-4, rel=0)


@pytest.mark.parametrize(
    ("columns", "spacing", "noise"),
    [(4, 0.01, 1e-3), (6, 0.01, 1e-5), (2, 0.3, 0.1), (3, 1.0, 0.1)],
)
def test_fifty_points_are_as_exact_as_is_said(columns, spacing, noise):
    """Up to 1e-3 nats where all of them are close; far less where they are as far apart as data."""
    rng = np.random.default_rng(0)
    X, U = rng.uniform(-2, 2, (60, columns)), spacing * rng.standard_normal((50, columns))
    exact = exact_dtc.information_gain(X, U, length_scale=1.8, noise=noise, jitter=JITTER)
    game = fp.InformationGain(
        fp.SparseGaussianProcess(RBF(1.8), noise, U), [fp.Party("a", X, X[:, 0])]
    )
    assert abs(game.total - exact) <= game.rounding_error
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fp.RewardScheme(game, [game.total])
    told = [w for w in said if "rounding may put values and rewards off" in str(w.message)]
    assert bool(told) == (spacing < 0.1)


@pytest.mark.parametrize(("length_scale", "error"), [(0.3, 1e-11), (0.6, 1e-10), (1.8, 1e-7)])
def test_values_are_those_of_exact_dtc_where_the_points_are_apart(length_scale, error):
    U = in_a_row(0.5)
    exact = exact_dtc.information_gain(OUTSIDE, U, length_scale=length_scale, noise=0.1, jitter=0)
    assert value(OUTSIDE, U, length_scale, 0.1) == pytest.approx(exact, abs=error, rel=0)


def test_values_do_not_jump_when_the_kernel_changes():
    """Leaving points out made v jump by half a nat where one more was left out."""
    scales = np.geomspace(0.3, 5, 300)
    values = np.array([value(OUTSIDE, in_a_row(0.01), scale, 0.1) for scale in scales])
    assert np.abs(np.diff(values)).max() < 0.05


def test_the_number_of_weights_is_that_of_inducing_points_whatever_the_kernel():
    coincident = np.zeros((5, 1))
    for U, scale in product((in_a_row(0.5), in_a_row(1e-9), coincident), (0.1, 10.0, 1e5)):
        assert fp.SparseGaussianProcess(RBF(scale), 0.1, U).whitened_features(OUTSIDE).shape == (
            10,
            5,
        )


def test_a_point_without_variance_tells_nothing():
    X = OUTSIDE
    kernel = DotProduct(0.0, "fixed")
    with_origin = fp.SparseGaussianProcess(kernel, 0.1, [[0.0], [1.0]])
    without = fp.SparseGaussianProcess(kernel, 0.1, [[1.0]])
    for posterior in (with_origin.posterior(X, X[:, 0]), without.posterior(X, X[:, 0])):
        np.testing.assert_allclose(posterior.predict([[1.5]])[0], 1.5, rtol=0.01)
    np.testing.assert_array_equal(with_origin.whitened_features(X)[:, 0], 0.0)


@pytest.mark.parametrize("spacing", [0.5, 0.05, 0.005])
def test_the_likelihood_is_smooth_where_points_are_close(spacing):
    X, U = scattered(spacing)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]

    def likelihood(theta):
        return dtc_likelihood(RBF(np.exp(theta[0])), np.exp(theta[1]), X, y, U)

    theta = np.log([1.8, 0.1])
    # A wide step: rounding in K_UU moves the likelihood by some 1e-5.
    differences = approx_fprime(theta, lambda t: likelihood(t)[0], 1e-3)
    np.testing.assert_allclose(likelihood(theta)[1], differences, rtol=0.02, atol=0.02)


def test_a_reward_with_close_inducing_points_is_the_same_after_loading(tmp_path):
    parties = make_parties([30, 20], 0)
    U = np.array([0.2, -0.1, 0.4]) + 0.0005 * np.random.default_rng(1).standard_normal((8, 3))
    game = fp.InformationGain(fp.SparseGaussianProcess(RBF([1.0, 2.0, 3.0]), 0.1, U), parties)
    reward = fp.realise(game, (game.alone + game.total) / 2)[0]
    reward.save(tmp_path / "reward")
    loaded = fp.load_reward(tmp_path / "reward")
    X = parties[1].X
    model, again = reward.posterior.model, loaded.posterior.model
    np.testing.assert_array_equal(again.whitened_features(X), model.whitened_features(X))
    np.testing.assert_array_equal(loaded.predict(X), reward.predict(X))


def test_a_kernel_too_coarse_for_its_inducing_points_is_refused():
    U = np.random.default_rng(0).standard_normal((50, 2))
    coarse = fp.SparseGaussianProcess(
        RationalQuadratic(100.0, 1e5), 0.1, U
    )  # (1 + t)^-alpha loses five digits
    with pytest.raises(
        ValueError,
        match=r"covariance of the 50 inducing points cannot be factorised.*use another kernel",
    ):
        coarse.posterior(U, U[:, 0])


@pytest.mark.parametrize(
    ("kernel", "largest"),
    [
        (RBF([1.0, 2.0]), 1.0),
        (3.0 * RBF(0.5) + 0.5 * Matern(1.0, nu=0.5), 3.5),
        ((RationalQuadratic(1.0, 2.0) + ConstantKernel(1.0)) ** 2, 4.0),
    ],
)
@pytest.mark.parametrize("spacing", [1e-6, 1e-3, 0.1, 1.0])
def test_features_are_no_longer_than_their_bound_however_close_the_points(kernel, largest, spacing):
    rng = np.random.default_rng(0)
    U = spacing * rng.standard_normal((50, 2))
    model = fp.SparseGaussianProcess(kernel, 0.1, U)
    X = np.vstack([U, U + 0.3 * spacing * rng.standard_normal(U.shape), rng.normal(0, 3, (300, 2))])
    assert model.feature_bounds(2).largest == pytest.approx(largest)
    assert (model.whitened_features(X) ** 2).sum(axis=1).max() <= largest * (1 + 1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        DotProduct(1.0),
        RBF(1.0) + 0.1 * DotProduct(0.5),
        ExpSineSquared(1.0, 3.0),
        type("Mine", (RBF,), {})(),
    ],
)
def test_kernels_that_grow_or_may_be_indefinite_have_no_bound(kernel):
    model = fp.SparseGaussianProcess(kernel, 0.1, np.zeros((1, 2)))
    assert model.feature_bounds(2).largest == np.inf
