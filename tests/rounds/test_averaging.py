"""Sixty rounds, and everything somebody was sent: labels keep the least noise they ever had."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from tests.support.examples import MODELS, make_parties
from tests.support.noise_attacks import labels_in
from tests.support.round_series import (
    SECRET,
    Looks,
    Series,
    looks_at_labels,
    looks_at_moments,
)

ROUNDS = 60
SHARES = np.linspace(0.1, 0.7, ROUNDS)
SLACK = 0.7
"""Of 100 normals, the mean square is below this in one draw of a hundred."""


def labels_of_process(series, reward, recipient, victim, parties):
    """Labels in an exact process's file: its own rows first, then the others in their order."""
    order = [recipient, *(party.name for party in parties if party.name != recipient)]
    position = 0
    for name in order:
        count = len(series.parties[name])
        if name == victim:
            told = labels_in(reward)[position : position + count]
            return told, series.parties[name].y
        position += count
    raise AssertionError(victim)


def of_two(rng=None):
    series = Series(model=MODELS["gp"], rng=rng)
    parties = make_parties([30, 100], 1)
    for share in SHARES:
        series.round(parties, [share, 0.0])
    return looks_at_labels(series, "p1", {"p0"}, labels_of_process)


def check(looks, least_looks=ROUNDS):
    assert len(looks.etas) >= least_looks
    for name, variance in looks.variances().items():
        assert variance > SLACK, name
    # The best estimate there is, of all of them, is the least noisy one and nothing else.
    best = looks.estimates()["best linear"]
    np.testing.assert_allclose(best, looks.seen[np.argmin(looks.etas)], atol=1e-5)


def test_attack_sixty_files_of_one_party():
    looks = of_two()
    check(looks)
    # Steps beyond the least noise have nothing to do with it.
    first = np.argmin(looks.etas)
    noise = looks.seen[first] - looks.truth
    for other in range(ROUNDS):
        if other != first:
            step = looks.seen[other] - looks.seen[first]
            assert abs(np.corrcoef(step, noise)[0, 1]) < 4.5 / np.sqrt(len(noise))


def test_attack_with_fresh_noise_sixty_files_give_labels_away():
    looks = of_two(np.random.default_rng(0))
    assert len(looks.etas) == ROUNDS
    together = np.average(looks.seen, axis=0, weights=1 / looks.etas)
    assert np.mean(np.square(together - looks.truth)) < 0.25 * looks.least


def test_attack_everybody_else_colludes_while_rewards_go_up_and_down():
    """Four recipients, other shares of the rest in every round, one party more half-way."""
    rng = np.random.default_rng(3)
    series = Series(model=MODELS["gp"])
    parties = make_parties([20, 100, 20, 25], 2)
    for number, share in enumerate(SHARES):
        shares = rng.uniform(0.3, 1.2, 4) * share
        present = parties if number >= ROUNDS // 2 else parties[:3]
        series.round(present, shares[: len(present)])
    looks = looks_at_labels(series, "p1", {"p0", "p2", "p3"}, labels_of_process)
    check(looks, 40)
    assert len(np.unique(looks.etas)) > 30


def wide_parties(sizes, inputs=60):
    """Linear models on many inputs have many weights: many numbers to look at."""
    rng = np.random.default_rng(5)
    parties = []
    for i, size in enumerate(sizes):
        X = rng.standard_normal((size, inputs))
        parties.append(fp.Party(f"p{i}", X, X.sum(axis=1) / 4 + rng.standard_normal(size)))
    return parties


@pytest.mark.parametrize("sums", [False, True], ids=["rows", "sums"])
def test_attack_moments_in_sixty_files_of_weights(sums):
    """All others collude, and know everything but the moment's noise."""
    model = fp.BayesianLinearRegression(0.5)
    series = Series(model=model, sums=sums)
    parties = wide_parties([80, 150, 90])
    for share in SHARES:
        series.round(parties, [share, 0.0, 0.9 * share])
    looks = looks_at_moments(series, "p1", {"p0", "p2"})
    assert looks.seen.shape == (2 * ROUNDS, 61)
    for name, variance in looks.variances().items():
        assert variance > 0.6, name
    best = looks.estimates()["best linear"]
    size = np.abs(looks.truth).max()
    np.testing.assert_allclose(best, looks.seen[np.argmin(looks.etas)], atol=1e-5 * size)


def test_attack_moments_with_fresh_noise_come_out():
    model = fp.BayesianLinearRegression(0.5)
    series = Series(model=model, sums=True, rng=np.random.default_rng(1))
    parties = wide_parties([80, 150])
    for share in SHARES:
        series.round(parties, [share, 0.0])
    looks = looks_at_moments(series, "p1", {"p0"})
    together = np.average(looks.seen, axis=0, weights=1 / looks.etas)
    assert np.mean(np.square(together - looks.truth)) < 0.25 * looks.least


def test_attack_summaries_that_are_released_again_and_again():
    """Of a party known by sums alone, the noise is one of its contribution."""
    model = fp.BayesianLinearRegression(0.5)
    parties = [model.summarise(party) for party in wide_parties([80, 150])]
    victim = parties[1]
    values, vectors = np.linalg.eigh(victim.gram)
    root = (vectors / np.sqrt(values)) @ vectors.T
    seen, etas = [], []
    for share in SHARES:
        game = fp.InformationGain(model, parties)
        rewards = game.alone + share * (game.total - game.alone)
        reward = fp.realise(game, rewards, secret=SECRET, covariance="full")[0]
        factor = reward.posterior.factor
        told = factor @ factor.T @ reward.posterior.weights - game.pool.statistics[0].told.moment
        seen.append(root @ told * (model.noise_variance + reward.eta))
        etas.append(reward.eta)
    looks = Looks(truth=root @ victim.moment, seen=np.array(seen), etas=np.array(etas))
    for name, variance in looks.variances().items():
        assert variance > 0.6, name


def test_attack_labels_of_classes():
    """Every class has a path of its own: what a file tells of each stays as noisy as it was."""
    model = fp.Classifier(fp.GaussianProcess(4.0 * RBF(1.3), 1.0), classes=2)
    rng = np.random.default_rng(7)
    parties = []
    for name, size in (("p0", 20), ("p1", 80)):
        y = rng.integers(0, 2, size).astype(float)
        parties.append(fp.Party(name, rng.standard_normal((size, 2)) + y[:, None], y))
    series = Series(model=model)
    for share in SHARES:
        series.round(parties, [share, 0.0])
    for c in range(2):

        def labels(series, reward, recipient, victim, present, c=c):
            of_class = reward.posterior.of_classes[c]
            K = of_class.model.covariance(of_class.X)
            told = K @ of_class.alpha + of_class.alpha / of_class.scale**2
            return told[20:], model.coding.targets(parties[1].y, c)

        check(looks_at_labels(series, "p1", {"p0"}, labels))
