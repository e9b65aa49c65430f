"""What Gaussian noise guarantees, exactly: epsilon, delta, and what several releases cost together.

A release has sums that one row can move by Delta at most (Euclidean length), and noise of variance
sigma^2 on every number. All that it guarantees depends on mu = Delta / sigma alone: whoever sees it
cannot tell two neighbouring tables apart better than a draw from N(0, 1) from one from N(mu, 1).
With Phi the standard normal distribution (Balle & Wang, ICML 2018, Theorem 8),

    delta(epsilon) = Phi(mu / 2 - epsilon / mu) - exp(epsilon) Phi(-mu / 2 - epsilon / mu)

and several releases of the same rows together are as one with mu^2 the sum of theirs (Dong, Roth
& Su, "Gaussian Differential Privacy", 2022, Corollary 3.3), also where each was chosen after the
others were seen. Neither is a bound: both are what the best attack attains.
"""

import math
from collections.abc import Iterable

from scipy.optimize import brentq
from scipy.special import log_ndtr

from fairpool.errors import PrivacyError

LARGEST_EPSILON = 50.0
"""Beyond, a row is not hidden in any sense: what was seen may be e^50 times as likely with it."""

LEAST_EPSILON = 1e-3
LARGEST_DELTA = 1e-3
LEAST_DELTA = 1e-15
"""Below, the two terms of delta have no digits left."""

_LOG_MU = (-25.0, 5.0)
"""Where the logarithm of mu is searched."""


def delta_of(epsilon: float, mu: float) -> float:
    """The chance beyond which nobody's odds change by more than exp(epsilon)."""
    if not mu:
        return 0.0
    # In logarithms, since exp(epsilon) overflows where its factor underflows.
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(first) * -math.expm1(min(second - first, 0.0))


def mu_of(epsilon: float, delta: float) -> float:
    """The most that a release may tell, as mu: noise of a deviation Delta / mu is enough."""
    _refuse_beyond(epsilon, delta)

    def too_much(log_mu: float) -> float:
        return math.log(max(delta_of(epsilon, math.exp(log_mu)), 1e-300) / delta)

    return math.exp(brentq(too_much, *_LOG_MU, xtol=1e-13, rtol=1e-14))


def epsilon_of(mu: float, delta: float) -> float:
    """What releases that together have this mu guarantee, at this delta."""
    if delta_of(0.0, mu) <= delta:
        return 0.0
    most = 1.0
    while delta_of(most, mu) > delta:
        most *= 2
    return float(brentq(lambda epsilon: delta_of(epsilon, mu) - delta, 0.0, most, rtol=1e-12))


def together(mus: Iterable[float]) -> float:
    """The mu of several releases of the same rows."""
    return math.sqrt(sum(mu**2 for mu in mus))


def _refuse_beyond(epsilon: float, delta: float) -> None:
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise PrivacyError(
            f"epsilon {epsilon:g} is not between {LEAST_EPSILON:g} and {LARGEST_EPSILON:g}; it says"
            " how much one row can change the odds of what is seen: 1 hides it well, 3 somewhat,"
            " 10 hardly"
        )
    if not LEAST_DELTA <= delta <= LARGEST_DELTA:
        raise PrivacyError(
            f"delta {delta:g} is not between {LEAST_DELTA:g} and {LARGEST_DELTA:g}; it is the"
            " chance that epsilon does not hold, and should be far below one over your number of"
            " rows"
        )
