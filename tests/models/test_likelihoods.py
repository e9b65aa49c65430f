from decimal import Decimal

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
)

import fairpool as fp
from fairpool.models import kernel_gradients
from fairpool.models.kernel_gradients import has_own_gradient, kernel_with_gradient
from fairpool.models.likelihoods import dtc_likelihood, gp_likelihood
from tests.support import oracles
from tests.support.examples import INDUCING, P, labels

OWN = {
    "rbf": RBF(1.3),
    "constant": ConstantKernel(2.0),
    "ard": 2.0 * RBF([0.5, 1.0, 2.0]),
    "matern-0.5": Matern([0.5, 1.0, 2.0], nu=0.5),
    "matern-1.5": 0.3 * Matern(1.5, nu=1.5),
    "matern-2.5": Matern([0.5, 1.0, 2.0], nu=2.5) + 0.5,
    "composite": 0.7 * RBF([1.0, 2.0, 3.0]) + 0.4 * Matern(1.5, nu=0.5) * RBF(2.0),
    "fixed": ConstantKernel(2.0, "fixed") * RBF([0.5, 1.0, 2.0], "fixed") + Matern(1.0, nu=1.5),
}
OTHER = {
    "rational": RationalQuadratic(1.0, 2.0) * 0.7,
    "matern-0.8": Matern(1.2, nu=0.8),
    "linear": DotProduct(0.5) + RBF(1.0),
}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = (
        rng.standard_normal((30, P)) + 100
    )  # far from the origin: differences of squares must not cancel
    X[7] = X[3]  # two points that coincide
    return X, labels(X - 100, rng)


@pytest.mark.parametrize("kernel", [*OWN.values(), *OTHER.values()], ids=[*OWN, *OTHER])
def test_kernel_gradient_equals_scikit_learn_tensor(kernel, data):
    X, _ = data
    G = np.random.default_rng(1).standard_normal((len(X), len(X)))
    K, pullback = kernel_with_gradient(kernel, X, X)
    expected, tensor = kernel(X, eval_gradient=True)
    np.testing.assert_allclose(K, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(pullback(G), np.einsum("ij,ijk->k", G, tensor), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernel", [*OWN.values(), *OTHER.values()], ids=[*OWN, *OTHER])
def test_kernel_gradient_of_a_rectangle(kernel, data):
    X, U = data[0], data[0][:4] + 0.1
    G = np.random.default_rng(1).standard_normal((len(X), len(U)))
    K, pullback = kernel_with_gradient(kernel, X, U)
    tensor = kernel(np.concatenate([X, U]), eval_gradient=True)[1][: len(X), len(X) :]
    np.testing.assert_allclose(K, kernel(X, U), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(pullback(G), np.einsum("ij,ijk->k", G, tensor), rtol=1e-8, atol=1e-8)


class SelfDerivative(RBF):
    """Its parameter scales it, so that K is its own derivative, and it gives one array for both."""

    def __call__(self, X, Y=None, eval_gradient=False):
        K = self.length_scale * RBF()(X, Y)
        return (K, K[:, :, None]) if eval_gradient else K


@pytest.mark.parametrize(
    "kernel",
    [*OWN.values(), *OTHER.values(), SelfDerivative(2.0)],
    ids=[*OWN, *OTHER, "self-derivative"],
)
def test_kernel_matrix_may_be_overwritten_and_g_is_not(kernel, data):
    X, _ = data
    G = np.random.default_rng(1).standard_normal((len(X), len(X)))
    given = G.copy()
    K, pullback = kernel_with_gradient(kernel, X, X)
    K[:] = np.nan
    np.testing.assert_allclose(
        pullback(G),
        np.einsum("ij,ijk->k", G, kernel(X, eval_gradient=True)[1]),
        rtol=1e-8,
        atol=1e-8,
    )
    np.testing.assert_array_equal(G, given)


@pytest.mark.parametrize("entries", [1, 100, 31 * 7])
@pytest.mark.parametrize("kernel", [OWN["ard"], OWN["composite"]])
def test_kernel_gradient_does_not_depend_on_the_blocks(kernel, entries, data, monkeypatch):
    monkeypatch.setattr(
        kernel_gradients, "BLOCK", entries
    )  # one row, a few that do not divide m, and more
    test_kernel_gradient_equals_scikit_learn_tensor(kernel, data)
    test_kernel_gradient_of_a_rectangle(kernel, data)


@pytest.mark.parametrize("kernel", [*OWN.values(), *OTHER.values()], ids=[*OWN, *OTHER])
def test_likelihood_and_gradient_equal_the_formula_with_an_inverse(kernel, data):
    X, y = data
    value, gradient = gp_likelihood(kernel, 0.3, X, y)
    K, dK = kernel(X, eval_gradient=True)
    C_inverse = np.linalg.inv(K + 0.3 * np.eye(len(X)))
    G = 0.5 * (np.outer(C_inverse @ y, C_inverse @ y) - C_inverse)
    expected = np.append(np.einsum("ij,ijk->k", G, dK), 0.3 * G.trace())
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8)
    assert value == pytest.approx(
        oracles.log_marginal_likelihood(fp.GaussianProcess(kernel, 0.3), X, y, 0.3), rel=1e-9
    )


exactly = np.vectorize(Decimal, otypes=[object])
exponential = np.vectorize(Decimal.exp, otypes=[object])


def inverse_and_log_det(C):
    """By Gauss and Jordan in 28 decimals: ten rows, no pivots, as C is positive definite."""
    M, log_det = np.hstack([C, exactly(np.eye(len(C)))]), Decimal(0)
    for k in range(len(C)):
        log_det += M[k, k].ln()
        M[k] /= M[k, k]
        others = np.arange(len(C)) != k
        M[others] -= np.outer(M[others, k], M[k])
    return M[:, len(C) :], log_det


@pytest.mark.parametrize(("length", "noise"), [(1e3, 0.1), (1e3, 1e-8), (1.0, 1e-8), (30.0, 1e-5)])
def test_likelihood_gradient_near_singularity(length, noise):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((10, P)), rng.standard_normal(10)
    scales = length * np.array([0.5, 1.0, 2.0])
    value, gradient = gp_likelihood(2.0 * RBF(scales), noise, X, y)

    X, y, scales, noise_of_rows = (
        exactly(X),
        exactly(y),
        exactly(scales),
        exactly(noise * np.eye(10)),
    )
    squares = ((X[:, None] - X[None]) / scales) ** 2
    K = 2 * exponential(-squares.sum(axis=2) / 2)
    C_inverse, log_det = inverse_and_log_det(K + noise_of_rows)
    a = C_inverse @ y
    G = (np.outer(a, a) - C_inverse) / 2
    dK = np.concatenate([K[None], K * squares.transpose(2, 0, 1), noise_of_rows[None]])
    expected = (G * dK).sum(axis=(1, 2))
    assert value == pytest.approx(
        -0.5 * (float(y @ a + log_det) + 10 * np.log(2 * np.pi)), rel=1e-6
    )
    np.testing.assert_allclose(gradient, expected.astype(float), rtol=1e-5)


def test_which_kernels_have_their_own_gradient():
    assert all(map(has_own_gradient, OWN.values()))
    assert not any(map(has_own_gradient, OTHER.values()))


@pytest.mark.parametrize("kernel", [OWN["composite"], OWN["fixed"], OTHER["rational"]])
@pytest.mark.parametrize("sparse", [False, True])
def test_likelihood_gradient_equals_finite_differences(kernel, sparse, data):
    X, y = data
    kernel = clone(kernel)

    def likelihood(theta):
        k = kernel.clone_with_theta(theta[:-1])
        if sparse:
            return dtc_likelihood(k, np.exp(theta[-1]), X, y, INDUCING + 100)
        return gp_likelihood(k, np.exp(theta[-1]), X, y)

    theta = np.append(kernel.theta, np.log(0.3))
    error = check_grad(lambda t: likelihood(t)[0], lambda t: likelihood(t)[1], theta)
    assert error < 1e-4 * np.linalg.norm(likelihood(theta)[1])
    model = (
        fp.SparseGaussianProcess(kernel, 0.3, INDUCING + 100)
        if sparse
        else fp.GaussianProcess(kernel, 0.3)
    )
    assert likelihood(theta)[0] == pytest.approx(model.log_marginal_likelihood(X, y), rel=1e-9)
