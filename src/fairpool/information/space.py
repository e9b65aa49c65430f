"""What every space is: the linear algebra of Eq. (1), wherever it is done.

To add a space, write a class with these members in a file beside this one, and let a model's
`space` return it (see `fairpool.models.model`).
"""

from concurrent.futures import Executor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.information.reward_curve import RewardCurve
from fairpool.tables.arrays import FloatArray


class Space(Protocol):
    """All that the values of coalitions depend on: no labels, and no model.

    Two are known. `KernelSpace` has one row and column per data point, `WeightSpace` one per
    weight; which of them a model uses is the model's choice, and the values are the same.
    """

    @property
    def n(self) -> int:
        """The number of parties."""
        ...  # pragma: no cover

    @property
    def rounding_error(self) -> float:
        """How far rounding may put any coalition's value off, in nats."""
        ...  # pragma: no cover

    @property
    def curve_bytes(self) -> int:
        """How much memory a reward curve holds."""
        ...  # pragma: no cover

    def value(self, mask: int) -> float:
        """v_C of the coalition with this bitmask, by one factorisation."""
        ...  # pragma: no cover

    def values(self, executor: Workers | Executor | None = None) -> FloatArray:
        """v_C of all 2**n coalitions [2**n], which share work."""
        ...  # pragma: no cover

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n]."""
        ...  # pragma: no cover

    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]."""
        ...  # pragma: no cover

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """What it costs to value a coalition of each size, relative to others."""
        ...  # pragma: no cover

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        ...  # pragma: no cover

    def reward_curve(self, party: int, noise_variance: float) -> RewardCurve:
        """r_i(tau) for party i.

        Args:
            party: i.
            noise_variance: s2 to measure tau by, where the others' rows do not agree on one.
        """
        ...  # pragma: no cover

    @property
    def work_per_value(self) -> float:
        """How many multiplications a value takes, roughly, where all 2**n are computed together."""
        ...  # pragma: no cover

    def with_more_rows(
        self, party: int, *, rows: int, more: int, rng: np.random.Generator
    ) -> "Space":
        """The same, as if a party had more rows of the kind that it has, drawn at random.

        Args:
            party: Whose rows.
            rows: How many it has.
            more: How many come to them.
            rng: Draws them.
        """
        ...  # pragma: no cover
