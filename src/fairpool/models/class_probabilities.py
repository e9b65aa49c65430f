"""Probabilities of classes: the mean of a softmax over independent normal latent values.

p_c = E[exp(f_c) / sum_j exp(f_j)], f_j ~ N(mean_j, variance_j). For two classes that is an integral
over one number, f_1 - f_0; for more it is taken over normal numbers that are spread evenly and are
always the same. So whoever asks twice is told the same.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats.qmc import Sobol

from fairpool.tables.arrays import FloatArray, read_only

HALF_WIDTH = 8.5
NODES = 1025
"""Of the trapezoidal rule: its error is exp(-2 pi^2 / (h deviation)), h their distance."""

POINTS = 4096
"""Of the Sobol sequence, for more than two classes."""

BLOCK_VALUES = 1 << 18
"""So many latent values are looked at together: few enough for a processor's cache."""


class Probabilities(NamedTuple):
    """What classes some rows may be of.

    Attributes:
        mean: The probability of each class [t, k].
        variance: Of the most probable class's probability [t]: how much of it hangs on what the
            model does not know.
    """

    mean: FloatArray
    variance: FloatArray


def class_probabilities(mean: FloatArray, variance: FloatArray) -> Probabilities:
    """Of latent values with these means and variances, both [t, k]."""
    if mean.shape[1] == 2:
        return _of_two(mean, variance)
    points = normal_points(mean.shape[1])
    step = max(1, BLOCK_VALUES // points.size)
    parts = []
    for start in range(0, len(mean), step):
        block = slice(start, start + step)
        parts.append(_of_many(mean[block], variance[block], points))
    p = np.concatenate([np.empty((0, mean.shape[1])), *(part.mean for part in parts)])
    return Probabilities(p, np.concatenate([np.empty(0), *(part.variance for part in parts)]))


def _of_two(mean: FloatArray, variance: FloatArray) -> Probabilities:
    z, weights = trapezoid()
    difference = mean[:, 1] - mean[:, 0]
    deviation = np.sqrt(variance.sum(axis=1))
    p = np.empty((len(mean), 2))
    square = np.empty(len(mean))
    step = max(1, BLOCK_VALUES // NODES)
    for start in range(0, len(mean), step):
        block = slice(start, start + step)
        f = difference[block, None] + deviation[block, None] * z
        # The smaller probability is not the difference of two nearly equal ones.
        p[block] = np.column_stack([expit(-f) @ weights, expit(f) @ weights])
        square[block] = expit(f) ** 2 @ weights
    spread = square - p[:, 1] ** 2  # the same for both, since they sum to one
    return Probabilities(p, np.maximum(spread, 0.0))


def _of_many(mean: FloatArray, variance: FloatArray, points: FloatArray) -> Probabilities:
    # Classes come first, since a maximum or sum over the first axis is many times as fast as one
    # over a short last one.
    p = np.sqrt(variance).T[:, :, None] * points[:, None, :]
    p += mean.T[:, :, None]  # [k, t, points]
    p -= p.max(axis=0)
    np.exp(p, out=p)
    p /= p.sum(axis=0)
    means = p.mean(axis=2).T
    likely = p[means.argmax(axis=1), np.arange(len(mean))]
    return Probabilities(means, likely.var(axis=1))


@lru_cache(maxsize=1)
def trapezoid() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for the mean of a function of a standard normal number."""
    z = np.linspace(-HALF_WIDTH, HALF_WIDTH, NODES)
    density = np.exp(-0.5 * z**2)
    return read_only(z), read_only(density / density.sum())


@lru_cache(maxsize=8)
def normal_points(k: int) -> FloatArray:
    """Standard normal numbers [k, POINTS], evenly spread."""
    unit = Sobol(k, scramble=False).random(POINTS) + 0.5 / POINTS
    return read_only(np.ascontiguousarray(ndtri(unit).T))
