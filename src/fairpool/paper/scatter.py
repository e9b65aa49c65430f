"""Figs. 3, 5-10: improvement in information gain and in MNLP, over many partitions of a data set.

Paper: Sec. 5, Summary of Observations; App. E, App. F.1, App. F.2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Matern

from fairpool.contributions import Contributions, shapley
from fairpool.models import (
    BayesianLinearRegression,
    GaussianProcess,
    Model,
    NetworkFeatures,
    SparseGaussianProcess,
    inducing_points,
    mnlp,
)
from fairpool.paper.datasets import Dataset, boston, california, diabetes, friedman
from fairpool.paper.partitioning import partition
from fairpool.parties import Party
from fairpool.realisation import realise
from fairpool.rewards import RewardScheme, check_incentives
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

RHOS = (1.0, 0.5)
DRAWS = 5
PERMUTATIONS = 3000


@dataclass(frozen=True, eq=False)
class Split:
    """One train-test split, standardised by its training rows, with the model to value it by."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    model: Model


@dataclass(frozen=True)
class Setting:
    """One figure's experiment.

    Attributes:
        prepare: From a generator to a split.
        splits: How many.
        partitions: How many of each split.
        parties: n.
        least: The least share of each party.
        sampled: Whether Shapley values are sampled as the paper did, beside the exact ones.
    """

    prepare: Callable[[np.random.Generator], Split]
    splits: int = 5
    partitions: int = 10
    parties: int = 3
    least: float = 0.1
    sampled: bool = False


@dataclass(frozen=True)
class Point:
    """One party of one partition, at one rho and for one draw of the noise: a point in the scatter
    graphs.
    """

    split: int
    partition: int
    rho: float
    party: int
    draw: int
    share: float
    ig: float
    ig_most: float
    mnlp: float
    mnlp_most: float
    shapley: float
    shapley_sampled: float


def run_split(setting: Setting, split: int, seed: int) -> Iterator[Point]:
    """All points of one split. The seed, figure and split determine them, whatever runs beside."""
    data = setting.prepare(np.random.default_rng([seed, split]))
    for number in range(setting.partitions):
        rng = np.random.default_rng([seed, split, number + 1])
        yield from _points(setting, data, split, number, rng)


def _points(
    setting: Setting, data: Split, split: int, number: int, rng: np.random.Generator
) -> Iterator[Point]:
    blocks = partition(data.X, setting.parties, setting.least, rng).parties
    game = InformationGain(
        data.model, [Party(str(i), data.X[rows], data.y[rows]) for i, rows in enumerate(blocks)]
    )
    exact = shapley(game, "exact")
    used = shapley_by_permutations(game, rng) if setting.sampled else exact
    scheme = RewardScheme(game, used)
    alone = [mnlp(data.y_test, *game.posterior([i]).predict(data.X_test)) for i in range(game.n)]
    everyone = mnlp(data.y_test, *game.posterior(range(game.n)).predict(data.X_test))
    noise_seed = int(rng.integers(2**31))
    for rho in RHOS:
        rewards = scheme.rewards(rho)
        if not check_incentives(game, used, rewards)["R4"].holds:
            continue  # the paper: only rewards that satisfy individual rationality
        for i, model in enumerate(
            realise(game, rewards, noise_seed, noise="standardised", draws=DRAWS)
        ):
            mean, variance = model.predict(data.X_test)
            for draw, score in enumerate(np.broadcast_to(mnlp(data.y_test, mean, variance), DRAWS)):
                yield Point(
                    split,
                    number,
                    rho,
                    i,
                    draw,
                    float(scheme.shares[i]),
                    float(rewards[i] - game.alone[i]),
                    float(game.total - game.alone[i]),
                    float(alone[i] - score),
                    float(alone[i] - everyone),
                    float(exact.values[i]),
                    float(used.values[i]),
                )


def shapley_by_permutations(game: InformationGain, rng: np.random.Generator) -> Contributions:
    """The average over random permutations; all values are known here, and looked up.

    Paper: App. E.4: 3000 samples by simple random sampling.
    """
    v = game.values()
    orders = rng.permuted(np.tile(np.arange(game.n), (PERMUTATIONS, 1)), axis=1)
    gains = np.diff(v[np.cumsum(1 << orders, axis=1)], axis=1, prepend=v[0])
    marginals = np.take_along_axis(gains, orders.argsort(axis=1), axis=1)
    errors = marginals.std(axis=0, ddof=1) / np.sqrt(PERMUTATIONS)
    return Contributions(marginals.mean(axis=0), errors, "sampled", PERMUTATIONS * game.n)


def _standardise(values: FloatArray, by: FloatArray) -> FloatArray:
    scale = by.std(axis=0)
    return np.asarray((values - by.mean(axis=0)) / np.where(scale > 0, scale, 1.0))


def _split(data: Dataset, rng: np.random.Generator, inputs_too: bool) -> tuple[FloatArray, ...]:
    """80% for training and 20% for testing at random; standardised by the training rows alone."""
    order = rng.permutation(len(data))
    train, test = np.split(order, [round(0.8 * len(order))])
    X = _standardise(data.X, data.X[train]) if inputs_too else data.X
    y = _standardise(data.y, data.y[train])
    return X[train], y[train], X[test], y[test]


def _gp(X: FloatArray, y: FloatArray, exponential: bool = False) -> GaussianProcess:
    """Squared exponential with ARD, plus the exponential kernel if asked for; by maximum likelihood on the pool."""
    ones = np.ones(X.shape[1])
    kernel = 1.0 * RBF(ones) + 1.0 * Matern(ones, nu=0.5) if exponential else 1.0 * RBF(ones)
    return GaussianProcess(kernel, 0.1).fit_hyperparameters(X, y)


def diabetes_gp(rng: np.random.Generator, exponential: bool) -> Split:
    """Paper: App. E.2 (Fig. 3), App. F.2 (Fig. 9)."""
    X, y, X_test, y_test = _split(diabetes(), rng, inputs_too=True)
    return Split(X, y, X_test, y_test, _gp(X, y, exponential))


def diabetes_fixed(rng: np.random.Generator, exponential: bool) -> Split:
    """Figs. 3 and 9 with hyperparameters fixed instead of learned, the same for both kernels.

    Paper: Sec. 5 says "known or learned". Amplitudes 1, length scales 3 (the root of the number of
    features) and noise variance 0.2.
    """
    X, y, X_test, y_test = _split(diabetes(), rng, inputs_too=True)
    kernel = 1.0 * RBF(3.0) + 1.0 * Matern(3.0, nu=0.5) if exponential else 1.0 * RBF(3.0)
    return Split(X, y, X_test, y_test, GaussianProcess(kernel, 0.2))


def friedman_gp(rng: np.random.Generator) -> Split:
    """Paper: App. F.1 (Fig. 7)."""
    X, y, X_test, y_test = _split(friedman(2000, rng), rng, inputs_too=False)
    return Split(X, y, X_test, y_test, _gp(X, y))


def friedman_sparse(rng: np.random.Generator) -> Split:
    """Paper: App. E.4 (Fig. 6). The paper does not say how inducing points are chosen: 100 by k-means here."""
    X, y, X_test, y_test = _split(friedman(5000, rng), rng, inputs_too=False)
    U = inducing_points(X, 100, rng=rng)
    model = SparseGaussianProcess(1.0 * RBF(np.ones(6)), 0.1, U).fit_hyperparameters(X, y)
    return Split(X, y, X_test, y_test, model)


@cache
def _california_network() -> tuple[Dataset, NetworkFeatures, float]:
    """Train on 60% as public data; what is left is for the parties. The noise is learned on the public part, too."""
    data, rng = california(), np.random.default_rng(0)
    public, rest = np.split(rng.permutation(len(data)), [round(0.6 * len(data))])
    X, y = _standardise(data.X, data.X[public]), _standardise(data.y, data.y[public])
    network = NetworkFeatures.train(X[public], y[public], (100, 50), rng=0)
    model = BayesianLinearRegression(0.2, features=network).fit_hyperparameters(
        X[public], y[public]
    )
    return Dataset(X[rest], y[rest], data.columns), network, model.noise_variance


def california_network(rng: np.random.Generator) -> Split:
    """Paper: App. E.3 (Fig. 5): a standard Gaussian prior on the weights of the network's last layer."""
    data, network, noise = _california_network()
    train, test = np.split(rng.permutation(len(data))[:2000], [1600])
    model = BayesianLinearRegression(noise, features=network)
    return Split(data.X[train], data.y[train], data.X[test], data.y[test], model)


def boston_network(rng: np.random.Generator, informative: bool) -> Split:
    """Paper: App. F.1 (Fig. 8); App. F.2 (Fig. 10): prior mean the network's last weights, prior variance 0.01."""
    X, y, X_test, y_test = _split(boston(), rng, inputs_too=True)
    network = NetworkFeatures.train(X, y, (50, 50), rng=rng, max_iter=1000)
    model = BayesianLinearRegression(0.1, features=network)
    if informative:
        model = BayesianLinearRegression(0.1, 0.01, network.last_weights, network)
    return Split(X, y, X_test, y_test, model.fit_hyperparameters(X, y))


SETTINGS = {
    "fig3": Setting(lambda rng: diabetes_gp(rng, exponential=True)),
    "fig5": Setting(california_network),
    "fig6": Setting(friedman_sparse, splits=3, parties=10, least=0.05, sampled=True),
    "fig7": Setting(friedman_gp),
    "fig8": Setting(lambda rng: boston_network(rng, informative=False)),
    "fig9": Setting(lambda rng: diabetes_gp(rng, exponential=False)),
    "fig3-fixed": Setting(lambda rng: diabetes_fixed(rng, exponential=True)),
    "fig9-fixed": Setting(lambda rng: diabetes_fixed(rng, exponential=False)),
    "fig10": Setting(lambda rng: boston_network(rng, informative=True)),
}
