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

TRAINING = 800
VALIDATION = 200


@dataclass(frozen=True, kw_only=True)
class ValuePoint:
    """One party of one partition, valued by one validation set.

    Values of data are normalised to sum to 1, and Shapley values to be shares of v_N, as in the
    paper.

    Attributes:
        model: The model and data set, as the paper names them.
        partition: From 0.
        validation: The validation set, from 0.
        party: From 1.
        value: v_i by information gain.
        value_mnlp: v_i by MNLP.
        shapley: phi_i by information gain.
        shapley_mnlp: phi_i by MNLP.
        distance: W, the Wasserstein distance between the party's rows and the validation set, along
            the feature that the rows were sorted by.
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
    name: str, seed: int, *, partitions: int = 5, validations: int = 10
) -> list[ValuePoint]:
    """All points of one model's panels: "GP Friedman" or "NN CaliH"."""
    # 11 is the figure; the names' lengths tell the two models apart.
    rng = np.random.default_rng([seed, 11, len(name)])
    split = friedman_gp(rng) if name == "GP Friedman" else california_network(rng)
    points = []
    for number in range(partitions):
        points += _partition(name, split, number=number, validations=validations, rng=rng)
    return points


def _partition(
    name: str, split: Split, *, number: int, validations: int, rng: np.random.Generator
) -> list[ValuePoint]:
    """The points of one partition, the one with this number."""
    rows = rng.permutation(len(split.y))[:TRAINING]
    X = split.X[rows]
    y = split.y[rows]
    division = partition(X, 3, least=0.1, rng=rng)
    feature = division.feature
    parties = [Party(str(i + 1), X[own], y[own]) for i, own in enumerate(division.parties)]
    game = InformationGain(split.model, parties)
    phi = shapley(game).values / game.total
    value = game.alone / game.alone.sum()
    points = []
    for validation in range(validations):
        # Every second validation set is a block, the others are drawn at random.
        sorted_by = feature if validation % 2 else None
        X_v, y_v = _validation_set(split, rng, sorted_by=sorted_by)
        by_mnlp = ValidationGain(split.model, parties, X=X_v, y=y_v)
        phi_mnlp = shapley(by_mnlp).values / by_mnlp.total
        value_mnlp = by_mnlp.alone / by_mnlp.alone.sum()
        for i, party in enumerate(parties):
            point = ValuePoint(
                model=name,
                partition=number,
                validation=validation,
                party=i + 1,
                value=float(value[i]),
                value_mnlp=float(value_mnlp[i]),
                shapley=float(phi[i]),
                shapley_mnlp=float(phi_mnlp[i]),
                distance=float(wasserstein_distance(party.X[:, feature], X_v[:, feature])),
            )
            points.append(point)
    return points


def _validation_set(
    split: Split, rng: np.random.Generator, *, sorted_by: int | None
) -> tuple[FloatArray, FloatArray]:
    """200 withheld points, as inputs and labels.

    Args:
        split: Where they are withheld.
        rng: Generator.
        sorted_by: Take a block of the points sorted by this feature, so that it may miss a party's
            range; None: take points at random.
    """
    X = split.X_test
    y = split.y_test
    if sorted_by is None:
        rows = rng.permutation(len(y))[:VALIDATION]
    else:
        order = np.argsort(X[:, sorted_by], kind="stable")
        start = int(rng.integers(max(len(y) - VALIDATION, 0) + 1))
        rows = order[start : start + VALIDATION]
    return X[rows], y[rows]
