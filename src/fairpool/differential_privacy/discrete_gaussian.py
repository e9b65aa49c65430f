"""Exact draws from a Gaussian on whole numbers, by whole numbers alone.

Canonne, Kamath & Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, Sec. 5:
P[x] is proportional to exp(-x^2 / (2 s^2)) for whole x. No floating-point number takes part: those
that a sum plus a floating-point Gaussian can be have gaps that depend on the sum, and tell it
(Mironov, CCS 2012).

Why the guarantee is that of the continuous Gaussian (`fairpool.differential_privacy.gaussian`): put
continuous noise of variance s^2 - t^2 on a sum of whole numbers, and round it at random to whole
numbers by a discrete Gaussian of deviation t around it. That has the distribution of the sum with
discrete noise of deviation s, up to a factor between 1 - h and 1 + h with
h = 8 exp(-2 pi^2 t^2 (1 - t^2 / s^2)) (Peikert, CRYPTO 2010, Theorem 3.1). With t = 4 and s = 2^40,
h is below 1e-135, and sqrt(s^2 - t^2) short of s by 1e-23 of it.
"""

import secrets
from collections.abc import Callable

RandBelow = Callable[[int], int]
"""A whole number below its argument, each as likely as the others."""


def discrete_gaussian(deviation: int, randbelow: RandBelow = secrets.randbelow) -> int:
    """A draw: of the operating system's randomness, unless told otherwise.

    Args:
        deviation: s, a whole number from 1.
        randbelow: Where randomness comes from.
    """
    t = deviation + 1
    variance = deviation**2
    while True:
        x = _discrete_laplace(t, randbelow)
        if _happens(
            (abs(x) * t - variance) ** 2, 2 * variance * t**2, randbelow
        ):  # with probability exp(-(|x| - s^2 / t)^2 / (2 s^2))
            return x


def _discrete_laplace(scale: int, randbelow: RandBelow) -> int:
    """P[x] is proportional to exp(-|x| / scale)."""
    while True:
        rest = randbelow(scale)
        if not _happens(rest, scale, randbelow):
            continue
        whole = 0
        while _happens(1, 1, randbelow):
            whole += 1
        size = rest + scale * whole
        negative = randbelow(2) == 1
        if not (negative and not size):  # 0 has one sign only
            return -size if negative else size


def _happens(numerator: int, denominator: int, randbelow: RandBelow) -> bool:
    """Something of probability exp(-numerator / denominator)."""
    while numerator > denominator:
        if not _happens_at_most_once(1, 1, randbelow):
            return False
        numerator -= denominator
    return _happens_at_most_once(numerator, denominator, randbelow)


def _happens_at_most_once(numerator: int, denominator: int, randbelow: RandBelow) -> bool:
    """The same for an exponent of at most 1, by its series.

    The chance that k - 1 trials succeed and the k-th fails, of trials with probability g / k,
    summed over odd k, is 1 - g + g^2 / 2 - ... = exp(-g).
    """
    trial = 1
    while randbelow(denominator * trial) < numerator:
        trial += 1
    return trial % 2 == 1
