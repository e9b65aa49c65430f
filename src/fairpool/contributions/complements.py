"""The Banzhaf index from some of the coalitions: random ones, each with its complement, and a
linear fit.

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
("HC3").
"""

from math import comb

import numpy as np
from scipy.special import stdtrit

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.compute.workers import Workers
from fairpool.contributions.sampling import CHUNK, Z_95, Estimate, Memberships, known_coalitions
from fairpool.tables.arrays import TINY, FloatArray
from fairpool.values import Game
from fairpool.values.game import Evaluator

PAIRS_PER_PARTY = 5
"""At least: a coefficient needs several samples, and so does its error."""

FEWEST_PAIRS = 32
"""However few parties there are."""

EVENLY = 0.25
"""Of the coalitions, the share that has every size as often."""

RANK = 1e-10
"""Terms that say the same to this relative precision count as one."""

BYTES_PER_SIGN = 46
"""Of a pair and a party, at most: its membership, its sign, and what the fit needs of it."""

Task = tuple[int, int, int]
"""Seed, the first pair's number, and how many pairs."""


def fewest_evaluations(n: int) -> int:
    """How many coalitions must be valued at least."""
    return known_coalitions(n) + 2 * max(PAIRS_PER_PARTY * n, FEWEST_PAIRS)


def estimate(game: Game, seed: int, evaluations: int, workers: Workers) -> Estimate:
    """Value so many coalitions, and fit.

    The samples follow from the seed, so the result does not depend on the number of workers.

    Args:
        game: The values.
        seed: Of the samples.
        evaluations: How many coalitions to value at most, at least `fewest_evaluations`.
        workers: Who does it.
    """
    known = known_coalitions(game.n)
    pairs = (evaluations - known) // 2
    refuse_beyond_memory(
        BYTES_PER_SIGN * pairs * game.n,
        f"a sample of {evaluations} coalitions of {game.n} parties",
        "give fewer evaluations",
    )
    tasks = [(seed, start, min(CHUNK, pairs - start)) for start in range(0, pairs, CHUNK)]
    differences = workers.map(
        half_differences,
        game.evaluator,
        tasks,
        "valuing sampled coalitions",
        digest=game.evaluator.digest,
    )
    sampled = np.concatenate([coalitions(game.n, task) for task in tasks])
    signs = np.where(sampled, 1.0, -1.0)
    terms = np.column_stack([signs, _cubic(signs, np.ones(game.n)), _cubic(signs, game.alone)])
    likely, drawn = _likely_sizes(game.n)
    weight = (likely / drawn)[sampled.sum(axis=1)]
    coefficients, errors = _fit(terms, np.concatenate(differences), weight)
    phi, errors = _within_bounds(game, 2 * coefficients[: game.n], 2 * errors[: game.n])
    return Estimate(phi, errors, known + 2 * pairs)


def coalitions(n: int, task: Task) -> Memberships:
    """The task's random coalitions [N, n]; their complements belong to it as well."""
    seed, start, count = task
    rng = np.random.default_rng([seed, start, 3])
    _, drawn = _likely_sizes(n)
    k = rng.choice(n + 1, size=count, p=drawn)
    ranks = rng.random((count, n)).argsort(axis=1).argsort(axis=1)
    return np.asarray(ranks < k[:, None])


def _likely_sizes(n: int) -> tuple[FloatArray, FloatArray]:
    """How likely each size is among all coalitions, and among those drawn [n + 1 each]."""
    likely = np.array([comb(n, k) / 2**n for k in range(n + 1)])
    return likely, (1 - EVENLY) * likely + EVENLY / (n + 1)


def half_differences(evaluator: Evaluator, task: Task) -> FloatArray:
    """Half of v_C less the complement's value, for the task's coalitions [N]."""
    S = coalitions(evaluator.n, task)
    return np.asarray((evaluator.values_of(S) - evaluator.values_of(~S)) / 2)


def _cubic(signs: FloatArray, weights: FloatArray) -> FloatArray:
    """The cube of each sample's weighted sum of signs, less its best linear approximation over all
    signs [N].

    E[s_i (sum_j w_j s_j)^3] = 3 w_i sum_j w_j^2 - 2 w_i^3.
    """
    w = weights / max(
        float(np.abs(weights).max()), TINY
    )  # squares must neither overflow nor vanish
    w = w / max(float(np.linalg.norm(w)), TINY)
    return np.asarray((signs @ w) ** 3 - signs @ (3 * w * (w @ w) - 2 * w**3))


def _fit(
    terms: FloatArray, differences: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The terms' coefficients by weighted least squares, and their standard errors [q each]."""
    unit = max(float(np.abs(differences).max()), TINY)
    differences = differences / unit * np.sqrt(weight)  # squares must neither overflow nor vanish
    terms = terms * np.sqrt(weight)[:, None]
    # The two cubic terms are the same where all parties are worth the same alone: hence the
    # pseudo-inverse.
    parts = terms @ np.linalg.pinv(
        terms.T @ terms, rcond=RANK, hermitian=True
    )  # of samples in coefficients
    coefficients = parts.T @ differences
    leverage = np.einsum("sq,sq->s", parts, terms)
    missed = (differences - terms @ coefficients) / (1 - leverage)
    errors = np.sqrt((parts**2).T @ missed**2)
    widening = stdtrit(len(terms) - terms.shape[1], 0.975) / Z_95  # so that 1.96 errors are 95%
    return unit * coefficients, unit * errors * widening


def _within_bounds(
    game: Game, phi: FloatArray, errors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Of submodular values, what party i adds lies between what it adds as the last and as the first."""
    if not game.properties_proved:
        return phi, errors
    least, most = game.total - game.without_one, game.alone
    return np.clip(phi, least, most), np.minimum(errors, np.maximum(most - least, 0.0))
