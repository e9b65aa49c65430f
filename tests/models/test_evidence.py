"""Noise and prior scale from sums alone, against the rows that the sums are of."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

import fairpool as fp
from fairpool.models import kernels
from fairpool.models.evidence import Evidence
from fairpool.models.hyperparameters import NOISE_BOUNDS
from tests.support import oracles
from tests.support.examples import MODELS, P, make_parties

WEIGHTED = [name for name in MODELS if not name.startswith("gp")]


def telling_parties():
    """Parties whose labels every model here explains in part."""
    parties = make_parties([40, 25, 30], 5)
    return [fp.Party(each.name, each.X, each.y + 1.5 * each.X[:, 0]) for each in parties]


def pooled(parties):
    return np.concatenate([party.X for party in parties]), np.concatenate([p.y for p in parties])


def summaries_of(model, parties):
    return [model.summarise(party) for party in parties]


def best_of_rows(model, X, y):
    """The noise variance and the factor on the prior, by dense matrices of all rows."""
    K = oracles.prior_covariance(model, X)
    residual = y - oracles.predict(model, X[:0], y[:0], np.empty(0), X)[0]

    def minus_evidence(logarithms):
        s2, f = np.exp(logarithms)
        C = s2 * np.eye(len(X)) + f * K
        inverse = np.linalg.inv(C)
        a = inverse @ residual
        value = 0.5 * (residual @ a + np.linalg.slogdet(C)[1])
        by_noise = 0.5 * s2 * (np.trace(inverse) - a @ a)
        by_factor = 0.5 * f * (np.sum(inverse * K) - a @ K @ a)
        return value, np.array([by_noise, by_factor])

    starts = [[noise, factor] for noise in (-3.0, 0.0) for factor in (-4.0, 0.0, 2.0)]
    ends = [minimize(minus_evidence, s, jac=True, options={"gtol": 1e-9}) for s in starts]
    return np.exp(min(ends, key=lambda end: end.fun).x)


@pytest.mark.parametrize("name", WEIGHTED)
def test_the_likelihood_of_sums_is_that_of_rows(name):
    model = MODELS[name]
    parties = make_parties([20, 7, 0, 30], 4)
    X, y = pooled(parties)
    evidence = model.evidence(summaries_of(model, parties))
    for noise, factor in ((model.noise_variance, 1.0), (0.02, 3.0), (4.0, 0.01)):
        changed = model.with_prior_scaled(factor).with_noise(noise)
        expected = changed.log_marginal_likelihood(X, y)
        assert evidence.log_likelihood(noise, factor) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", WEIGHTED)
def test_sums_have_the_optimum_that_rows_have(name):
    model = MODELS[name]
    parties = telling_parties()
    learned = model.learn_from_sums(summaries_of(model, parties))
    assert not learned.notes
    noise, factor = best_of_rows(model, *pooled(parties))
    assert learned.model.noise_variance == pytest.approx(noise, rel=1e-6)
    X = pooled(parties)[0]
    np.testing.assert_allclose(
        oracles.prior_covariance(learned.model, X),
        factor * oracles.prior_covariance(model, X),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("name", ["blr-prior", "sparse"])
def test_rows_and_sums_can_be_mixed(name):
    model = MODELS[name]
    parties = telling_parties()
    of_sums = model.fit_from_sums(summaries_of(model, parties))
    mixed = [parties[0], model.summarise(parties[1]), parties[2]]
    for given_ in (mixed, parties):
        fitted = model.fit_from_sums(given_)
        assert fitted.noise_variance == pytest.approx(of_sums.noise_variance, rel=1e-9)


def test_the_noise_alone_is_what_a_regression_learns_from_rows():
    model = MODELS["blr-prior"]
    parties = make_parties([60, 25], 5)
    of_rows = model.fit_hyperparameters(*pooled(parties))
    of_sums = model.fit_from_sums(summaries_of(model, parties), scale_prior=False)
    assert of_sums.noise_variance == pytest.approx(of_rows.noise_variance, rel=1e-9)
    np.testing.assert_array_equal(of_sums.prior_variance, model.prior_variance)


@pytest.mark.parametrize("name", WEIGHTED)
def test_the_same_sums_serve_the_model_that_was_learned(name):
    model = MODELS[name]
    parties = telling_parties()
    summaries = summaries_of(model, parties)
    learned = model.fit_from_sums(summaries)
    with pytest.raises(ValueError, match="was made with another model"):
        fp.InformationGain(learned, summaries)
    again = [summary.under(learned) for summary in summaries]
    for rescaled, party in zip(again, parties, strict=True):
        anew = learned.summarise(party)
        np.testing.assert_allclose(rescaled.gram, anew.gram, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(rescaled.moment, anew.moment, rtol=1e-9, atol=1e-9)
        assert rescaled.noise_variance == learned.noise_variance
    np.testing.assert_allclose(
        fp.InformationGain(learned, again).values(),
        fp.InformationGain(learned, parties).values(),
        rtol=1e-9,
        atol=1e-9,
    )
    # It is an optimum: learning again changes nothing.
    twice = learned.fit_from_sums(again)
    assert twice.noise_variance == pytest.approx(learned.noise_variance, rel=1e-8)
    X = parties[0].X
    np.testing.assert_allclose(twice.prior_variance_at(X), learned.prior_variance_at(X), rtol=1e-8)


def test_sums_of_another_model_cannot_be_rescaled():
    model = MODELS["sparse"]
    (party,) = make_parties([30], 1)
    summary = model.summarise(party)
    longer = replace(model, kernel=1.3 * RBF([0.8, 1.2, 2.1]))
    more = replace(model, inducing_points=np.vstack([model.inducing_points, np.zeros(P)]))
    prior = fp.BayesianLinearRegression(0.5, prior_mean=0.5)
    for other in (longer, more):
        with pytest.raises(ValueError, match="was made with another model"):
            summary.under(other)
    with pytest.raises(ValueError, match="was made with another model"):
        fp.BayesianLinearRegression(0.5).summarise(party).under(prior)
    silent = fp.BayesianLinearRegression(0.5, features=lambda X: 0 * X, bias=False)
    assert silent.summarise(party).under(silent).rows == 30


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 30), st.floats(-3, 3), st.floats(-3, 3))
@example(0, 1, 0.0, 0.0)
def test_nothing_within_the_bounds_is_better(seed, rows, log_scale, log_signal):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, P)) * np.exp(log_scale)
    y = X[:, 0] * np.exp(log_signal) + rng.standard_normal(rows)
    model = fp.BayesianLinearRegression(0.5, prior_mean=0.1)
    evidence = model.evidence([model.summarise(fp.Party("a", X, y))])
    bounds = ((1e-3, 1e3), (1e-2, 1e2))
    best = evidence.best(noise_bounds=bounds[0], factor_bounds=bounds[1])
    assert bounds[0][0] <= best.noise <= bounds[0][1]
    assert bounds[1][0] <= best.factor <= bounds[1][1]
    achieved = evidence.log_likelihood(best.noise, best.factor)
    tried = [[best.noise, best.factor]]
    tried += np.exp(rng.uniform(*np.log(bounds).T, (100, 2))).tolist()
    tried += [[noise, factor] for noise in bounds[0] for factor in bounds[1]]
    tried += [[best.noise, factor] for factor in np.geomspace(*bounds[1], 30)]
    tried += [[noise, best.factor] for noise in np.geomspace(*bounds[0], 30)]
    for noise, factor in tried:
        changed = model.with_prior_scaled(factor).with_noise(noise)
        of_rows = changed.log_marginal_likelihood(X, y)
        # Of labels that can be interpolated, sums know what is left to rounding of their squares.
        rounding = 1e-15 * float(y @ y) / min(noise, best.noise)
        assert of_rows <= achieved + 1e-9 * (1 + abs(achieved)) + rounding


@given(SEEDS, st.sampled_from([1e-2, 0.3, 7.0, 50.0]), st.sampled_from([1e-6, 1e-3, 1e4]))
def test_units_do_not_matter(seed, of_labels, of_inputs):
    """Labels in another unit have other variances; inputs, a prior that fits."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, P))
    y = X @ [1.0, -0.5, 0.2] + 0.5 * rng.standard_normal(60)
    model = fp.BayesianLinearRegression(0.3, [2.0, 2.0, 2.0, 0.5])
    learned = model.fit_from_sums([model.summarise(fp.Party("a", X, y))])
    k = of_inputs
    other = replace(model, prior_variance=[2.0 / k**2, 2.0 / k**2, 2.0 / k**2, 0.5])
    in_units = other.fit_from_sums([other.summarise(fp.Party("a", k * X, of_labels * y))])
    np.testing.assert_allclose(
        in_units.noise_variance, of_labels**2 * learned.noise_variance, rtol=1e-6
    )
    np.testing.assert_allclose(
        in_units.prior_variance_at(k * X), of_labels**2 * learned.prior_variance_at(X), rtol=1e-5
    )


def test_many_rows_are_learned_from_as_well_as_few():
    """The search looks at slopes: values of half a million rows differ by less than rounding."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(200)
    G = np.full(200, 5e5)
    q = G * weights
    squares = float(q @ weights + 5e5 * 0.25)
    model = fp.BayesianLinearRegression(0.3, bias=False)
    summary = fp.PartySummary(
        name="a",
        gram=np.diag(G),
        moment=q,
        squares=squares,
        noise_variance=0.3,
        rows=500_000,
        inputs=200,
        probe=model.probe(200),
    )
    learned = model.fit_from_sums([summary])
    # With so many rows, weights are known, and both scales are their means' squares.
    assert learned.noise_variance == pytest.approx(0.25 * 5e5 / (5e5 - 200), rel=1e-6)
    expected = np.mean(weights**2) - learned.noise_variance / 5e5
    assert float(learned.prior_variance) == pytest.approx(expected, rel=1e-6)


def test_without_rows_nothing_is_learned():
    model = MODELS["blr"]
    nobody = make_parties([0, 0], 1)
    for given_ in (nobody, summaries_of(model, nobody)):
        with pytest.raises(ValueError, match="there are no rows to learn from"):
            model.fit_from_sums(given_)
    with pytest.raises(ValueError, match="there are no parties"):
        model.fit_from_sums([])
    with pytest.raises(ValueError, match=r"noise_bounds \(0, 1\) must be two finite numbers"):
        model.fit_from_sums(make_parties([5], 1), noise_bounds=(0, 1))
    # Rows without noise of their own count as none, too: theirs is infinite.
    silent = fp.Party("a", np.ones((3, P)), np.ones(3), np.full(3, np.inf))
    with pytest.raises(ValueError, match="there are no rows to learn from"):
        model.fit_from_sums([silent])
    heard = make_parties([20], 3)[0]
    with_silent = fp.Party(
        "p0",
        np.vstack([heard.X, silent.X]),
        np.append(heard.y, silent.y),
        np.append(np.full(20, 0.5), np.full(3, np.inf)),
    )
    learned, expected = (model.fit_from_sums([one]) for one in (with_silent, heard))
    assert learned.noise_variance == pytest.approx(expected.noise_variance, rel=1e-9)


def test_a_noise_of_ones_own_is_refused():
    model = MODELS["blr"]
    a, b = make_parties([20, 20], 1)
    own = replace(model.summarise(b), noise_variance=0.7)
    with pytest.raises(ValueError, match='party "p1": its labels have a noise variance of their'):
        model.fit_from_sums([a, own])


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_a_noise_at_its_bound_is_told(scale):
    model = MODELS["blr"]
    (party,) = make_parties([60], 3)
    other = fp.Party("a", party.X, scale * party.y)
    with pytest.warns(fp.FairpoolWarning, match="the best noise variance found, .* is at the end"):
        learned = model.fit_from_sums([model.summarise(other)])
    bound = NOISE_BOUNDS[1] if scale > 1 else NOISE_BOUNDS[0]
    assert learned.noise_variance == pytest.approx(bound, rel=1e-6)


def test_labels_that_tell_nothing_leave_the_prior_at_its_bound():
    """Two rows of opposite labels at one place: no feature explains any of it."""
    model = fp.BayesianLinearRegression(0.5)
    party = fp.Party("a", np.ones((40, 1)), np.tile([1.0, -1.0], 20))
    with pytest.warns(fp.FairpoolWarning, match="the best factor on the prior variance found, 1e"):
        learned = model.fit_from_sums([model.summarise(party)])
    assert learned.noise_variance == pytest.approx(1.0, rel=1e-3)
    # Features that are 0 say nothing of the factor: it stays, and only the noise is learned.
    silent = fp.BayesianLinearRegression(0.5, features=lambda X: 0 * X, bias=False)
    learned = silent.fit_from_sums([silent.summarise(party)])
    assert learned.noise_variance == 1.0
    assert float(learned.prior_variance) == 1.0


def test_constant_labels_are_all_bias_or_nothing():
    model = fp.BayesianLinearRegression(0.5)
    X = np.random.default_rng(0).standard_normal((50, P))
    for value in (0.0, 3.0):
        party = fp.Party("a", X, np.full(50, value))
        with pytest.warns(fp.FairpoolWarning, match="the best noise variance found, 1e-05"):
            learned = model.fit_from_sums([model.summarise(party)])
        mean, _ = learned.posterior(X, party.y).predict(X[:5])
        np.testing.assert_allclose(mean, value, atol=1e-3)


def test_labels_without_noise_do_not_mislead_by_rounding():
    """What rounding leaves of the labels is no negative square."""
    X = np.random.default_rng(0).standard_normal((500, P))
    evidence = Evidence.of(X.T @ X, X.T @ (X @ [1, 2, 3]), squares=7000.0 - 1e-9, rows=500)
    assert evidence.outside >= 0
    exact = fp.Party("a", X, X @ [1.0, 2.0, 3.0])
    model = fp.BayesianLinearRegression(0.5)
    learned = model.learn_from_sums([model.summarise(exact)])
    assert [note.code for note in learned.notes] == ["noise at its bound"]


def test_every_kernel_can_be_scaled():
    X = np.random.default_rng(0).standard_normal((5, P))
    fixed = ConstantKernel(2.0, "fixed")
    for kernel, parameters in (
        (RBF(1.0), 2),
        (1.3 * RBF([1.0, 2.0, 3.0]), 4),
        (RBF(1.0) * 1.3, 2),
        (RBF(1.0) * Matern(2.0), 3),
        (0.5 * RBF(1.0) + 0.2 * Matern(2.0), 4),
        (0.5 * RBF(1.0) + DotProduct(), 4),
        ((0.5 * RBF(1.0) + 0.2 * Matern(2.0)) * RBF(3.0), 5),
        (RBF(3.0) * (0.5 * RBF(1.0) + 0.2 * Matern(2.0)), 5),
        (fixed * RBF(1.0), 1),
        (RBF(1.0) ** 2, 2),
    ):
        scaled = kernels.scaled(kernel, 3.0)
        np.testing.assert_allclose(scaled(X), 3.0 * kernel(X), rtol=1e-12)
        assert len(scaled.theta) == parameters


def test_a_model_that_cannot_be_scaled_says_so():
    from tests.seams.test_model_kind_seam import Average

    model = Average(0.5, 1.0)
    parties = make_parties([40], 1)
    with pytest.raises(ValueError, match="the prior of a Average cannot be scaled by"):
        model.fit_from_sums(parties)
    fitted = model.fit_from_sums(parties, scale_prior=False)
    assert fitted.noise_variance == pytest.approx(np.var(parties[0].y), rel=0.1)


@pytest.fixture
def class_parties():
    made = []
    for party in make_parties([40, 30, 50], 7):
        y = np.digitize(party.y, [-0.5, 0.6]).astype(float)
        made.append(fp.Party(party.name, party.X, y))
    return made


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", ["blr", "sparse", "network"])
def test_classes_have_the_optimum_that_rows_have(name, own, class_parties):
    base = MODELS[name]
    bases = base
    if own:
        bases = [base, base.with_prior_scaled(2.0), base.with_prior_scaled(0.3)]
    model = fp.Classifier(bases, 3)
    summaries = summaries_of(model, class_parties)
    learned = model.fit_from_sums(summaries)
    mixed = model.fit_from_sums([class_parties[0], *summaries[1:]])
    X, y = pooled(class_parties)
    achieved = learned.log_marginal_likelihood(X, y)
    assert mixed.log_marginal_likelihood(X, y) == pytest.approx(achieved, rel=1e-12)
    assert achieved > model.log_marginal_likelihood(X, y)
    for step in (1e-3, -1e-3):
        models = [one.with_prior_scaled(np.exp(step)) for one in learned.of_classes]
        if not own:
            moved = replace(learned, model=models[0])
            assert moved.log_marginal_likelihood(X, y) < achieved
            continue
        for c, one in enumerate(models):
            each = [*learned.of_classes]
            each[c] = one
            assert replace(learned, model=each).log_marginal_likelihood(X, y) < achieved
    if name == "blr":
        of_rows = model.fit_hyperparameters(X, y)
        assert of_rows.log_marginal_likelihood(X, y) == pytest.approx(achieved, rel=1e-12)
    again = [summary.under(learned) for summary in summaries]
    np.testing.assert_allclose(
        fp.InformationGain(learned, again).values(),
        fp.InformationGain(learned, class_parties).values(),
        rtol=1e-9,
        atol=1e-9,
    )
    if own:
        with pytest.raises(ValueError, match="was made with another model"):
            summaries[0].under(fp.Classifier(base, 3))
    longer = fp.BayesianLinearRegression(0.5, [1.0, 2.0, 1.0, 1.0])
    if name == "blr" and not own:
        with pytest.raises(ValueError, match="was made with another model"):
            summaries[0].under(fp.Classifier(longer, 3))


def test_classes_without_rows_are_refused():
    model = fp.Classifier(MODELS["blr"], 3)
    with pytest.raises(ValueError, match="there are no rows to learn from"):
        model.fit_from_sums(make_parties([0], 1))
    with pytest.raises(ValueError, match="sums over rows are for models with weights"):
        fp.Classifier(MODELS["gp"], 3).fit_from_sums([fp.Party("a", np.ones((2, P)), [0.0, 1.0])])
