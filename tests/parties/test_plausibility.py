"""Summaries that a party invents: which are refused, and what a lie can still do."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, DotProduct

import fairpool as fp
from tests.support.examples import COVARIANCE, INDUCING, MODELS, P, make_parties

WEIGHTS = [name for name, model in MODELS.items() if hasattr(model, "summarise")]
BOUNDED = MODELS["sparse"]
"""Every row's features have a squared length of 1.3 at most."""


def with_lie(model, change, sizes=(40, 15, 30)):
    """A game in which the second party changes its summary."""
    summaries = [model.summarise(party) for party in make_parties(sizes, 0)]
    return lambda: fp.InformationGain(model, [summaries[0], change(summaries[1]), summaries[2]])


def scaled(summary, by):
    """The sums of rows whose features are so many times as large."""
    by = np.broadcast_to(by, len(summary.moment))
    return replace(summary, gram=np.outer(by, by) * summary.gram, moment=by * summary.moment)


def believed(values):
    """What the second party's data are worth alone."""
    return values.alone[1]


def hundredfold():
    """What a hundred times the second party's Gram matrix would be worth."""
    honest = with_lie(BOUNDED, lambda summary: summary)()
    P_1 = 100 * honest.pool.statistics[1].told.precision
    return 0.5 * np.linalg.slogdet(np.eye(len(P_1)) + P_1)[1]


def test_a_hundred_times_the_gram_matrix_is_refused_where_features_are_bounded():
    honest = with_lie(BOUNDED, lambda summary: summary)()
    assert believed(honest) == pytest.approx(4.08, abs=0.01)
    assert hundredfold() == pytest.approx(15.49, abs=0.01)
    with pytest.raises(
        ValueError,
        match=r'the summary of "p1": of 15 row\(s\) the trace of gram is 19\.5 at most \(with this'
        r" model 1\.3 for each\), but it is \d+\.?\d*; summarise the rows again",
    ):
        with_lie(BOUNDED, lambda summary: scaled(summary, 10))()


@pytest.mark.parametrize(
    "model",
    [MODELS["blr"], MODELS["blr-prior"], MODELS["network"], fp.BayesianLinearRegression(0.5, 7.0)],
)
def test_a_hundred_times_the_gram_matrix_is_refused_where_there_is_a_bias(model):
    assert with_lie(model, lambda summary: summary)().n == 3
    with pytest.raises(
        ValueError,
        match=r'the summary of "p1": by the last feature, which is the same in every row, there are'
        r" 1500 row\(s\), but rows is 15; summarise the rows again",
    ):
        with_lie(model, lambda summary: scaled(summary, 10))()


@pytest.mark.parametrize("stated", [14, 16, 1500])
def test_the_bias_counts_rows(stated):
    with pytest.raises(ValueError, match=rf"there are 15 row\(s\), but rows is {stated}"):
        with_lie(MODELS["blr"], lambda summary: replace(summary, rows=stated))()


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_moment_needs_labels_of_its_size(name):
    """Cauchy and Schwarz, for every direction of weights at once."""
    summary = MODELS[name].summarise(make_parties([100], 1)[0])
    needed = summary.moment @ np.linalg.pinv(summary.gram, 1e-9) @ summary.moment
    for change in ({"moment": 100 * summary.moment}, {"squares": 0.9 * needed}, {"squares": 0}):
        with pytest.raises(
            ValueError,
            match=r'the summary of "p0": with this gram, the moment needs labels whose squares sum'
            r" to .* at least, but squares is .*; summarise the rows again",
        ):
            replace(summary, **change)
    replace(summary, squares=1.1 * needed)


def test_the_least_squares_of_a_moment_are_told():
    summary = MODELS["blr"].summarise(make_parties([100], 1)[0])
    needed = summary.moment @ np.linalg.solve(summary.gram, summary.moment)
    with pytest.raises(ValueError, match=f"sum to {needed:.6g} at least, but squares is 1;"):
        replace(summary, squares=1)


def test_a_moment_where_no_row_has_the_feature_is_refused():
    summary = MODELS["blr"].summarise(fp.Party("a", np.zeros((9, P)), np.ones(9)))
    moment = summary.moment.copy()
    moment[1] = 1e-9
    with pytest.raises(ValueError, match="with this gram, the moment needs labels"):
        replace(summary, moment=moment)


@pytest.mark.parametrize(
    ("change", "rank", "rows"),
    [
        (lambda s: replace(s, gram=s.gram + 0.1 * np.eye(7)), 8, 5),
        (lambda s: replace(s, rows=4), 5, 4),
        (lambda s: replace(s, rows=0), 5, 0),
        (lambda s: replace(s, squares=2 * s.squares), 6, 5),
        (lambda s: replace(s, gram=100 * s.gram), 6, 5),
    ],
)
def test_sums_of_few_rows_have_a_small_rank(change, rank, rows):
    summary = BOUNDED.summarise(make_parties([5], 0)[0])
    with pytest.raises(
        ValueError, match=rf"are sums over {rank} rows at least \(their rank\), but rows is {rows};"
    ):
        change(summary)


@pytest.mark.parametrize("squares", [-1e-9, np.nan, np.inf, "many", None])
def test_squares_are_a_number_from_zero(squares):
    summary = MODELS["blr"].summarise(make_parties([5], 0)[0])
    with pytest.raises(ValueError, match=r'"p0": squares .* is not a finite number from 0'):
        replace(summary, squares=squares)


@given(
    name=st.sampled_from(WEIGHTS),
    size=st.integers(0, 40),
    seed=st.integers(0, 10**6),
    power=st.integers(-12, 12),
    label_power=st.integers(-30, 30),
    copies=st.integers(1, 3),
    shift=st.sampled_from([0.0, 1e6]),
)
def test_honest_sums_are_never_refused(name, size, seed, power, label_power, copies, shift):
    model = MODELS[name]
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((size, P))
    X[:, seed % P] *= 10.0**power
    X[:, (seed + 1) % P] += shift
    X = np.repeat(X, copies, axis=0)  # rows that repeat lower the rank
    y = 10.0**label_power * (rng.standard_normal(len(X)) + shift)
    whole = model.summarise(fp.Party("a", X, y))
    half = len(X) // 2
    parts = model.summarise(fp.Party("a", X[:half], y[:half])) + model.summarise(
        fp.Party("a", X[half:], y[half:])
    )
    for summary in (whole, parts):
        assert summary.squares == pytest.approx(((y - model.prior_mean_at(X)) ** 2).sum())
        fp.InformationGain(model, [summary])


def test_honest_sums_far_from_all_inducing_points_are_not_refused():
    """Features of 1e-170 have squares of 0, but products with others that are not."""
    U = np.array([[0.0], [28.0], [56.0]])
    model = fp.SparseGaussianProcess(RBF(1.0), 0.1, U)
    X = np.linspace(-8, 64, 12)[:, None]
    for rows in (X[:1], X[:4], X, X[:3] - 25):
        summary = model.summarise(fp.Party("a", rows, np.ones(len(rows))))
        assert (np.diag(summary.gram) < 1e-300).any() or len(rows) > 4
        fp.InformationGain(model, [summary])


def test_millions_of_rows_are_counted():
    model = fp.BayesianLinearRegression(0.1, 0.3)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 2)) + 1000
    batch = model.summarise(fp.Party("a", X, X[:, 0]))
    summary = batch
    for _ in range(49):
        summary = summary + batch
    assert summary.rows == 10_000_000
    fp.InformationGain(model, [summary])


# What a lie can still do; docs/operator-guide.md says so.


def test_a_lie_within_the_bounds_is_believed():
    """Rows that nobody has, at the best places: worth no more than as many rows can be."""
    honest = with_lie(BOUNDED, lambda summary: summary)()

    def best(summary):
        gram = summary.rows * 1.3 / 7 * np.eye(7)
        return replace(summary, gram=gram, moment=0 * summary.moment)

    lying = with_lie(BOUNDED, best)()
    bound = 7 / 2 * np.log1p(15 * 1.3 / 7 / BOUNDED.noise_variance)
    assert believed(lying) == pytest.approx(bound)
    assert bound == pytest.approx(8.16, abs=0.01)
    assert believed(honest) < bound < hundredfold()


@pytest.mark.parametrize(
    ("model", "lie"),
    [
        (MODELS["blr"], [10, 10, 10, 1]),
        (fp.BayesianLinearRegression(0.5, bias=False), 10),
        (fp.SparseGaussianProcess(DotProduct(0.5), 0.3, INDUCING), 10),
    ],
)
def test_inputs_as_large_as_one_likes_are_believed_where_nothing_bounds_them(model, lie):
    honest = with_lie(model, lambda summary: summary)()
    lying = with_lie(model, lambda summary: scaled(summary, lie))()
    assert believed(lying) > 1.5 * believed(honest)


def test_a_small_noise_variance_of_ones_own_is_believed():
    honest = with_lie(BOUNDED, lambda summary: summary)()
    lying = with_lie(BOUNDED, lambda summary: replace(summary, noise_variance=0.003))()
    assert believed(lying) > 2 * believed(honest)


def test_a_correlated_prior_leaves_the_bias_a_feature_of_its_own():
    model = fp.BayesianLinearRegression(0.5, COVARIANCE)
    A = model.whitened_features(np.random.default_rng(0).standard_normal((9, P)))
    np.testing.assert_allclose(A[:, -1] ** 2, model.feature_bounds(P).constant)


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("inputs", 2.5, "inputs 2.5 is not a whole number from 0"),
        ("inputs", 2**62, "inputs 4611686018427387904 is above 1000000"),
        ("rows", 10**400, "above 9007199254740992"),
        ("noise_variance", 10**400, "is not a finite number above 0"),
        ("squares", 10**400, "is not a finite number from 0"),
        ("gram", 10**400, "is not made of numbers"),
        ("moment", np.full(4, 1e300), "at least, but squares is"),
        ("moment", np.array([1e308, -1e308, 1e308, 1e308]), "the moment needs labels"),
    ],
)
def test_numbers_that_are_no_counts_or_too_large_are_refused(field, value, what):
    honest = MODELS["blr"].summarise(make_parties([8], 0)[0])
    with pytest.raises(fp.FairpoolError, match=what):
        replace(honest, **{field: value})
