import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)

import fairpool as fp
from fairpool.models import descent, hyperparameters
from fairpool.models.hyperparameters import maximise_likelihood
from fairpool.models.likelihoods import gp_likelihood
from tests.support.examples import P, labels
from tests.support.learning_problems import problem


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # theirs, of a bound that is reached
@pytest.mark.parametrize(
    "kernel",
    [
        1.0 * RBF([1.0, 1.0, 1.0]),
        1.0 * RBF([1.0] * 3) + 1.0 * Matern([1.0] * 3, nu=0.5),
        RationalQuadratic(),
    ],
)
def test_likelihood_is_no_worse_than_scikit_learns_from_the_same_start(kernel):
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 2, (120, P))
    y = labels(X, rng)
    theirs = GaussianProcessRegressor(kernel + WhiteKernel(1.0), alpha=0).fit(X, y)
    ours = fp.GaussianProcess(kernel, 1.0).fit_hyperparameters(X, y)
    assert ours.log_marginal_likelihood(X, y) >= theirs.log_marginal_likelihood_value_ - 1e-4


def test_restarts_are_repeatable_and_never_worse():
    rng = np.random.default_rng(4)
    X = rng.uniform(0, 2, (40, P))
    y = labels(X, rng)
    start = fp.GaussianProcess(1.0 * RBF([30.0, 30.0, 30.0]), 5.0)
    once = start.fit_hyperparameters(X, y)
    twice = [start.fit_hyperparameters(X, y, rng=3, restarts=4) for _ in range(2)]
    assert twice[0].noise_variance == twice[1].noise_variance
    # Both may reach the same optimum, and the likelihood of the search is rounded otherwise than
    # the model's.
    assert twice[0].log_marginal_likelihood(X, y) >= once.log_marginal_likelihood(X, y) - 1e-9


def test_fitting_leaves_the_model_and_its_kernel_alone():
    kernel = 1.0 * RBF([1.0, 1.0, 1.0])
    model = fp.GaussianProcess(kernel, 0.5)
    X = np.random.default_rng(0).standard_normal((20, P))
    fitted = model.fit_hyperparameters(X, X[:, 0] + 0.1 * X[::-1, 2])
    assert kernel == model.kernel == 1.0 * RBF([1.0, 1.0, 1.0])
    assert fitted.kernel != kernel
    kernel.k1.constant_value = 7.0  # nor can the user's kernel change the model later
    assert model.kernel.k1.constant_value == 1.0


def test_noise_of_blr_is_the_maximum_of_its_evidence():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, P))
    y = X @ [1.0, -1.0, 0.5] + 0.7 * rng.standard_normal(200)
    model = fp.BayesianLinearRegression(3.0, prior_mean=[0.5, 0, 0, 0])
    fitted = model.fit_hyperparameters(X, y)
    assert fitted.noise_variance == pytest.approx(0.49, rel=0.2)
    best = minimize_scalar(
        lambda t: (
            -fp.BayesianLinearRegression(
                np.exp(t), prior_mean=[0.5, 0, 0, 0]
            ).log_marginal_likelihood(X, y)
        ),
        bounds=(-4, 2),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert fitted.noise_variance == pytest.approx(np.exp(best.x), rel=1e-5)


def test_a_search_that_cannot_start_says_so():
    class Impossible(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            K, dK = super().__call__(X, eval_gradient=True)
            return (-K, -dK) if eval_gradient else -K

    X = np.random.default_rng(0).standard_normal((20, P))
    with pytest.raises(ValueError, match="the likelihood cannot be computed at the start"):
        fp.GaussianProcess(Impossible(), 0.1).fit_hyperparameters(X, X[:, 0])
    for model in (fp.GaussianProcess(RBF(), 0.1), fp.BayesianLinearRegression(0.1)):
        with pytest.raises(ValueError, match="needs one label per row, and at least one row"):
            model.fit_hyperparameters(X[:0], X[:0, 0])
        with pytest.raises(ValueError, match="needs one label per row"):
            model.fit_hyperparameters(X, X[:, :2])
        with pytest.raises(ValueError, match=r"noise_bounds \(0, 1\) must be two finite numbers"):
            model.fit_hyperparameters(X, X[:, 0], noise_bounds=(0, 1))
    with pytest.raises(ValueError, match="has 3 length scales, but the data has 1 columns"):
        fp.GaussianProcess(RBF([1.0, 1.0, 1.0]), 0.1).fit_hyperparameters(X[:, :1], X[:, 0])
    with pytest.raises(ValueError, match="random restarts need finite bounds"):
        fp.GaussianProcess(RBF(1.0, (1e-3, np.inf)), 0.1).fit_hyperparameters(
            X, X[:, 0], restarts=1
        )


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_a_noise_variance_at_the_end_of_its_range_is_reported(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, P))
    y = scale * labels(X, rng)
    for model in (fp.GaussianProcess(1.0 * RBF(1.0), 0.1), fp.BayesianLinearRegression(0.1)):
        with pytest.warns(
            fp.FairpoolWarning, match="is at the end of the range searched; standardise the labels"
        ):
            model.fit_hyperparameters(X, y)


def test_a_start_outside_its_bounds_is_brought_inside():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, P))
    y = labels(X, rng)
    outside = fp.GaussianProcess(1.0 * RBF(1.0), 1e7).fit_hyperparameters(X, y)
    assert outside.log_marginal_likelihood(X, y) > -150


def test_the_evidence_is_searched_everywhere():
    """An evidence with two maxima, the better one far from where the other is."""
    rng = np.random.default_rng(1)
    X = np.vstack([np.eye(3), rng.standard_normal((3, 3)) * 1e-4])
    y = np.array([30.0, -20.0, 10.0, 0.001, -0.002, 0.001])
    model = fp.BayesianLinearRegression(1.0, 1e4, bias=False)
    found = model.fit_hyperparameters(X, y, noise_bounds=(1e-9, 1e5))
    best = max(
        fp.BayesianLinearRegression(s, 1e4, bias=False).log_marginal_likelihood(X, y)
        for s in np.geomspace(1e-9, 1e5, 3000)
    )
    assert found.log_marginal_likelihood(X, y) >= best - 1e-6


def test_a_long_search_takes_few_likelihoods():
    """The benchmark's smallest case.

    scipy's L-BFGS-B took 65 for the same likelihood, this search 44.
    """
    X, y = make_friedman1(750, n_features=10, noise=1.0, random_state=0)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    fit = maximise_likelihood(gp_likelihood, 1.0 * RBF(np.ones(10)), 0.1, X, y, entries=len(X) ** 2)
    assert fit.log_likelihood == pytest.approx(52.4002, abs=1e-3)
    assert fit.evaluations <= 60
    assert fit.notes == ()


def test_a_search_that_reaches_no_optimum_says_so(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, P))
    y = labels(X, rng)
    monkeypatch.setattr(descent, "MOST_STEPS", 3)
    sparse = fp.SparseGaussianProcess(1.0 * RBF(1.0), 0.1, X[:20])
    for model in (fp.GaussianProcess(1.0 * RBF(1.0), 0.1), sparse):
        with pytest.warns(
            fp.FairpoolWarning,
            match=r"ended without reaching an optimum: .* where at most 0.06 counts",
        ):
            model.fit_hyperparameters(X, y)


def test_a_kernel_parameter_held_by_a_bound_that_matters_is_reported():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, P))
    y = 100 * np.sin(X[:, 0]) + rng.standard_normal(60)
    held = fp.GaussianProcess(1.0 * RBF(np.ones(P), (0.01, 3.0)), 0.1)
    with pytest.warns(
        fp.FairpoolWarning,
        match=r"beyond the range searched for .* \(length scale 3, length scale 3\);",
    ):
        held.fit_hyperparameters(X, y)
    # Of features without effect the length scale goes to its bound as well, and that is no matter.
    fitted = fp.GaussianProcess(1.0 * RBF(np.ones(P), (0.01, 1e3)), 0.1).fit_hyperparameters(X, y)
    assert fitted.kernel.k2.length_scale.max() > 100


def test_a_start_that_cannot_be_factorised_gives_way_to_one_that_fits_the_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    impossible = fp.GaussianProcess(1e5 * RBF(1e5), 1e-30)
    bounds = (1e-30, 1e5)
    fitted = impossible.fit_hyperparameters(X, y, noise_bounds=bounds)
    expected = fp.GaussianProcess(1.0 * RBF(1.0), 0.1).fit_hyperparameters(
        X, y, noise_bounds=bounds
    )
    assert fitted.noise_variance == pytest.approx(expected.noise_variance, rel=1e-2)


def test_where_the_kernel_explains_little_the_search_starts_again(monkeypatch):
    """From long length scales the labels look like noise; from short ones the wave is found."""
    X = np.linspace(0, 30, 60)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(60)
    start = fp.GaussianProcess(1.0 * RBF(300.0), 1.0)
    assert start.fit_hyperparameters(X, y).noise_variance < 0.02
    monkeypatch.setattr(hyperparameters, "INFORMED_LENGTHS", ())
    assert start.fit_hyperparameters(X, y).noise_variance > 0.4


def test_a_search_from_elsewhere_is_not_followed_to_where_labels_have_no_noise():
    """Fifty rows, mostly noise.

    Interpolating them has the larger likelihood by 3.8 nats, and would be warned of.
    """
    found = problem(23, least_rows=40, most_rows=300)
    assert found.gp.fit_hyperparameters(found.X, found.y).noise_variance > 0.1


@pytest.mark.filterwarnings("ignore:the best noise variance found:fairpool.FairpoolWarning")
@pytest.mark.parametrize("bounds", [(1e-200, 1e5), (1e-5, 1e5), (0, np.inf)])
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_that_are_all_alike_and_any_bounds_end_the_search(bounds, label):
    X = np.linspace(0, 1, 20)[:, None]
    start = fp.GaussianProcess(ConstantKernel(1.0, bounds) * RBF(1.0, (1e-5, 1e5)), 0.3)
    fitted = start.fit_hyperparameters(X, np.full(20, label))
    assert fitted.log_marginal_likelihood(X, np.full(20, label)) > 50
