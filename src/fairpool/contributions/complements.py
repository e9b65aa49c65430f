"""The Banzhaf index from some of the coalitions: random ones, their complements, a linear fit.

With s_i = 1 for i in C and -1 otherwise, every C as likely, party i's index is 2 E[s_i v_C]: twice
its coefficient in the best linear approximation of v. Half the difference of v_C and of the
complement's value has the same coefficients, and all that is even in s has gone from it, such as
what pairs of parties have in common. So the coefficients are had by least squares from a sample of
such differences, and only what is neither linear nor even makes errors. Two cubic terms explain
some of that, too: the cubes of sum_i s_i and of sum_i v_i s_i, less their own linear approximation,
which is known exactly, so that they change no coefficient but by chance.

Very small and very large coalitions are rare among all, but their values differ most: without them
estimates would err to one side, and standard errors be too small. So a part of the sample has every
size as often, and each pair is weighted by how likely it is among all coalitions, over how likely
it was to be drawn.

The fit need not be right for the standard errors to hold: they are White's, corrected for leverage
("HC3"). The chapter docs/sampling.md derives every step.
"""

from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.contributions.estimates import (
    SAMPLES_PER_TASK,
    Estimate,
    Marginals,
    Memberships,
    known_coalitions,
    largest_magnitude,
    random_coalitions,
    refuse_large_sample,
    widening,
)
from fairpool.linear_algebra.inverse import pseudo_inverse
from fairpool.tables.arrays import TINY, FloatArray
from fairpool.values import Game
from fairpool.values.game import Evaluator

PAIRS_PER_PARTY = 5
"""How many pairs there are at least for every party.

A coefficient needs several samples, and so does its error.
"""

FEWEST_PAIRS = 32
"""How many pairs there are at least, however few parties there are."""

EVENLY = 0.25
"""The share of the coalitions that has every size as often."""

RANK = 1e-10
"""Terms that say the same to this relative precision count as one."""

BYTES_PER_SIGN = 46
"""How much memory a pair takes for every party, at most.

That is the party's membership, its sign, and what the fit computes from it.
"""

PAIRS_STREAM = 3
"""The last number of the seed that coalitions are drawn with; `sampling` has other ones."""


class PairTask(NamedTuple):
    """Coalitions that a worker draws and values with their complements.

    Its text names the results that are kept on disk.

    Attributes:
        seed: The seed of the whole estimate.
        first: The number of its first pair.
        pairs: How many pairs it has.
    """

    seed: int
    first: int
    pairs: int


@dataclass(frozen=True, eq=False)
class SizeProbabilities:
    """How likely each size of a coalition is [n + 1 each].

    Attributes:
        among_all: Where every coalition is as likely.
        among_drawn: In the sample.
    """

    among_all: FloatArray
    among_drawn: FloatArray

    @classmethod
    def of(cls, n: int) -> "SizeProbabilities":
        """Those of n parties."""
        among_all = np.array([comb(n, size) / 2**n for size in range(n + 1)])
        evenly = EVENLY / (n + 1)
        return cls(among_all, (1 - EVENLY) * among_all + evenly)

    def weights(self, coalitions: Memberships) -> FloatArray:
        """How much more likely each coalition is among all than in the sample [N]."""
        return np.asarray((self.among_all / self.among_drawn)[coalitions.sum(axis=1)])


class Fit(NamedTuple):
    """Coefficients of some terms, and their standard errors [terms each]."""

    coefficients: FloatArray
    standard_errors: FloatArray


def fewest_evaluations(n: int) -> int:
    """How many coalitions must be valued at least."""
    return known_coalitions(n) + 2 * max(PAIRS_PER_PARTY * n, FEWEST_PAIRS)


def estimate(game: Game, seed: int, evaluations: int, workers: Workers) -> Estimate:
    """Value as many coalitions as may be valued, and fit.

    1. Draw coalitions, and value each and its complement.
    2. Fit the halves of their differences by the parties' signs and the two cubic terms.
    3. The index is twice the coefficient of the party's sign.
    4. Move it to within the bounds that hold for submodular values.

    The samples follow from the seed, so the result does not depend on the number of workers.

    Args:
        game: The values.
        seed: Of the samples.
        evaluations: How many coalitions to value at most, at least `fewest_evaluations`.
        workers: Who does it.
    """
    n = game.n
    known = known_coalitions(n)
    pairs = (evaluations - known) // 2
    refuse_large_sample(BYTES_PER_SIGN * pairs * n, evaluations, n)
    tasks = _tasks(seed, pairs)
    differences = workers.map(
        half_differences,
        game.evaluator,
        tasks,
        doing="valuing sampled coalitions",
        digest=game.evaluator.digest,
    )
    drawn = np.concatenate([coalitions(n, task) for task in tasks])
    weights = SizeProbabilities.of(n).weights(drawn)
    fit = _fit(_terms(drawn, game.alone), np.concatenate(differences), weights)
    index = 2 * fit.coefficients[:n]
    errors = 2 * fit.standard_errors[:n]
    if game.properties_proved:
        bounds = Marginals.of(game)
        index = bounds.clip(index)
        errors = bounds.limit(errors)
    return Estimate(values=index, standard_errors=errors, evaluations=known + 2 * pairs)


def _tasks(seed: int, pairs: int) -> list[PairTask]:
    """All pairs, in parts of which each is one worker's task."""
    tasks = []
    for first in range(0, pairs, SAMPLES_PER_TASK):
        own_pairs = min(SAMPLES_PER_TASK, pairs - first)
        tasks.append(PairTask(seed=seed, first=first, pairs=own_pairs))
    return tasks


def coalitions(n: int, task: PairTask) -> Memberships:
    """The task's random coalitions [N, n]; their complements belong to it as well."""
    rng = np.random.default_rng([task.seed, task.first, PAIRS_STREAM])
    # Sizes first, then members: the draws' order is part of what a seed means.
    among_drawn = SizeProbabilities.of(n).among_drawn
    sizes = rng.choice(n + 1, size=task.pairs, p=among_drawn)
    return random_coalitions(rng, sizes, n)


def half_differences(evaluator: Evaluator, task: PairTask) -> FloatArray:
    """Half of v_C less the complement's value, for the task's coalitions [N]."""
    drawn = coalitions(evaluator.n, task)
    return np.asarray((evaluator.values_of(drawn) - evaluator.values_of(~drawn)) / 2)


def _terms(drawn: Memberships, alone: FloatArray) -> FloatArray:
    """What the differences are fitted by: the parties' signs and two cubic terms [N, n + 2]."""
    signs = np.where(drawn, 1.0, -1.0)
    of_size = _cubic(signs, np.ones(signs.shape[1]))
    of_values = _cubic(signs, alone)
    return np.column_stack([signs, of_size, of_values])


def _cubic(signs: FloatArray, weights: FloatArray) -> FloatArray:
    """The cube of each sample's weighted sum of signs, less its best linear approximation [N].

    That is the best over all signs:  E[s_i (sum_j w_j s_j)^3] = 3 w_i sum_j w_j^2 - 2 w_i^3.
    """
    w = weights / largest_magnitude(weights)  # squares must neither overflow nor vanish
    w = w / max(float(np.linalg.norm(w)), TINY)
    linear = 3 * w * (w @ w) - 2 * w**3
    return np.asarray((signs @ w) ** 3 - signs @ linear)


def _fit(terms: FloatArray, differences: FloatArray, weights: FloatArray) -> Fit:
    """Weighted least squares, with standard errors that hold where the terms explain not all."""
    unit = largest_magnitude(differences)  # squares must neither overflow nor vanish
    # Rows times the roots of their weights make ordinary least squares weighted.
    root = np.sqrt(weights)
    differences = differences / unit * root
    terms = terms * root[:, None]
    # The two cubic terms are the same where all parties are worth the same alone: hence the
    # pseudo-inverse.
    inverse = pseudo_inverse(terms.T @ terms, RANK)
    influence = terms @ inverse  # of each sample on each coefficient
    coefficients = influence.T @ differences
    leverage = np.einsum("sq,sq->s", influence, terms)
    residuals = differences - terms @ coefficients
    # HC3: what a sample would miss if it had not taken part in the fit.
    left_out_residuals = residuals / (1 - leverage)
    errors = np.sqrt((influence**2).T @ left_out_residuals**2)
    degrees_of_freedom = len(terms) - terms.shape[1]
    return Fit(unit * coefficients, unit * errors * widening(degrees_of_freedom))
