"""Every fast path against its oracle where numbers are hard: odd blocks, copies, near-singular
kernels, tiny noise.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, Matern

import fairpool as fp
from fairpool.information import kernel_space, reward_curve
from fairpool.linear_algebra import elimination, precision_sums
from fairpool.values import tolerance_of
from tests.support import oracles

MODELS = {
    "near singular": fp.GaussianProcess(RBF(1e3), 0.1),
    "tiny noise": fp.GaussianProcess(RBF(0.5), 1e-8),
    "near singular, tiny noise": fp.GaussianProcess(1.0 * RBF(30.0), 1e-8),
    "rough": fp.GaussianProcess(2.0 * Matern(0.3, nu=0.5), 0.01),
    "weights": fp.BayesianLinearRegression(0.1),
    "weights, tiny noise": fp.BayesianLinearRegression(1e-8, bias=False),
    "sparse": fp.SparseGaussianProcess(
        RBF(1.0), 0.1, np.random.default_rng(0).standard_normal((6, 2))
    ),
}

sizes = st.lists(st.sampled_from([0, 1, 1, 2, 3, 7, 12]), min_size=1, max_size=6).filter(any)


def parties_of(sizes, seed, copies):
    """Parties of such sizes; with copies, many rows are alike, within a party and between two."""
    rng = np.random.default_rng(seed)
    pool = rng.standard_normal((5 if copies else 1000, 2))
    X = [pool[rng.integers(len(pool), size=size)] for size in sizes]
    return [fp.Party(str(i), x, rng.standard_normal(len(x))) for i, x in enumerate(X)]


def tolerance(game):
    """For the naive formulas, which are the less exact ones where noise is tiny."""
    return max(1e-9 * max(game.total, 1), 50 * oracles.rounding(game.model, game.pool.parties))


@given(sizes, st.integers(0, 10**6), st.booleans(), st.sampled_from(sorted(MODELS)))
def test_all_values_and_single_ones_and_samples(sizes, seed, copies, name):
    parties = parties_of(sizes, seed, copies)
    expected = oracles.values(MODELS[name], parties)
    game, other = (fp.InformationGain(MODELS[name], parties) for _ in range(2))
    atol = tolerance(game)
    np.testing.assert_allclose(game.values(), expected, atol=atol)
    n = game.n
    S = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    np.testing.assert_allclose(other.space.values_of(S), expected, atol=atol)
    assert other.value({0}) == pytest.approx(expected[1], abs=atol)
    np.testing.assert_allclose(
        other.without_one, expected[2**n - 1 - (1 << np.arange(n))], atol=atol
    )


@settings(max_examples=settings.default.max_examples // 4)
@given(sizes, st.integers(0, 10**6), st.sampled_from(sorted(MODELS)))
def test_tasks_give_the_same_bits_as_one_thread(sizes, seed, name):
    space = fp.InformationGain(MODELS[name], parties_of(sizes, seed, False)).space
    with ThreadPoolExecutor(2) as pool:
        np.testing.assert_array_equal(space.values(pool), space.values())


@given(sizes, st.integers(0, 10**6), st.booleans(), st.sampled_from(sorted(MODELS)))
def test_reward_curves_by_factors_by_eigenvalues_and_by_one_spectrum(sizes, seed, copies, name):
    model, parties = MODELS[name], parties_of(sizes, seed, copies)
    game = fp.InformationGain(model, parties)
    atol = tolerance(game)
    with pytest.MonkeyPatch.context() as patch:
        for many in (10**6, 1):
            patch.setattr(kernel_space, "MANY_PARTIES", many)
            for i in range(game.n):
                given = game.space.reward_curve(i, model.noise_variance)
                for curve in (given, given.for_many()):
                    assert curve.value(0.0) == pytest.approx(game.alone[i], abs=atol)
                    assert curve.value(1.0) == pytest.approx(game.total, abs=atol)
                    for tau in (1e-3, 0.4):
                        eta = curve.noise_variance * (1 - tau) / tau
                        gain = oracles.reward_data_gain(model, parties, i, eta)
                        assert curve.value(tau) == pytest.approx(gain, abs=atol)
                    slope = (curve.value(1e-7) - curve.value(0.0)) / 1e-7
                    if atol < 1e-8 and curve.slope < 1e3:
                        assert curve.slope == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_curves_of_many_parties_are_kept_small_only_where_one_spectrum_serves_all():
    parties = parties_of([3] * kernel_space.MANY_PARTIES, 0, copies=False)
    mixed = [fp.Party(p.name, p.X, p.y, noise_variance=0.1 + i) for i, p in enumerate(parties)]
    alike, different = (fp.InformationGain(MODELS["rough"], p).space for p in (parties, mixed))
    assert isinstance(alike.reward_curve(0, 0.1), reward_curve.SharedSpectrumCurve)
    assert alike.curve_bytes == 0
    assert not isinstance(different.reward_curve(0, 0.1), reward_curve.SharedSpectrumCurve)
    assert different.curve_bytes == 8 * len(different.B) ** 2


@given(sizes.filter(lambda s: len(s) > 1), st.integers(0, 10**6), st.sampled_from(sorted(MODELS)))
def test_the_noise_realises_the_reward_by_a_dense_computation(sizes, seed, name):
    model, parties = MODELS[name], parties_of(sizes, seed, False)
    game = fp.InformationGain(model, parties)
    targets = game.alone + np.random.default_rng(seed).uniform(size=game.n) * (
        game.total - game.alone
    )
    for i, level in enumerate(fp.noise_levels(game, targets)):
        if 0 < level.eta < np.inf:
            assert oracles.reward_data_gain(model, parties, i, level.eta) == pytest.approx(
                targets[i], abs=10 * tolerance(game)
            )
        else:
            assert min(game.total - targets[i], targets[i] - game.alone[i]) <= 2 * tolerance_of(
                game
            )


def test_the_tasks_cover_many_parties(monkeypatch):
    """More parties than a task takes: some are chosen for, the others free."""
    parties = parties_of([3, 1, 2, 0, 2, 1, 1], 0, False)
    for name in ("rough", "weights"):
        expected = oracles.values(MODELS[name], parties)
        monkeypatch.setattr(elimination, "TASK_PARTIES", 2)
        monkeypatch.setattr(precision_sums, "LEAST_FREE", 2)
        monkeypatch.setattr(precision_sums, "STACK_BYTES", 8 * 9 * 2)
        monkeypatch.setattr(elimination, "STACK_BYTES", 8)
        with ThreadPoolExecutor(2) as pool:
            found = fp.InformationGain(MODELS[name], parties).space.values(pool)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_models_of_all_parties_are_the_same_by_the_values_covariance():
    """The reward models reuse the matrix of the values; training from the rows gives the same."""
    parties = parties_of([5, 3, 7], 3, False)
    game = fp.InformationGain(MODELS["rough"], parties)
    rewards = (game.alone + game.total) / 2
    X = np.random.default_rng(1).standard_normal((4, 2))
    for i, reward in enumerate(fp.realise(game, rewards, 0)):
        noise = game.pool.noise + np.where(game.pool.owner == i, 0.0, reward.eta)
        variance = MODELS["rough"].posterior(game.pool.X, game.pool.y, noise).predict(X)[1]
        np.testing.assert_allclose(reward.predict(X)[1], variance, rtol=1e-9)
