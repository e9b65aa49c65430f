"""What a classifier predicts, against dense algebra and long Monte Carlo."""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

import fairpool as fp
from fairpool.models.class_probabilities import class_probabilities
from tests.classes.conftest import KERNEL, parties_of_classes, rows_of_classes
from tests.classes.test_values import covariance, levels


def dense_latents(model: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray, k: int) -> Any:
    """Means and variances [t, k] by the inverse of the whole covariance."""
    t, s2 = levels(0.01)
    centre = (t[0] + (k - 1) * t[1]) / k
    both = covariance(model, np.concatenate([X, Z]))
    K, cross = both[: len(X), : len(X)], both[len(X) :, : len(X)]
    prior = np.asarray(model.prior_variance_at(Z))
    means, variances = [], []
    for c in range(k):
        D = np.diag(np.where(y == c, s2[0], s2[1]))
        inverse = np.linalg.inv(K + D)
        means.append(cross @ inverse @ (np.where(y == c, t[0], t[1]) - centre))
        variances.append(prior - np.einsum("ij,jk,ik->i", cross, inverse, cross))
    return np.column_stack(means), np.column_stack(variances)


@pytest.mark.parametrize("k", [2, 4])
def test_posterior_is_the_dense_one(base: Any, k: int) -> None:
    X, y = rows_of_classes(k, 30, 5)
    Z, _ = rows_of_classes(k, 6, 6)
    model = fp.Classifier(base, k)
    expected = class_probabilities(*dense_latents(base, X, y, Z, k))
    p, variance = model.posterior(X, y).predict(Z)
    assert p == pytest.approx(expected.mean, abs=1e-9)
    assert variance == pytest.approx(expected.variance, abs=1e-9)
    by_game = fp.InformationGain(model, [fp.Party("a", X, y)]).posterior([0]).predict(Z)
    assert by_game[0] == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 20])
def test_probabilities_against_a_long_monte_carlo(k: int) -> None:
    rng = np.random.default_rng(k)
    mean = rng.normal(0, 3, (8, k))
    variance = rng.gamma(1.0, 4.0, (8, k))
    variance[0] = 0.0
    p, spread = class_probabilities(mean, variance)
    draws = 400_000
    for row in range(8):
        f = mean[row] + np.sqrt(variance[row]) * rng.standard_normal((draws, k))
        sampled = softmax(f, axis=1)
        error = sampled.std(axis=0) / np.sqrt(draws)
        assert (np.abs(p[row] - sampled.mean(axis=0)) <= 5 * error + 2e-3).all()
        likely = sampled[:, p[row].argmax()]
        assert spread[row] == pytest.approx(likely.var(), abs=4e-3)
    assert p.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-9)


def test_quadrature_of_two_classes_is_exact_for_any_spread() -> None:
    from scipy.integrate import quad
    from scipy.special import expit
    from scipy.stats import norm

    for mean, deviation in ((0.3, 0.1), (2.0, 4.0), (-8.0, 15.0)):
        expected, _ = quad(
            lambda z, m=mean, s=deviation: expit(m + s * z) * norm.pdf(z), -9, 9, limit=400
        )
        p, _ = class_probabilities(np.array([[0.0, mean]]), np.array([[0.0, deviation**2]]))
        assert p[0, 1] == pytest.approx(expected, abs=1e-8)


def test_the_same_answer_every_time(base: Any) -> None:
    X, y = rows_of_classes(3, 30, 5)
    posterior = fp.Classifier(base, 3).posterior(X, y)
    first = posterior.predict(X)
    again = posterior.predict(X)
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()


def test_without_data_every_class_is_as_probable(base: Any) -> None:
    party = fp.Party("a", np.empty((0, 2)), np.empty(0))
    p, variance = (
        fp.InformationGain(fp.Classifier(base, 4), [party]).posterior([]).predict(np.ones((2, 2)))
    )
    assert p == pytest.approx(np.full((2, 4), 0.25), abs=2e-3)
    assert (variance > 0.01).all()  # and the model says that it does not know


def test_more_data_leave_less_doubt() -> None:
    X, y = rows_of_classes(2, 400, 1)
    model = fp.Classifier(fp.BayesianLinearRegression(1.0, 3.0), 2)
    Z, _ = rows_of_classes(2, 50, 2)
    few = model.posterior(X[:20], y[:20]).predict(Z)[1]
    many = model.posterior(X, y).predict(Z)[1]
    assert many.mean() < 0.3 * few.mean()


def test_rows_left_out_are_those_of_a_model_trained_without_them(base: Any) -> None:
    X, y = rows_of_classes(3, 18, 2)
    model = fp.Classifier(base, 3)
    p, variance = model.posterior(X, y).predict_without_each(X, y, np.ones(len(y)))
    for row in range(len(y)):
        rest = np.arange(len(y)) != row
        expected = model.posterior(X[rest], y[rest]).predict(X[row : row + 1])
        assert p[row] == pytest.approx(expected[0][0], abs=1e-8)
        assert variance[row] == pytest.approx(expected[1][0], abs=1e-8)


def test_likelihood_is_that_of_all_classes_and_learning_raises_it(base: Any) -> None:
    X, y = rows_of_classes(3, 60, 4)
    model = fp.Classifier(base, 3)
    t, s2 = levels(0.01)
    centre = (t[0] + 2 * t[1]) / 3
    expected = 0.0
    for c in range(3):
        C = covariance(base, X) + np.diag(np.where(y == c, s2[0], s2[1]))
        labels = np.where(y == c, t[0], t[1]) - centre
        fit = labels @ np.linalg.solve(C, labels)
        expected -= 0.5 * (fit + np.linalg.slogdet(2 * np.pi * C)[1])
    before = model.log_marginal_likelihood(X, y)
    assert before == pytest.approx(expected, abs=1e-8)
    learned = model.fit_hyperparameters(X, y)
    after = learned.log_marginal_likelihood(X, y)
    assert after > before
    # At an optimum, no small change of what was learned is better.
    assert learned.fit_hyperparameters(X, y).log_marginal_likelihood(X, y) <= after + 1e-2


def test_gradients_of_the_likelihoods_of_sets() -> None:
    from scipy.optimize import approx_fprime
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    from fairpool.models.likelihoods import dtc_likelihood_of_sets, gp_likelihood_of_sets

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(25, 2)), rng.normal(size=(25, 3))
    noise = rng.uniform(0.3, 4.0, (25, 3))
    kernel = ConstantKernel(2.0) * RBF([1.0, 2.0])
    U = rng.normal(size=(6, 2))
    for likelihood, more in ((gp_likelihood_of_sets, {}), (dtc_likelihood_of_sets, {"U": U})):

        def value(theta: np.ndarray, likelihood: Any = likelihood, more: Any = more) -> float:
            found, _ = likelihood(kernel.clone_with_theta(theta), X, Y, noise, **more)
            return float(found)

        _, gradient = likelihood(kernel, X, Y, noise, **more)
        numeric = approx_fprime(kernel.theta, value, 1e-6)
        assert gradient == pytest.approx(numeric, abs=1e-3)


def test_one_prior_for_each_class_learns_each() -> None:
    X, y = rows_of_classes(2, 60, 4)
    base = fp.BayesianLinearRegression(1.0, 3.0)
    shared = fp.Classifier(base, 2).fit_hyperparameters(X, y)
    each = fp.Classifier([base, base], 2).fit_hyperparameters(X, y)
    assert each.log_marginal_likelihood(X, y) >= shared.log_marginal_likelihood(X, y) - 1e-6
    assert not each.shared
    assert shared.shared


def test_random_labels_raise_values_and_are_caught() -> None:
    parties = parties_of_classes(2, (80, 90, 70))
    U = np.random.default_rng(3).normal(0, 1.5, (12, 2))
    model = fp.Classifier(fp.SparseGaussianProcess(KERNEL, 1.0, U), 2)
    honest = fp.EvidenceGain(model, parties)
    found = fp.judge_evidence(honest, rng=0)
    assert not found.harmful
    assert not found.disputed
    y = np.random.default_rng(1).permutation(parties[1].y)
    lying = fp.EvidenceGain(model, [parties[0], fp.Party("p1", parties[1].X, y), parties[2]])
    assert lying.information.alone[1] > honest.information.alone[1]
    assert fp.judge_evidence(lying, rng=0).harmful == (1,)
