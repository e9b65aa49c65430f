"""Figs. 3, 5-10: improvement in information gain and in MNLP, over many partitions of a data set.

Paper: Sec. 5, Summary of Observations; App. E, App. F.1, App. F.2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF, Kernel, Matern

from fairpool.contributions import Contributions, shapley
from fairpool.contributions.shapley import SHAPLEY
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
"""How often the noise on labels is drawn for each point."""

PERMUTATIONS = 3000


@dataclass(frozen=True, eq=False, kw_only=True)
class Split:
    """One train-test split, standardised by its training rows, with the model to value it by."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    model: Model


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One figure's experiment.

    Attributes:
        prepare: From a generator to a split and its model.
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


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point in the scatter graphs: one party of one partition, at one rho, for one draw of noise.

    Attributes:
        split: Of the data into training and test rows.
        partition: Of the training rows among the parties.
        rho: The parameter of the reward scheme.
        party: From 0.
        draw: Of the noise, from 0.
        share: phi_i / phi*.
        ig: Improvement in information gain by the collaboration.
        ig_most: The most that it could be.
        mnlp: Improvement in MNLP.
        mnlp_most: That of the model trained on everybody's data.
        shapley: phi_i, exactly.
        shapley_sampled: phi_i as it was used: sampled, if the setting says so.
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
        # Not from 0, since to numpy the seed [a, b, 0] is the same as [a, b].
        rng = np.random.default_rng([seed, split, number + 1])
        yield from _points(setting, data, split=split, number=number, rng=rng)


def _points(
    setting: Setting, data: Split, *, split: int, number: int, rng: np.random.Generator
) -> Iterator[Point]:
    """The points of one partition, the one with this number."""
    X_test = data.X_test
    y_test = data.y_test
    blocks = partition(data.X, setting.parties, least=setting.least, rng=rng).parties
    parties = [Party(str(i), data.X[rows], data.y[rows]) for i, rows in enumerate(blocks)]
    game = InformationGain(data.model, parties)
    exact = shapley(game, "exact")
    used = shapley_by_permutations(game, rng) if setting.sampled else exact
    scheme = RewardScheme(game, used)
    alone = [mnlp(y_test, *game.posterior([i]).predict(X_test)) for i in range(game.n)]
    everyone = mnlp(y_test, *game.posterior(range(game.n)).predict(X_test))
    noise_seed = int(rng.integers(2**31))
    for rho in RHOS:
        rewards = scheme.rewards(rho)
        # The paper shows only rewards that satisfy individual rationality.
        if not check_incentives(game, used, rewards)["R4"].holds:
            continue
        models = realise(
            game, rewards, noise_seed, noise="standardised", covariance="full", draws=DRAWS
        )
        for i, model in enumerate(models):
            # A model without noise has one score, whatever is drawn.
            scores = np.broadcast_to(mnlp(y_test, *model.predict(X_test)), DRAWS)
            for draw, score in enumerate(scores):
                yield Point(
                    split=split,
                    partition=number,
                    rho=rho,
                    party=i,
                    draw=draw,
                    share=float(scheme.shares[i]),
                    ig=float(rewards[i] - game.alone[i]),
                    ig_most=float(game.total - game.alone[i]),
                    mnlp=float(alone[i] - score),
                    mnlp_most=float(alone[i] - everyone),
                    shapley=float(exact.values[i]),
                    shapley_sampled=float(used.values[i]),
                )


def shapley_by_permutations(game: InformationGain, rng: np.random.Generator) -> Contributions:
    """The average over random permutations; all values are known here, and looked up.

    Paper: App. E.4: 3000 samples by simple random sampling.
    """
    v = game.values()
    orders = rng.permuted(np.tile(np.arange(game.n), (PERMUTATIONS, 1)), axis=1)
    # The sum of the bits of those who have joined is the bitmask of their coalition.
    joined = np.cumsum(1 << orders, axis=1)
    gains = np.diff(v[joined], axis=1, prepend=v[0])
    # From the order of joining back to the order of the parties.
    marginals = np.take_along_axis(gains, orders.argsort(axis=1), axis=1)
    errors = marginals.std(axis=0, ddof=1) / np.sqrt(PERMUTATIONS)
    return Contributions(
        values=marginals.mean(axis=0),
        standard_errors=errors,
        method="sampled",
        evaluations=PERMUTATIONS * game.n,
        concept=SHAPLEY,
    )


def _standardise(values: FloatArray, by: FloatArray) -> FloatArray:
    scale = by.std(axis=0)
    return np.asarray((values - by.mean(axis=0)) / np.where(scale > 0, scale, 1.0))


class _Rows(NamedTuple):
    """Training and test rows, standardised by the training rows alone."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray

    def with_model(self, model: Model) -> Split:
        """The split that is valued by this model."""
        return Split(X=self.X, y=self.y, X_test=self.X_test, y_test=self.y_test, model=model)


def _split(data: Dataset, rng: np.random.Generator, *, inputs_too: bool) -> _Rows:
    """80% for training and 20% for testing at random; inputs are standardised if `inputs_too`."""
    order = rng.permutation(len(data))
    train, test = np.split(order, [round(0.8 * len(order))])
    X = _standardise(data.X, data.X[train]) if inputs_too else data.X
    y = _standardise(data.y, data.y[train])
    return _Rows(X=X[train], y=y[train], X_test=X[test], y_test=y[test])


def _kernel(length_scale: float | FloatArray, *, exponential: bool) -> Kernel:
    """Squared exponential, plus the exponential kernel if `exponential`."""
    squared = 1.0 * RBF(length_scale)
    if not exponential:
        return squared
    return squared + 1.0 * Matern(length_scale, nu=0.5)


def _learned_gp(rows: _Rows, *, exponential: bool) -> GaussianProcess:
    """A length scale per feature (ARD), by maximum likelihood on the pool."""
    kernel = _kernel(np.ones(rows.X.shape[1]), exponential=exponential)
    return GaussianProcess(kernel, 0.1).fit_hyperparameters(rows.X, rows.y)


def diabetes_gp(rng: np.random.Generator, *, exponential: bool) -> Split:
    """Paper: App. E.2 (Fig. 3), App. F.2 (Fig. 9)."""
    rows = _split(diabetes(), rng, inputs_too=True)
    return rows.with_model(_learned_gp(rows, exponential=exponential))


def diabetes_fixed(rng: np.random.Generator, *, exponential: bool) -> Split:
    """Figs. 3 and 9 with hyperparameters fixed instead of learned, the same for both kernels.

    Paper: Sec. 5 says "known or learned". Amplitudes 1, length scales 3 (the root of the number of
    features) and noise variance 0.2.
    """
    rows = _split(diabetes(), rng, inputs_too=True)
    return rows.with_model(GaussianProcess(_kernel(3.0, exponential=exponential), 0.2))


def friedman_gp(rng: np.random.Generator) -> Split:
    """Paper: App. F.1 (Fig. 7)."""
    rows = _split(friedman(2000, rng), rng, inputs_too=False)
    return rows.with_model(_learned_gp(rows, exponential=False))


def friedman_sparse(rng: np.random.Generator) -> Split:
    """Paper: App. E.4 (Fig. 6).

    The paper does not say how inducing points are chosen: 100 by k-means here.
    """
    rows = _split(friedman(5000, rng), rng, inputs_too=False)
    U = inducing_points(rows.X, 100, rng=rng)
    start = SparseGaussianProcess(1.0 * RBF(np.ones(6)), 0.1, U)
    return rows.with_model(start.fit_hyperparameters(rows.X, rows.y))


class _PublicNetwork(NamedTuple):
    """A network that was trained on public data.

    Attributes:
        private: The rows that were not public, which are the parties'.
        network: The network.
        noise_variance: Learned on the public rows.
    """

    private: Dataset
    network: NetworkFeatures
    noise_variance: float


@cache
def _california_network() -> _PublicNetwork:
    """Train on 60% as public data; the other rows are for the parties."""
    data = california()
    rng = np.random.default_rng(0)
    public, private = np.split(rng.permutation(len(data)), [round(0.6 * len(data))])
    X = _standardise(data.X, data.X[public])
    y = _standardise(data.y, data.y[public])
    network = NetworkFeatures.train(X[public], y[public], (100, 50), rng=0)
    start = BayesianLinearRegression(0.2, features=network)
    model = start.fit_hyperparameters(X[public], y[public])
    return _PublicNetwork(
        private=Dataset(X[private], y[private], data.columns),
        network=network,
        noise_variance=model.noise_variance,
    )


def california_network(rng: np.random.Generator) -> Split:
    """A standard Gaussian prior on the weights of the network's last layer.

    Paper: App. E.3 (Fig. 5).
    """
    data, network, noise_variance = _california_network()
    train, test = np.split(rng.permutation(len(data))[:2000], [1600])
    return Split(
        X=data.X[train],
        y=data.y[train],
        X_test=data.X[test],
        y_test=data.y[test],
        model=BayesianLinearRegression(noise_variance, features=network),
    )


def boston_network(rng: np.random.Generator, *, informative: bool) -> Split:
    """Either a standard prior or an informative one on the weights of the network's last layer.

    Paper: App. F.1 (Fig. 8); App. F.2 (Fig. 10): prior mean the network's last weights, prior
    variance 0.01.
    """
    rows = _split(boston(), rng, inputs_too=True)
    network = NetworkFeatures.train(rows.X, rows.y, (50, 50), rng=rng, max_iter=1000)
    if informative:
        start = BayesianLinearRegression(
            0.1, prior_variance=0.01, prior_mean=network.last_weights, features=network
        )
    else:
        start = BayesianLinearRegression(0.1, features=network)
    return rows.with_model(start.fit_hyperparameters(rows.X, rows.y))


SETTINGS = {
    "fig3": Setting(prepare=lambda rng: diabetes_gp(rng, exponential=True)),
    "fig5": Setting(prepare=california_network),
    "fig6": Setting(prepare=friedman_sparse, splits=3, parties=10, least=0.05, sampled=True),
    "fig7": Setting(prepare=friedman_gp),
    "fig8": Setting(prepare=lambda rng: boston_network(rng, informative=False)),
    "fig9": Setting(prepare=lambda rng: diabetes_gp(rng, exponential=False)),
    "fig3-fixed": Setting(prepare=lambda rng: diabetes_fixed(rng, exponential=True)),
    "fig9-fixed": Setting(prepare=lambda rng: diabetes_fixed(rng, exponential=False)),
    "fig10": Setting(prepare=lambda rng: boston_network(rng, informative=True)),
}
