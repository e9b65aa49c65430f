"""r_i as a function of the noise added to the others' labels, for one party i.

The noise variance eta in [0, infinity] is written as tau = s2 / (s2 + eta) in [0, 1]: tau = 1 adds
no noise and r_i = v_N, tau = 0 hides the others' labels and r_i = v_i, and r_i(tau) is increasing
and concave between.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from fairpool.linear_algebra.log_determinant import half_log_determinant
from fairpool.linear_algebra.pencil import pencil_eigenvalues
from fairpool.linear_algebra.solving import solve
from fairpool.tables.arrays import FloatArray


class Curve(Protocol):
    """r_i(tau) of any mechanism: increasing from v_i at tau = 0 to v_N at tau = 1."""

    @property
    def slope(self) -> float:
        """r_i'(0), what the first bit of the others' data is worth."""
        ...  # pragma: no cover

    def value(self, tau: float) -> float:
        """The information gain of party i's reward data at tau."""
        ...  # pragma: no cover

    def for_many(self) -> "Curve":
        """The same curve, made ready to be evaluated many times."""
        ...  # pragma: no cover


class RewardCurve(Curve, Protocol):
    """That of noise on the others' labels: tau = s2 / (s2 + eta)."""

    @property
    def noise_variance(self) -> float:
        """s2, the noise variance that tau refers to."""
        ...  # pragma: no cover

    def for_many(self) -> "RewardCurve":
        """The same curve, made ready to be evaluated many times."""
        ...  # pragma: no cover


@dataclass(frozen=True, eq=False, kw_only=True)
class PencilCurve:
    """The others' rows have one noise variance: r_i(tau) = base + 1/2 log|R + tau P|.

    Each evaluation is one factorisation: right for a single reward, which takes about five.

    Attributes:
        P: What the others' data tells, precision or covariance [k, k].
        R: What party i knows already [k, k]; None for the identity.
        base: v_i, where R is the identity because P is given D_i; 0 otherwise.
        noise_variance: s2 of the others' rows.
    """

    P: FloatArray
    R: FloatArray | None
    base: float
    noise_variance: float

    @cached_property
    def slope(self) -> float:
        """r_i'(0) = 1/2 tr(R^-1 P)."""
        told = self.P if self.R is None else solve(self.R, self.P)
        return 0.5 * float(told.trace())

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        B = tau * self.P
        if self.R is None:
            B.flat[:: len(B) + 1] += 1.0
        else:
            B += self.R
        return self.base + half_log_determinant(B)

    def for_many(self) -> "SpectrumCurve":
        """The same curve from the eigenvalues of the pencil (P, R)."""
        return self._spectrum

    @cached_property
    def _spectrum(self) -> "SpectrumCurve":
        return SpectrumCurve(
            eigenvalues=np.maximum(pencil_eigenvalues(self.P, self.R), 0.0),
            alone=self.base if self.R is None else self.base + half_log_determinant(self.R),
            noise_variance=self.noise_variance,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SpectrumCurve:
    """r_i(tau) = v_i + 1/2 sum_k log(1 + tau l_k), O(k) a time.

    Attributes:
        eigenvalues: l [k], of what the others' data tells beyond party i's own.
        alone: v_i.
        noise_variance: s2 of the others' rows.
    """

    eigenvalues: FloatArray
    alone: float
    noise_variance: float

    @property
    def slope(self) -> float:
        """r_i'(0) = 1/2 sum_k l_k."""
        return 0.5 * float(self.eigenvalues.sum())

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        return self.alone + 0.5 * float(np.log1p(tau * self.eigenvalues).sum())

    def for_many(self) -> "SpectrumCurve":
        """It is ready."""
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedSpectrumCurve:
    """One decomposition I + K / s2 = I + Q diag(l) Q^T for all parties, where there are many.

    Party i's own rows keep their precision, the others' have tau of it: with Q_i its rows of Q,

        r_i(tau) = 1/2 sum_k log(1 + tau l_k)
                   + 1/2 log|I + (1 - tau) Q_i diag(l / (1 + tau l)) Q_i^T|

    (the matrix determinant lemma), which costs O(m_i^2 m) a time.

    Attributes:
        Q: Party i's rows of the eigenvectors [m_i, m].
        eigenvalues: l [m].
        noise_variance: s2.
    """

    Q: FloatArray
    eigenvalues: FloatArray
    noise_variance: float

    @cached_property
    def slope(self) -> float:
        """r_i'(0), by the formula above."""
        own = (self.Q * self.eigenvalues) @ self.Q.T
        squares = (self.Q * self.eigenvalues**2) @ self.Q.T
        inner = solve(np.eye(len(own)) + own, own + squares)
        return 0.5 * float(self.eigenvalues.sum() - inner.trace())

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        grown = 1 + tau * self.eigenvalues
        own = (self.Q * ((1 - tau) * self.eigenvalues / grown)) @ self.Q.T
        own.flat[:: len(own) + 1] += 1.0
        return 0.5 * float(np.log(grown).sum()) + half_log_determinant(own)

    def for_many(self) -> "SharedSpectrumCurve":
        """It is as ready as can be."""
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class DenseCurve:
    """The others' rows have different noise variances: each evaluation is a log-determinant.

    Attributes:
        evaluate: r_i(tau).
        slope: r_i'(0).
        noise_variance: The s2 that tau refers to.
    """

    evaluate: Callable[[float], float]
    slope: float
    noise_variance: float

    def value(self, tau: float) -> float:
        """r_i(tau)."""
        return self.evaluate(tau)

    def for_many(self) -> "DenseCurve":
        """It is as ready as can be."""
        return self


def remaining_precision(noise: FloatArray, tau: float, noise_variance: float) -> FloatArray:
    """What is left of each row's precision: s / (s + eta) for its own noise variance s [m].

    In terms of tau, so that eta may be infinite; a row of infinite noise has no precision to lose.
    """
    with np.errstate(invalid="ignore"):
        share = noise * tau / (noise * tau + noise_variance * (1 - tau))
    return np.where(np.isfinite(noise), share, 0.0)
