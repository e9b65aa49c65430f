"""r_i as a function of the noise added to the others' labels, for one party i.

The noise variance eta in [0, infinity] is written as tau = s2 / (s2 + eta) in [0, 1]: tau = 1 adds no noise and
r_i = v_N, tau = 0 hides the others' labels and r_i = v_i, and r_i(tau) is increasing and concave between.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairpool.arrays import FloatArray


class RewardCurve(Protocol):
    """r_i(tau), tau = s2 / (s2 + eta)."""

    @property
    def noise_variance(self) -> float:
        """s2, the noise variance that tau refers to."""
        ...  # pragma: no cover

    def value(self, tau: float) -> float:
        """The information gain of party i's reward data at tau."""
        ...  # pragma: no cover


@dataclass(frozen=True, eq=False)
class SpectralCurve:
    """The others' rows have one noise variance: r_i(tau) = v_i + 1/2 sum_k log(1 + tau l_k), O(m) a time.

    Attributes:
        alone: v_i.
        eigenvalues: l, of what the others' data tell beyond party i's own.
        noise_variance: s2 of the others' rows.
    """

    alone: float
    eigenvalues: FloatArray
    noise_variance: float

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        return self.alone + 0.5 * float(np.log1p(tau * self.eigenvalues).sum())


@dataclass(frozen=True, eq=False)
class DenseCurve:
    """The others' rows have different noise variances, so nothing separates: a log-determinant a time.

    Attributes:
        evaluate: r_i(tau).
        noise_variance: The s2 that tau refers to.
    """

    evaluate: Callable[[float], float]
    noise_variance: float

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        return self.evaluate(tau)


def remaining_precision(noise: FloatArray, tau: float, noise_variance: float) -> FloatArray:
    """What is left of each row's precision: s / (s + eta) for its own noise variance s [m].

    In terms of tau, so that eta may be infinite; a row of infinite noise has no precision to lose.
    """
    with np.errstate(invalid="ignore"):
        left = noise * tau / (noise * tau + noise_variance * (1 - tau))
    return np.where(np.isfinite(noise), left, 0.0)
