"""Fig. 11: values of data by information gain against values by MNLP on a validation set.

Paper: App. F.3.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import wasserstein_distance

from fairpool.contributions import shapley
from fairpool.paper.partitioning import partition
from fairpool.paper.scatter import Split, california_network, friedman_gp
from fairpool.parties import Party
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain, ValidationGain

TRAINING, VALIDATION = 800, 200


@dataclass(frozen=True)
class ValuePoint:
    """One party of one partition, valued by one validation set; everything normalised as in the
    paper.
    """

    model: str
    partition: int
    validation: int
    party: int
    value: float
    value_mnlp: float
    shapley: float
    shapley_mnlp: float
    distance: float


def run_valuation(
    name: str, seed: int, partitions: int = 5, validations: int = 10
) -> list[ValuePoint]:
    """All points of one model's panels: "GP Friedman" or "NN CaliH"."""
    rng = np.random.default_rng([seed, 11, len(name)])
    split = friedman_gp(rng) if name == "GP Friedman" else california_network(rng)
    points = []
    for number in range(partitions):
        points += _partition(name, split, number, validations, rng)
    return points


def _partition(
    name: str, split: Split, number: int, validations: int, rng: np.random.Generator
) -> list[ValuePoint]:
    rows = rng.permutation(len(split.y))[:TRAINING]
    X, y = split.X[rows], split.y[rows]
    found = partition(X, 3, 0.1, rng)
    parties = [Party(str(i + 1), X[own], y[own]) for i, own in enumerate(found.parties)]
    game = InformationGain(split.model, parties)
    phi = shapley(game).values / game.total
    value = game.alone / game.alone.sum()
    points = []
    for v in range(validations):
        X_v, y_v = _validation_set(split, found.feature, v % 2 == 0, rng)
        by_mnlp = ValidationGain(split.model, parties, X_v, y_v)
        phi_v = shapley(by_mnlp).values / by_mnlp.total
        value_v = by_mnlp.alone / by_mnlp.alone.sum()
        for i, party in enumerate(parties):
            far = float(wasserstein_distance(party.X[:, found.feature], X_v[:, found.feature]))
            a, b, c, d = (float(x[i]) for x in (value, value_v, phi, phi_v))
            points.append(ValuePoint(name, number, v, i + 1, a, b, c, d, far))
    return points


def _validation_set(
    split: Split, feature: int, at_random: bool, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """200 withheld points: at random, or a block of the same partial order, so that it may miss a party's range."""
    X, y = split.X_test, split.y_test
    if at_random:
        rows = rng.permutation(len(y))[:VALIDATION]
    else:
        order = np.argsort(X[:, feature], kind="stable")
        start = int(rng.integers(max(len(y) - VALIDATION, 0) + 1))
        rows = order[start : start + VALIDATION]
    return X[rows], y[rows]
