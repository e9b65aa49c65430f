import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, Kernel, WhiteKernel

import fairpool as fp
from examples import P

X = np.random.default_rng(0).standard_normal((12, P))
y = X[:, 0]


class Sigmoid(Kernel):
    """tanh(x z): not positive definite."""

    def __init__(self):
        pass

    def __call__(self, X, Y=None, eval_gradient=False):
        return 3 * np.tanh(np.asarray(X) @ np.asarray(X if Y is None else Y).T - 1)

    def diag(self, X):
        return np.diag(self(X)).copy()

    def is_stationary(self):
        return False


@pytest.mark.parametrize("noise", [0.0, -1.0, np.nan, np.inf, "much", [1.0, 2.0]])
def test_noise_variance_must_be_positive(noise):
    for make in (
        lambda: fp.GaussianProcess(RBF(), noise),
        lambda: fp.BayesianLinearRegression(noise),
        lambda: fp.SparseGaussianProcess(RBF(), noise, X),
    ):
        with pytest.raises(ValueError, match=r"noise_variance .* is not"):
            make()


@pytest.mark.parametrize("noise_variance", [0.001, 0.1, 100.0])
def test_a_kernel_that_is_not_positive_definite_is_refused(noise_variance):
    game = fp.InformationGain(fp.GaussianProcess(Sigmoid(), noise_variance), [fp.Party("a", X, y)])
    with pytest.raises(ValueError, match="is not positive definite: on these rows its smallest eigenvalue is -"):
        game.values()
    with pytest.raises(ValueError, match="is not positive definite"):
        fp.SparseGaussianProcess(Sigmoid(), noise_variance, X).posterior(X, y)


def test_a_kernel_that_may_be_positive_definite_is_looked_at_and_kept():
    one = X[:, :1]
    game = fp.InformationGain(fp.GaussianProcess(ExpSineSquared(1.0, 2.0), 0.1), [fp.Party("a", one, y)])
    assert game.total > 0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fp.GaussianProcess("rbf", 0.1), "'rbf' is not a kernel"),
        (lambda: fp.GaussianProcess(RBF() + WhiteKernel(), 0.1), "contains a WhiteKernel"),
        (lambda: fp.GaussianProcess(RBF() * (RBF() + WhiteKernel()) ** 2, 0.1), "contains a WhiteKernel"),
        (lambda: fp.SparseGaussianProcess(RBF(), 0.1, X[:0]), "there are no inducing points"),
        (lambda: fp.SparseGaussianProcess(RBF(), 0.1, X[:, :1]).posterior(X, y), "inducing points have 1 columns"),
        (lambda: fp.BayesianLinearRegression(0.1, prior_variance=-1.0), "prior_variance -1.0 must be"),
        (
            lambda: fp.BayesianLinearRegression(0.1, prior_variance=[[1.0, 2.0], [2.0, 1.0]]),
            "is not a symmetric, positive",
        ),
        (lambda: fp.BayesianLinearRegression(0.1, prior_variance=[[1.0, 2.0]]), "is not a symmetric, positive"),
        (lambda: fp.BayesianLinearRegression(0.1, prior_mean=np.nan), "prior_mean of shape"),
        (lambda: fp.BayesianLinearRegression(0.1, [1.0, 2.0]).posterior(X, y), "prior_variance is for 2 weights, but"),
        (lambda: fp.BayesianLinearRegression(0.1, 1.0, [1.0, 2.0]).posterior(X, y), "prior_mean is for 2 weights, but"),
        (lambda: fp.GaussianProcess(RBF(), 0.1).posterior(X, y[:3]), r"y has shape \(3,\)"),
        (lambda: fp.GaussianProcess(RBF(), 0.1).posterior(X, np.full(12, np.nan)), "y has 12 value"),
        (
            lambda: fp.GaussianProcess(RBF(), 0.1).posterior(X, y).predict(X[:, :2]),
            "have 2 columns, the model was trained on 3",
        ),
        (lambda: fp.mnlp([1.0], [1.0, 2.0], [1.0]), "mnlp needs y"),
        (
            lambda: fp.ValidationGain(fp.GaussianProcess(RBF(), 0.1), [fp.Party("a", X, y)], X[:0], []),
            "validation data has 0",
        ),
    ],
)
def test_bad_models_and_bad_use_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_kernel_that_overflows_is_refused():
    class Overflowing(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            return np.full((len(X), len(X if Y is None else Y)), np.inf)

    from fairpool.models.cholesky import lower_factor

    with pytest.raises(ValueError, match="not finite on these rows"):
        lower_factor(Overflowing()(X))
