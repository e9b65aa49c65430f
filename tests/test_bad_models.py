import dataclasses

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Kernel,
    WhiteKernel,
)

import fairpool as fp
from tests.support.examples import P

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
    with pytest.raises(
        ValueError, match="is not positive definite: on these rows its smallest eigenvalue is -"
    ):
        game.values()
    with pytest.raises(ValueError, match="on these rows its smallest eigenvalue is -"):
        fp.SparseGaussianProcess(Sigmoid(), noise_variance, X).posterior(X, y)


def test_a_kernel_that_may_be_positive_definite_is_looked_at_and_kept():
    one = X[:, :1]
    game = fp.InformationGain(
        fp.GaussianProcess(ExpSineSquared(1.0, 2.0), 0.1), [fp.Party("a", one, y)]
    )
    assert game.total > 0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: fp.GaussianProcess("rbf", 0.1), "'rbf' is not a kernel"),
        (lambda: fp.GaussianProcess(RBF() + WhiteKernel(), 0.1), "contains a WhiteKernel"),
        (
            lambda: fp.GaussianProcess(RBF() * (RBF() + WhiteKernel()) ** 2, 0.1),
            "contains a WhiteKernel",
        ),
        (lambda: fp.SparseGaussianProcess(RBF(), 0.1, X[:0]), "there are no inducing points"),
        (
            lambda: fp.SparseGaussianProcess(RBF(), 0.1, X[:, :1]).posterior(X, y),
            "inducing points have 1 columns",
        ),
        (
            lambda: fp.BayesianLinearRegression(0.1, prior_variance=-1.0),
            "prior_variance -1.0 must be",
        ),
        (
            lambda: fp.BayesianLinearRegression(0.1, prior_variance=[[1.0, 2.0], [2.0, 1.0]]),
            "is not a symmetric, positive",
        ),
        (
            lambda: fp.BayesianLinearRegression(0.1, prior_variance=[[1.0, 2.0]]),
            "is not a symmetric, positive",
        ),
        (lambda: fp.BayesianLinearRegression(0.1, prior_mean=np.nan), "prior_mean of shape"),
        (
            lambda: fp.BayesianLinearRegression(0.1, [1.0, 2.0]).posterior(X, y),
            "prior_variance is for 2 weights, but",
        ),
        (
            lambda: fp.BayesianLinearRegression(0.1, [1.0, 2.0]).summarise(fp.Party("a", X, y)),
            "prior_variance is for 2 weights, but",
        ),
        (
            lambda: fp.BayesianLinearRegression(0.1, 1.0, [1.0, 2.0]).posterior(X, y),
            "prior_mean is for 2 weights, but",
        ),
        (lambda: fp.GaussianProcess(RBF(), 0.1).posterior(X, y[:3]), r"y has shape \(3,\)"),
        (
            lambda: fp.GaussianProcess(RBF(), 0.1).posterior(X, np.full(12, np.nan)),
            "y has 12 value",
        ),
        (
            lambda: fp.GaussianProcess(RBF(), 0.1).posterior(X, y).predict(X[:, :2]),
            "have 2 columns, the model was trained on 3",
        ),
        (lambda: fp.mnlp([1.0], [1.0, 2.0], [1.0]), "mnlp needs y"),
        (
            lambda: fp.ValidationGain(
                fp.GaussianProcess(RBF(), 0.1), [fp.Party("a", X, y)], X[:0], []
            ),
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

    from fairpool.linear_algebra.cholesky import lower_factor

    with pytest.raises(ValueError, match="has values that are not finite"):
        lower_factor(Overflowing()(X))


@pytest.mark.parametrize(
    "kernel", [-0.5 * RBF(), ConstantKernel(-1.0) * RBF(), np.inf * RBF(), 0.0 * RBF()]
)
def test_a_factor_that_is_not_positive_is_refused(kernel):
    with pytest.raises(ValueError, match="must be finite and above 0"):
        fp.GaussianProcess(kernel, 10.0)


def test_a_power_is_looked_at_unless_it_is_whole():
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match=r"is not positive definite|not finite"),
    ):
        fp.InformationGain(
            fp.GaussianProcess(DotProduct(0.0) ** 3.5, 1.0), [fp.Party("a", X, y)]
        ).values()
    assert (
        fp.InformationGain(
            fp.GaussianProcess(DotProduct(1.0) ** 2, 1.0), [fp.Party("a", X, y)]
        ).total
        > 0
    )


PARTIES = [fp.Party("a", X, y), fp.Party("b", X + 1, y)]
GP = fp.GaussianProcess(RBF(), 0.1)
GAME = fp.InformationGain(GP, PARTIES)
TABLE = fp.TableGame([0, 7, 5, 8])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fp.collaborate(PARTIES, None), "None is not a model"),
        (lambda: fp.collaborate(PARTIES[0], GP), "give the parties as a list"),
        (lambda: fp.collaborate(PARTIES, GP, rng="x"), "rng 'x' is neither"),
        (
            lambda: fp.collaborate(PARTIES, GP, rho=None),
            "rho None is not a number; give one in 0 .. 1",
        ),
        (
            lambda: fp.collaborate(PARTIES, GP, rho=[0.5]),
            r"rho \[0.5\] is not a number; give one in 0 .. 1",
        ),
        (
            lambda: fp.collaborate(PARTIES, GP, rho=True),
            "rho True is not a number; give one in 0 .. 1",
        ),
        (lambda: fp.realise(TABLE, ["x", "y"], 0), "are not one finite number for each"),
        (
            lambda: fp.realise(GAME, [GAME.total] * 2, 0, draws=1.5),
            "draws 1.5 is not a whole number",
        ),
        (lambda: TABLE.value(None), "None is not a coalition"),
        (lambda: TABLE.value({0.5}), "no party 0.5"),
        (lambda: fp.TableGame([0, 1], names=[1]), "must be texts that are not empty"),
        (lambda: fp.TableGame([0, 1], names=[" "]), "must be texts that are not empty"),
        (lambda: fp.shapley([0, 1]), "is not a game"),
        (lambda: fp.RewardScheme([0, 1], [1]), "is not a game"),
        (lambda: fp.RewardScheme(TABLE, {}), "are not one finite number for each"),
        (
            lambda: fp.shapley(TABLE, "sampled", evaluations=np.inf),
            "evaluations inf is not a whole number",
        ),
        (lambda: fp.BayesianLinearRegression(0.1, features=3), "features 3 is neither a callable"),
        (
            lambda: fp.BayesianLinearRegression(0.1, bias="no"),
            "bias 'no' is neither True nor False",
        ),
        (
            lambda: fp.BayesianLinearRegression(0.1, prior_mean={}),
            "prior_mean is not made of numbers",
        ),
        (lambda: fp.inducing_points(X, "x"), "count 'x' is not a whole number"),
        (lambda: fp.mnlp([1.0], 1.0, [1.0]), "mnlp needs y"),
        (lambda: fp.mnlp([1.0], [1.0], [0.0]), "mnlp needs variances above 0"),
        (lambda: GP.log_marginal_likelihood(X, X), "needs one label per row"),
        (
            lambda: fp.check_strict_monotonicity(TABLE, 0, [1], TABLE, [1, 2]),
            "are not one finite number",
        ),
        (
            lambda: fp.check_strict_monotonicity(TABLE, 0, [1, 2], fp.TableGame([0, 1]), [1]),
            "are of 2 and 1 parties",
        ),
        (lambda: fp.Party("a", X + 1j, y), "X is not made of numbers"),
        (lambda: fp.Party("a", X.astype(str), y), "X is not made of numbers"),
        (lambda: fp.Party("a", np.ma.masked_less(X, 0), y), "X has masked values"),
        (
            lambda: fp.Party("a", X, np.arange(12).astype("datetime64[D]")),
            "y is not made of numbers",
        ),
    ],
)
def test_wrong_types_are_refused_in_words(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_welfare_of_nothing_is_no_division_by_zero():
    assert fp.check_incentives(fp.TableGame([0, 0]), [0], [-1])["R7"].holds is False


def test_an_iterator_of_parties_serves():
    assert fp.InformationGain(GP, iter(PARTIES)).n == 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": " "}, "give it a name"),
        ({"gram": [[1.0, 2.0], [2.0, 1.0]], "moment": [1.0, 1.0]}, "is not a sum of squares"),
        ({"moment": np.full(4, np.nan)}, "moment has values that are not finite"),
        ({"moment": np.ones(3)}, "do not fit"),
        ({"noise_variance": 0}, "noise_variance 0 is not a finite number above 0"),
        ({"rows": -1}, "rows -1 is not a whole number"),
    ],
)
def test_a_summary_from_outside_is_checked(change, text):
    summary = fp.BayesianLinearRegression(0.5).summarise(PARTIES[0])
    with pytest.raises(ValueError, match=text):
        dataclasses.replace(summary, **change)


def test_reprs_show_nobodys_numbers():
    summary = fp.BayesianLinearRegression(0.5).summarise(PARTIES[0])
    assert repr(summary) == "PartySummary('a', 12 rows, 4 weights)"
    assert repr(GP.posterior(X, y)) == "KernelPosterior(12 rows x 3 inputs)"
    assert (
        repr(fp.BayesianLinearRegression(0.5).posterior(X, y))
        == "WeightPosterior(4 weights, 3 inputs)"
    )
