"""What sampled Shapley values and the sampled Banzhaf index have in common.

The derivation of both is a chapter of its own: docs/sampling.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.tables.arrays import TINY, FloatArray
from fairpool.values import Game

Z_95 = 1.96
"""Half the width of a 95% interval, in standard errors."""

SAMPLES_PER_TASK = 128
"""How many samples one task values: coalitions, or coalitions with their complements."""

Memberships = NDArray[np.bool_]
"""Coalitions as rows [N, n]: whether each party is in."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """phi, its standard errors, and from how many values they come.

    Attributes:
        values: phi [n].
        standard_errors: [n].
        evaluations: How many coalitions were valued.
    """

    values: FloatArray
    standard_errors: FloatArray
    evaluations: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Marginals:
    """What each party adds when it comes first, and when it comes last.

    Of submodular values, what a party adds to any coalition lies between the two.

    Attributes:
        alone: v_i [n].
        last: v_N - v_{N without i} [n].
    """

    alone: FloatArray
    last: FloatArray

    @classmethod
    def of(cls, game: Game) -> "Marginals":
        """Those of a game."""
        return cls(alone=game.alone, last=game.total - game.without_one)

    def scaled(self) -> "Marginals":
        """The same, each divided by its largest: only their proportions matter to a fit."""
        return Marginals(
            alone=self.alone / largest_magnitude(self.alone),
            last=self.last / largest_magnitude(self.last),
        )

    def clip(self, contributions: FloatArray) -> FloatArray:
        """The contributions [n], each moved to the nearest value between last and alone."""
        return np.clip(contributions, self.last, self.alone)

    def limit(self, errors: FloatArray) -> FloatArray:
        """The standard errors [n], none larger than the distance between last and alone."""
        distance = np.maximum(self.alone - self.last, 0.0)
        return np.minimum(errors, distance)


def known_coalitions(n: int) -> int:
    """How many coalitions have no, one, all but one, or all parties.

    They are all valued, and none of them is sampled for Shapley values.
    """
    return min(2 * n + 2, 1 << n)


def refuse_large_sample(needed: int, evaluations: int, n: int) -> None:
    """Refuse a sample that takes more bytes than there are, before anything is valued."""
    refuse_beyond_memory(
        needed,
        f"a sample of {evaluations} coalitions of {n} parties",
        "give fewer evaluations",
    )


def random_coalitions(rng: np.random.Generator, sizes: NDArray[np.int64], n: int) -> Memberships:
    """One coalition of each of the sizes, all coalitions of that size being as likely [N, n]."""
    # Whoever comes first in a random order of all parties is a random coalition of that size.
    order = rng.random((len(sizes), n)).argsort(axis=1)
    rank_of_party = order.argsort(axis=1)
    return np.asarray(rank_of_party < sizes[:, None])


def largest_magnitude(numbers: FloatArray) -> float:
    """The largest absolute value, to divide by: squares then neither overflow nor vanish."""
    return max(float(np.abs(numbers).max()), TINY)


def widening(degrees_of_freedom: FloatArray | float) -> FloatArray:
    """What to multiply standard errors by, so that 1.96 of them are a 95% interval.

    A variance that is estimated from few samples is uncertain itself: Student's t takes the place
    of the normal distribution.
    """
    return np.asarray(stdtrit(degrees_of_freedom, 0.975) / Z_95)
