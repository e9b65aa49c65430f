"""Sums with noise: what they tell, and that noise never pays."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool import Classifier
from fairpool.audit.evidence import judge_evidence
from fairpool.errors import DataError
from fairpool.linear_algebra.shrinkage import noise_edge, shrunk_spectrum
from fairpool.parties import NoisySummary, NoisySums

D = 4
MODEL = fp.SparseGaussianProcess(1.5 * RBF(1.0), 0.3, np.random.default_rng(1).normal(size=(D, 2)))


def rows(seed, count):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    return fp.Party(f"p{seed}", X, np.sin(X[:, 0]) + 0.5 * rng.normal(size=count))


def unit_noise(rng, d=D):
    """Symmetric noise of deviation 1 on the diagonal."""
    E = np.triu(rng.normal(size=(d, d)), 1) / np.sqrt(2)
    return E + E.T + np.diag(rng.normal(size=d))


def noisy(party, gram_noise, moment_noise=None, *, seed=7, model=MODEL):
    """A party's sums with noise."""
    rng = np.random.default_rng(seed)
    moment_noise = gram_noise if moment_noise is None else moment_noise
    sums = model.moments(party.X, party.y)
    one = NoisySums(
        gram=sums.gram + gram_noise * unit_noise(rng),
        moment=sums.moment + moment_noise * rng.normal(size=len(sums.moment)),
        squares=np.asarray(sums.squares + gram_noise * rng.normal()),
        noise=np.array([gram_noise, moment_noise]),
        squares_noise=np.asarray(gram_noise),
        rows=len(party),
    )
    return NoisySummary(
        name=party.name,
        sums=(one,),
        noise_variance=model.noise_variance,
        inputs=2,
        probe=model.probe(2),
    )


def test_without_noise_they_are_what_a_summary_is():
    parties = [rows(1, 40), rows(2, 60), rows(3, 50)]
    plain = [MODEL.summarise(party) for party in parties]
    silent = [noisy(party, 0.0) for party in parties[:2]]
    silent = [*silent, plain[2]]
    one, other = fp.InformationGain(MODEL, plain), fp.InformationGain(MODEL, silent)
    np.testing.assert_allclose(other.values(), one.values(), rtol=1e-9, atol=1e-9)
    by_labels, also = fp.EvidenceGain.of(one), fp.EvidenceGain.of(other)
    np.testing.assert_allclose(also.values(), by_labels.values(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        also.judged.noise_factors(), by_labels.judged.noise_factors(), rtol=1e-4
    )
    rewards = (one.alone + one.total) / 2
    for a, b in zip(fp.noise_levels(one, rewards), fp.noise_levels(other, rewards), strict=True):
        assert b.eta == pytest.approx(a.eta, rel=1e-6)
    secret = fp.Secret(bytes(32))
    x = np.random.default_rng(0).normal(size=(5, 2))
    for a, b in zip(
        fp.realise(one, rewards, secret=secret, covariance="full"),
        fp.realise(other, rewards, secret=secret, covariance="full"),
        strict=True,
    ):
        np.testing.assert_allclose(b.predict(x)[1], a.predict(x)[1], rtol=1e-7)


def test_they_are_the_formula():
    summary = noisy(rows(1, 400), 2.0, 3.0)
    (sums,) = summary.sums
    g, Q = shrunk_spectrum(sums.gram, 2.0)
    assert 0 < len(g) <= D
    Gh = Q @ np.diag(g) @ Q.T
    s2 = 0.3
    added = 3.0**2 + 2.0**2 * (D + 1) / 2 + noise_edge(D) * 2.0 * s2
    for eta in (0.0, 0.7):
        middle = np.linalg.inv((s2 + eta) * Gh + added * np.eye(D))
        z = np.random.default_rng(5).normal(size=D)
        root = Q @ np.diag(np.sqrt(g)) @ Q.T
        told = summary.statistics(MODEL).weakened(eta, z)
        np.testing.assert_allclose(told.precision, Gh @ middle @ Gh, atol=1e-9)
        np.testing.assert_allclose(told.moment, Gh @ middle @ (sums.moment + root @ z), atol=1e-9)
    as_they_are = summary.statistics(MODEL).told
    np.testing.assert_allclose(
        as_they_are.precision, summary.statistics(MODEL).weakened(0.0, np.zeros(D)).precision
    )
    several = summary.statistics(MODEL).weakened(0.7, np.column_stack([z, 2 * z]))
    np.testing.assert_allclose(several.moment[:, 0], told.moment)


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 3000),
    noise=st.floats(1e-3, 100),
    step=st.floats(1.5, 30),
    s2=st.floats(0.01, 3),
)
def test_more_of_the_same_noise_is_never_worth_more(seed, count, noise, step, s2):
    model = replace(MODEL, noise_variance=s2)
    unit = unit_noise(np.random.default_rng(7))
    assume(np.linalg.eigvalsh(unit)[-1] < noise_edge(D))
    party = rows(seed, count)
    exact, less, more = (
        fp.InformationGain(model, [noisy(party, deviation, model=model)]).total
        for deviation in (0.0, noise, step * noise)
    )
    assert more <= less + 1e-9
    assert less <= exact + 1e-3  # a first look at noise may be lucky by no more


def test_noise_is_known_to_be_there():
    """Errors are as large as the model says, where the weights are from the prior."""
    rng = np.random.default_rng(11)
    squares, covered = [], []
    for draw in range(300):
        X = rng.normal(size=(400, 2))
        A = MODEL.whitened_features(X)
        w = rng.normal(size=D)
        y = A @ w + np.sqrt(0.3) * rng.normal(size=400)
        game = fp.InformationGain(MODEL, [noisy(fp.Party("p", X, y), 6.0, 8.0, seed=draw)])
        posterior = game.posterior([0])
        error = posterior.factor.T @ (w - posterior.weights)
        squares.append(error @ error / D)
        x = rng.normal(size=(20, 2))
        mean, variance = posterior.predict(x)
        latent = MODEL.whitened_features(x) @ w
        extra = MODEL.prior_variance_at(x) - np.square(MODEL.whitened_features(x)).sum(axis=1)
        truth = latent + np.sqrt(0.3 + extra) * rng.normal(size=20)
        covered.append(np.abs(truth - mean) < 1.96 * np.sqrt(variance))
    assert 0.85 < np.mean(squares) < 1.15
    assert 0.93 < np.mean(covered) < 0.97


def test_taken_for_exact_they_would_be_too_sure():
    """What the model would be without knowing of the noise, with eigenvalues made positive."""
    rng = np.random.default_rng(11)
    squares = []
    for draw in range(100):
        X = rng.normal(size=(400, 2))
        w = rng.normal(size=D)
        y = MODEL.whitened_features(X) @ w + np.sqrt(0.3) * rng.normal(size=400)
        (sums,) = noisy(fp.Party("p", X, y), 6.0, 8.0, seed=draw).sums
        eigenvalues, Q = np.linalg.eigh(sums.gram)
        B = np.eye(D) + (Q * np.maximum(eigenvalues, 0)) @ Q.T / 0.3
        error = w - np.linalg.solve(B, sums.moment / 0.3)
        squares.append(error @ B @ error / D)
    assert np.mean(squares) > 3


def test_contributions_add_up():
    one, two = noisy(rows(1, 400), 2.0), noisy(replace(rows(2, 500), name="p1"), 3.0, seed=8)
    both = fp.InformationGain(MODEL, [one + two])
    apart = fp.InformationGain(MODEL, [one, replace(two, name="other")])
    assert both.total == pytest.approx(apart.total, rel=1e-12)
    assert len(one + two) == 900
    eta = 0.4
    told = (one + two).statistics(MODEL).weakened(eta, np.arange(2.0 * D))
    parts = [
        one.statistics(MODEL).weakened(eta, np.arange(D)),
        two.statistics(MODEL).weakened(eta, np.arange(D, 2.0 * D)),
    ]
    np.testing.assert_allclose(told.moment, parts[0].moment + parts[1].moment)


def test_sums_with_and_without_noise_add_up_either_way():
    plain = MODEL.summarise(rows(1, 300))
    hidden = noisy(rows(1, 400), 2.0)
    totals = [fp.InformationGain(MODEL, [both]).total for both in (plain + hidden, hidden + plain)]
    apart = fp.InformationGain(MODEL, [hidden, replace(plain, name="other")]).total
    assert totals == pytest.approx([apart, apart], rel=1e-9)
    assert len(plain + hidden) == 700
    model = classifier(False)
    party = class_rows(1, 300)
    both = model.summarise(party) + noisy_classes(model, party, 1.0)
    assert [one.noise.max() for one in both.sums] == [0.0, 1.0]


def test_nothing_but_noise_tells_nothing():
    game = fp.InformationGain(MODEL, [noisy(rows(1, 3), 500.0), MODEL.summarise(rows(2, 30))])
    assert game.value({0}) == 0.0
    assert game.total == pytest.approx(game.value({1}))
    models = fp.realise(game, game.alone, 1)
    assert models[0].value == 0.0


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_under_a_scaled_prior_they_are_the_same_rows_sums(factor):
    party = rows(1, 400)
    scaled = MODEL.with_prior_scaled(factor).with_noise(0.5)
    moved = noisy(party, 2.0, 3.0).under(scaled)
    (sums,) = moved.sums
    expected = scaled.moments(party.X, party.y)
    draw = noisy(party, 2.0, 3.0).sums[0]
    before = MODEL.moments(party.X, party.y)
    np.testing.assert_allclose(sums.gram - expected.gram, factor * (draw.gram - before.gram))
    np.testing.assert_allclose(sums.noise, [2.0 * factor, 3.0 * np.sqrt(factor)])
    assert moved.noise_variance == 0.5
    with pytest.raises(DataError, match="made with another model"):
        moved.refuse_other_model(MODEL)
    other = fp.SparseGaussianProcess(RBF(0.3), 0.3, MODEL.inducing_points)
    with pytest.raises(DataError, match="made with another model"):
        noisy(party, 2.0).under(other)


# Of classes.


def class_rows(seed, count):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=count) > 0).astype(float) + (X[:, 1] > 1)
    return fp.Party(f"p{seed}", X, y)


def classifier(own):
    other = fp.SparseGaussianProcess(RBF(2.0), 0.3, MODEL.inducing_points)
    return Classifier([MODEL, other, other], 3) if own else Classifier(MODEL, 3)


def noisy_classes(model, party, deviation, seed=7):
    rng = np.random.default_rng(seed)
    sums = model.moments(party.X, party.y)
    gram, moment = np.array(sums.gram), np.array(sums.moment)
    for place in np.ndindex(moment.shape[:-1]):
        gram[place] += deviation * unit_noise(rng)
        moment[place] += deviation * rng.normal(size=D)
    noise = np.full((*moment.shape[:-1], 2), deviation)
    one = NoisySums(
        gram=gram,
        moment=moment,
        squares=np.asarray(sums.squares) + deviation * rng.normal(size=3),
        noise=noise,
        squares_noise=np.asarray(deviation),
        rows=len(party),
    )
    return NoisySummary(
        name=party.name,
        sums=(one,),
        noise_variance=model.noise_variance,
        inputs=2,
        probe=model.probe(2),
    )


@pytest.mark.parametrize("own", [False, True])
def test_of_classes_without_noise_they_are_what_a_summary_is(own):
    model = classifier(own)
    parties = [class_rows(1, 80), class_rows(2, 60)]
    plain = fp.InformationGain(model, [model.summarise(party) for party in parties])
    silent = fp.InformationGain(model, [noisy_classes(model, party, 0.0) for party in parties])
    np.testing.assert_allclose(silent.values(), plain.values(), rtol=1e-9)
    np.testing.assert_allclose(
        fp.EvidenceGain.of(silent).judged.noise_factors(),
        fp.EvidenceGain.of(plain).judged.noise_factors(),
        rtol=1e-4,
    )
    x = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(
        silent.posterior([0, 1]).predict(x)[0], plain.posterior([0, 1]).predict(x)[0], rtol=1e-6
    )


@pytest.mark.parametrize("own", [False, True])
def test_of_classes_noise_never_pays(own):
    model = classifier(own)
    party = class_rows(1, 3000)
    deviations = (0.0, 0.1, 1.0, 10.0, 100.0, 10_000.0)
    games = [fp.InformationGain(model, [noisy_classes(model, party, s)]) for s in deviations]
    values = [game.total for game in games]
    assert (np.diff(values) < 0).all()
    assert values[-1] == 0.0


@pytest.mark.parametrize("own", [False, True])
def test_of_classes_they_scale_with_the_prior(own):
    model = classifier(own)
    scaled = [one.with_prior_scaled(f) for one, f in zip(model.of_classes, (2, 3, 4), strict=True)]
    other = Classifier(scaled, 3) if own else Classifier(MODEL.with_prior_scaled(2.0), 3)
    party = class_rows(1, 500)
    moved = noisy_classes(model, party, 0.0).under(other)
    expected = fp.InformationGain(other, [other.summarise(party)]).total
    assert fp.InformationGain(other, [moved]).total == pytest.approx(expected, rel=1e-9)
    noise = noisy_classes(model, party, 1.0).under(other).sums[0].noise
    factors = np.array([2, 3, 4]) if own else np.array([2, 2, 2])
    np.testing.assert_allclose(noise.reshape(3, -1, 2)[:, 0, 0], factors)


@pytest.mark.parametrize("is_turned", [False, True])
def test_labels_are_compared_with_the_others(is_turned):
    parties = [rows(1, 300), rows(2, 400), rows(3, 350)]
    if is_turned:
        parties[2] = fp.Party("p3", parties[2].X, -parties[2].y)
    hidden = noisy(parties[0], 1.0), noisy(parties[2], 1.0, seed=9)
    game = fp.InformationGain(MODEL, [hidden[0], MODEL.summarise(parties[1]), hidden[1]])
    judged = judge_evidence(fp.EvidenceGain.of(game), level=0.01, rng=0)
    assert judged.harmful == ((2,) if is_turned else ())


@pytest.mark.parametrize("is_turned", [False, True])
def test_labels_of_classes_are_compared_with_the_others(is_turned):
    model = classifier(False)
    parties = [class_rows(seed, 800) for seed in (1, 2, 3)]
    if is_turned:
        parties[2] = fp.Party("p3", parties[2].X, 2 - parties[2].y)
    hidden = [noisy_classes(model, party, 3.0, seed) for seed, party in enumerate(parties)]
    game = fp.InformationGain(model, hidden)
    judged = judge_evidence(fp.EvidenceGain.of(game), level=0.01, rng=0)
    assert judged.harmful == ((2,) if is_turned else ())
    assert judged.parties[0].verdict == "helps"


def test_a_sum_of_squares_with_noise_counts_for_fewer_labels():
    level = noisy(rows(1, 400), 0.0).sums[0].level(0.3)
    exact = level.left
    k = len(level.few_rows.labels)
    assert exact.number == 400 - k
    total = exact.squares + (level.few_rows.labels**2).sum() / 0.3
    assert total == pytest.approx(level.squares / 0.3)
    # An error as large as a sum of n squares has itself halves what it is worth.
    error = 0.3 * np.sqrt(2 * (400 - k))
    assert replace(level, squares_noise=error).left.number == (400 - k) // 2
    assert replace(level, squares_noise=1e9).left.number == 0
    assert replace(level, squares=-100.0).left.squares == 0.0
    assert replace(level, rows=1.0).left.number == 0
