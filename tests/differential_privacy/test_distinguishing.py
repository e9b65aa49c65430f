"""The best attack at the worst neighbour: somebody who knows all rows but one, and guesses it.

The table has a row at an inducing point with the largest label, or has not. All other rows are
known, and so is where the row would move the sums; what is left of the released ones along that
direction is the best statistic there is (Neyman and Pearson).
"""

import random

import numpy as np
import pytest
from scipy.stats import beta, kstest
from sklearn.gaussian_process.kernels import RBF

from fairpool import Classifier, SparseGaussianProcess
from fairpool.differential_privacy.gaussian import epsilon_of, mu_of
from fairpool.differential_privacy.mechanism import with_noise
from fairpool.differential_privacy.row_bounds import SLACK, RowBounds

POINTS = np.array([[0.0], [1.5]])
MODEL = SparseGaussianProcess(RBF(1.0), 0.3, POINTS)
LABEL = 2.0
EPSILON, DELTA = 2.0, 1e-3
THRESHOLDS = np.linspace(1.5, 3.5, 9)
SURE = 0.99
"""How sure a lower bound on epsilon is, over all thresholds."""


def numbers():
    """Sums without the row and with it, as (arrays, rows), and the bounds."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(30, 1)), POINTS[:1]])
    y = np.append(np.clip(rng.normal(size=30), -LABEL, LABEL), LABEL)
    bounds = RowBounds(features=1.0, labels=LABEL, weights=2)
    return [(sums(MODEL, X[:m], y[:m]), m) for m in (30, 31)], bounds


def classes():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(30, 1)), POINTS[:1]])
    y = np.append(rng.integers(0, 2, 30), 1).astype(float)
    model = Classifier([MODEL, MODEL], 2)
    bounds = RowBounds(features=1.0, labels=4.0, weights=2, classes=2, own_features=True)
    return [(sums(model, X[:m], y[:m]), m) for m in (30, 31)], bounds


def sums(model, X, y):
    return {name: np.asarray(a, float) for name, a in model.moments(X, y)._asdict().items()}


def coordinates(arrays, rows, bounds):
    """All that is released, in units in which its noise is alike."""
    shares = bounds.shares
    d = arrays["moment"].shape[-1]
    above = np.triu_indices(d, 1)
    pieces = [
        np.diagonal(arrays["gram"], axis1=-2, axis2=-1).ravel(),
        np.sqrt(2) * arrays["gram"][..., *above].ravel(),
        shares.moment * arrays["moment"].ravel(),
        shares.squares * np.ravel(arrays["squares"]),
    ]
    if not bounds.classes:  # otherwise the number of rows is made of those of classes
        pieces.append([shares.rows * rows])
    return np.concatenate(pieces)


def guesses(neighbours, bounds, mu, *, draws, seed):
    """The statistic of releases without the row and with it, of variance 1 [draws] each."""
    below = random.Random(seed).randrange
    exact = [coordinates(*one, bounds) for one in neighbours]
    direction = exact[1] - exact[0]
    direction /= np.linalg.norm(direction)
    found = []
    for arrays, rows in neighbours:
        released = []
        for _ in range(draws):
            noisy = with_noise(arrays, rows, bounds=bounds, mu=mu, randbelow=below)
            here = coordinates(noisy.arrays, noisy.rows, bounds)
            released.append((here - exact[0]) @ direction / noisy.noise)
        found.append(np.array(released))
    return found


def epsilon_at_least(without, with_row, delta):
    """A lower bound on epsilon at delta, by how often a threshold is passed."""
    draws = len(without)
    chance = (1 - SURE) / (2 * len(THRESHOLDS))
    best = 0.0
    for threshold in THRESHOLDS:
        hits = int((with_row > threshold).sum())
        alarms = int((without > threshold).sum())
        least_hits = beta.ppf(chance, hits, draws - hits + 1) if hits else 0.0
        most_alarms = beta.ppf(1 - chance, alarms + 1, draws - alarms)
        if least_hits > delta:
            best = max(best, float(np.log((least_hits - delta) / most_alarms)))
    return best


def check(case, draws):
    neighbours, bounds = case()
    mu = mu_of(EPSILON, DELTA)
    honest = guesses(neighbours, bounds, mu, draws=draws, seed=1)
    # The row is the worst one there is: what is told of it is what is accounted for.
    assert kstest(honest[0], "norm").pvalue > 1e-4
    assert kstest(honest[1] - mu / (1 + SLACK), "norm").pvalue > 1e-4
    assert epsilon_at_least(*honest, DELTA) <= EPSILON
    half = guesses(neighbours, bounds, 2 * mu, draws=draws, seed=2)
    assert epsilon_at_least(*half, DELTA) > EPSILON
    return epsilon_at_least(*honest, DELTA), epsilon_at_least(*half, DELTA)


@pytest.mark.parametrize("case", [numbers, classes])
def test_the_best_attack_finds_what_is_accounted_for_and_half_the_noise_is_caught(case):
    check(case, 3000)


@pytest.mark.soak
@pytest.mark.parametrize("case", [numbers, classes])
def test_with_many_draws_the_attack_comes_close_to_what_is_accounted_for(case):
    honest, half = check(case, 60_000)
    assert honest > 0.6 * EPSILON
    assert half > 0.7 * epsilon_of(2 * mu_of(EPSILON, DELTA), DELTA)
