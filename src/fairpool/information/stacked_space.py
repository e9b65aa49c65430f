"""Several independent latent functions, such as one for each class: their information adds up."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.checkpoint import digest_of
from fairpool.compute.workers import Workers
from fairpool.information.reward_curve import RewardCurve
from fairpool.information.space import Space
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class StackedSpace:
    """The same parties' data, as each of several latent functions sees them.

    v_C = sum over functions c of v_C^c: sums of monotone and submodular games are such, too.

    Attributes:
        layers: One space for each function.
    """

    layers: tuple[Space, ...]

    @property
    def n(self) -> int:
        """The number of parties."""
        return self.layers[0].n

    @property
    def rounding_error(self) -> float:
        """How far rounding may put any coalition's value off, in nats."""
        return sum(layer.rounding_error for layer in self.layers)

    @property
    def curve_bytes(self) -> int:
        """How much memory a reward curve holds."""
        return sum(layer.curve_bytes for layer in self.layers)

    def value(self, mask: int) -> float:
        """v_C of one coalition."""
        return sum(layer.value(mask) for layer in self.layers)

    def values(self, executor: Workers | Executor | None = None) -> FloatArray:
        """v_C of all 2**n coalitions [2**n]."""
        return _sum([layer.values(executor) for layer in self.layers])

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n]."""
        return _sum([layer.values_of(S) for layer in self.layers])

    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]."""
        return _sum([layer.without_one() for layer in self.layers])

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """What it costs to value a coalition of each size."""
        return _sum([layer.cost(sizes) for layer in self.layers])

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        text = "-".join(layer.digest() for layer in self.layers)
        return digest_of(np.frombuffer(text.encode(), dtype=np.uint8))

    def reward_curve(self, party: int, noise_variance: float) -> "StackedCurve":
        """r_i(tau) for party i, with the same noise on the labels of every function."""
        curves = tuple(layer.reward_curve(party, noise_variance) for layer in self.layers)
        return StackedCurve(curves=curves, noise_variance=noise_variance)

    @property
    def work_per_value(self) -> float:
        """How many multiplications a value takes, roughly."""
        return sum(layer.work_per_value for layer in self.layers)

    def with_more_rows(
        self, party: int, *, rows: int, more: int, rng: np.random.Generator
    ) -> "StackedSpace":
        """The same, as if a party had more rows of the kind that it has."""
        return StackedSpace(
            tuple(
                layer.with_more_rows(party, rows=rows, more=more, rng=rng) for layer in self.layers
            )
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class StackedCurve:
    """r_i(tau) of several functions: one noise variance eta for all, whatever their own noise.

    A curve of noise variance s measures eta by tau_c = s / (s + eta). With tau = s2 / (s2 + eta),
    that is tau_c = s tau / (s tau + s2 (1 - tau)).

    Attributes:
        curves: One for each function.
        noise_variance: The s2 that tau refers to.
    """

    curves: tuple[RewardCurve, ...]
    noise_variance: float

    @property
    def slope(self) -> float:
        """r_i'(0): tau_c leaves 0 at the rate s / s2."""
        slopes = [curve.slope * curve.noise_variance for curve in self.curves]
        return sum(slopes) / self.noise_variance

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        value = 0.0
        for curve in self.curves:
            left = curve.noise_variance * tau
            value += curve.value(left / (left + self.noise_variance * (1 - tau)))
        return value

    def for_many(self) -> "StackedCurve":
        """The same curve, made ready to be evaluated many times."""
        curves = tuple(curve.for_many() for curve in self.curves)
        return StackedCurve(curves=curves, noise_variance=self.noise_variance)


def _sum(arrays: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.sum(arrays, axis=0))
