import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel

import fairpool as fp
from tests.support.check_model import check_model
from tests.support.examples import MODELS, P, labels


@pytest.mark.parametrize("name", MODELS)
def test_every_model_passes_check_model(name):
    check_model(MODELS[name])


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, P))
    return X, labels(X, rng), rng.standard_normal((15, P))


@pytest.mark.parametrize(
    "kernel",
    [1.3 * RBF([0.8, 1.2, 2.0]), 0.5 * RBF(2.0) + Matern(1.5, nu=0.5), Matern(2.0, nu=1.5)],
)
def test_gp_equals_scikit_learn(kernel, data):
    X, y, X_star = data
    theirs = GaussianProcessRegressor(kernel + WhiteKernel(0.3), optimizer=None, alpha=0).fit(X, y)
    ours = fp.GaussianProcess(kernel, 0.3)
    mean, variance = ours.posterior(X, y).predict(X_star)
    expected, deviation = theirs.predict(X_star, return_std=True)
    np.testing.assert_allclose(mean, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(variance, deviation**2, rtol=1e-8)
    np.testing.assert_allclose(
        ours.log_marginal_likelihood(X, y), theirs.log_marginal_likelihood_value_, rtol=1e-8
    )


def test_dtc_with_every_input_inducing_equals_gp(data):
    X, y, X_star = data
    kernel = 1.3 * RBF([0.8, 1.2, 2.0])
    gp, dtc = fp.GaussianProcess(kernel, 0.3), fp.SparseGaussianProcess(kernel, 0.3, X)
    for a, b in zip(
        gp.posterior(X, y).predict(X_star), dtc.posterior(X, y).predict(X_star), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        gp.log_marginal_likelihood(X, y), dtc.log_marginal_likelihood(X, y), rtol=1e-8
    )
    parties = [fp.Party("a", X[:15], y[:15]), fp.Party("b", X[15:], y[15:])]
    np.testing.assert_allclose(
        fp.InformationGain(gp, parties).values(),
        fp.InformationGain(dtc, parties).values(),
        rtol=1e-8,
    )


def test_gp_with_a_linear_kernel_equals_blr(data):
    X, y, X_star = data
    gp = fp.GaussianProcess(DotProduct(sigma_0=0.7), 0.3)
    blr = fp.BayesianLinearRegression(0.3, [1.0, 1.0, 1.0, 0.49])
    for a, b in zip(
        gp.posterior(X, y).predict(X_star), blr.posterior(X, y).predict(X_star), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        gp.log_marginal_likelihood(X, y), blr.log_marginal_likelihood(X, y), rtol=1e-9
    )
    parties = [fp.Party("a", X[:15], y[:15]), fp.Party("b", X[15:], y[15:])]
    np.testing.assert_allclose(
        fp.InformationGain(gp, parties).values(),
        fp.InformationGain(blr, parties).values(),
        rtol=1e-9,
    )


def test_blr_in_kernel_space_equals_weight_space():
    from fairpool.information import KernelSpace, WeightSpace
    from tests.support.examples import make_parties

    wide = MODELS["blr-wide"]
    few, many = make_parties([5, 8, 0, 3], 2), make_parties([50, 40, 30], 2)
    assert isinstance(fp.InformationGain(wide, few).space, KernelSpace)
    assert isinstance(fp.InformationGain(wide, many).space, WeightSpace)
    summaries = [wide.summarise(party) for party in few]  # summaries are always in weight space
    game = fp.InformationGain(wide, summaries)
    assert isinstance(game.space, WeightSpace)
    np.testing.assert_allclose(
        game.values(), fp.InformationGain(wide, few).values(), rtol=1e-9, atol=1e-9
    )


def test_mnlp_is_minus_the_mean_log_density():
    from scipy.stats import norm

    y, mean, variance = np.array([1.0, -2.0]), np.array([0.5, 0.0]), np.array([0.3, 2.0])
    assert fp.mnlp(y, mean, variance) == pytest.approx(
        -norm.logpdf(y, mean, np.sqrt(variance)).mean()
    )
    np.testing.assert_allclose(
        fp.mnlp(y, np.column_stack([mean, y]), variance),
        [fp.mnlp(y, mean, variance), fp.mnlp(y, y, variance)],
    )


def test_summaries_of_batches_add_up(data):
    X, y, X_star = data
    model = MODELS["blr-prior"]
    whole = model.summarise(fp.Party("a", X, y))
    parts = model.summarise(fp.Party("a", X[:7], y[:7])) + model.summarise(
        fp.Party("a", X[7:], y[7:])
    )
    np.testing.assert_allclose(whole.gram, parts.gram)
    np.testing.assert_allclose(whole.moment, parts.moment)
    assert len(parts) == len(whole) == 40
    s2 = model.noise_variance
    posterior = model.posterior_from_moments(whole.gram / s2, whole.moment / s2, P)
    np.testing.assert_allclose(
        posterior.predict(X_star), model.posterior(X, y).predict(X_star), rtol=1e-9
    )
    with pytest.raises(ValueError, match='summaries of "a" and "b" are not of one party'):
        whole + model.summarise(fp.Party("b", X, y))
    empty = fp.Party("a", X[:0], y[:0], 0.7)  # says nothing, of its noise neither
    assert len(whole + model.summarise(empty)) == len(model.summarise(empty) + whole) == 40
    with pytest.raises(ValueError, match=r'batches of "a" have noise variances 0.5 and 0.7'):
        whole + model.summarise(fp.Party("a", X, y, 0.7))
    with pytest.raises(ValueError, match="was made with another model"):
        whole + fp.BayesianLinearRegression(0.5, 100.0).summarise(fp.Party("a", X, y))
    with pytest.raises(ValueError, match='party "a" has a noise variance per row'):
        model.summarise(fp.Party("a", X, y, np.linspace(0.1, 1, 40)))


def improvement(rows, seed):
    """How much the pool of two parties predicts better than one of them; and tells more.

    Each has so many rows.
    """
    rng = np.random.default_rng(seed)

    def draw(rows):
        X = rng.standard_normal((rows, P))
        return X, X @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(rows)

    parties = [fp.Party(str(i), *draw(rows)) for i in range(2)]
    X, y = draw(100)
    game = fp.InformationGain(fp.BayesianLinearRegression(0.25), parties)
    alone, together = (fp.mnlp(y, *game.posterior(C).predict(X)) for C in ([0], [0, 1]))
    return alone - together, game.total - game.alone[0]


def test_with_ample_data_more_information_may_predict_no_better():
    """App. F.2: of few rows the pool mostly predicts better; of ample ones as often as not."""
    few, ample = (np.array([improvement(rows, seed) for seed in range(40)]) for rows in (4, 2000))
    assert (few[:, 1] > 0.5).all()
    assert (ample[:, 1] > 0.5).all()  # it always tells more
    assert (few[:, 0] > 0).sum() >= 34
    assert 10 <= (ample[:, 0] > 0).sum() <= 30
