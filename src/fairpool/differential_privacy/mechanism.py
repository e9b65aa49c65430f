"""Sums with noise on everything that leaves: Gram matrices, moments, squares, numbers of rows.

Sums are rounded to a grid much finer than the noise, and noise is drawn on that grid
(`fairpool.differential_privacy.discrete_gaussian`), so that no number tells by its last digits what
was under the noise.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fairpool.differential_privacy.discrete_gaussian import RandBelow, discrete_gaussian
from fairpool.differential_privacy.row_bounds import RowBounds
from fairpool.tables.arrays import FloatArray

STEPS = 2**40
"""Steps of the grid in one standard deviation of the noise."""


@dataclass(frozen=True, kw_only=True)
class NoisySums:
    """What may leave.

    Attributes:
        arrays: Sums by name: gram, moment and squares, with noise.
        rows: The number of rows, with noise; at least 1.
        noise: The standard deviation on a diagonal entry of a Gram matrix.
    """

    arrays: Mapping[str, FloatArray] = field(repr=False)
    rows: int
    noise: float


def with_noise(
    arrays: Mapping[str, FloatArray],
    rows: int,
    *,
    bounds: RowBounds,
    mu: float,
    randbelow: RandBelow = secrets.randbelow,
) -> NoisySums:
    """Sums that tell no more of any one row than mu allows.

    Args:
        arrays: gram [..., d, d], moment [..., d] and squares, over rows within the bounds.
        rows: Their number; of classes, squares are the numbers that matter.
        bounds: What one row can be.
        mu: How much may be told, see `fairpool.differential_privacy.gaussian`.
        randbelow: Where randomness comes from: the operating system's.
    """
    noise = bounds.sensitivity / mu
    grid = _Grid(step=noise / STEPS, randbelow=randbelow)
    shares = bounds.shares
    squares = grid.noised(np.asarray(arrays["squares"]), shares.squares)
    if bounds.classes:
        told_rows = float(np.maximum(squares, 0.0).sum())
    else:
        told_rows = float(grid.noised(np.asarray(float(rows)), shares.rows))
    return NoisySums(
        arrays={
            "gram": grid.symmetric(arrays["gram"], shares.gram),
            "moment": grid.noised(arrays["moment"], shares.moment),
            "squares": squares,
        },
        rows=max(round(told_rows), 1),
        noise=noise,
    )


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where numbers lie, in units of a share."""

    step: float
    randbelow: RandBelow

    def noised(self, values: FloatArray, share: float) -> FloatArray:
        """Each number with noise of its own."""
        flat = [self._one(float(value), share) for value in np.ravel(values)]
        return np.reshape(np.array(flat, dtype=float), np.shape(values))

    def symmetric(self, grams: FloatArray, share: float) -> FloatArray:
        """Symmetric matrices [..., d, d]: off the diagonal, noise less by the root of 2."""
        d = grams.shape[-1]
        above = np.triu_indices(d, 1)
        noised = np.zeros_like(grams)
        noised[..., *above] = self.noised(grams[..., *above], share * np.sqrt(2.0))
        noised = noised + np.swapaxes(noised, -1, -2)
        diagonal = np.arange(d)
        noised[..., diagonal, diagonal] = self.noised(grams[..., diagonal, diagonal], share)
        return noised

    def _one(self, value: float, share: float) -> float:
        steps = round(value * share / self.step)
        noised = steps + discrete_gaussian(STEPS, self.randbelow)
        return noised * (self.step / share)
