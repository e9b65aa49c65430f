"""How a Brownian path is found at any eta without walking there: bridges between fixed positions.

The positions are the digits of eta as a binary number. Anchors lie 256 octaves apart; between two
of them the exponent is found by halving, then the first 30 binary digits of the mantissa. At each
position the path is drawn given its values at the two known positions around it, and that is
Brownian motion at all positions together (`docs/rounds.md`). Every position is the middle of one
interval only, so that a position names its normal variable.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fairpool.errors import RewardError, shown

OCTAVES_BETWEEN_ANCHORS = 256
"""Neighbouring anchors have a correlation of 2^-128, which double precision cannot show."""

HIGHEST = 768
"""Every eta in use lies between 2^-HIGHEST and 2^HIGHEST, which is 1.6e231."""

DIGITS = 30
"""Binary digits of eta's mantissa that have a position of their own."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One value of the path, given two others.

        W(position) = W(lower) + weight (W(upper) - W(lower)) + deviation Z(position)

    with Z standard normal, and independent for every position.

    Attributes:
        position: Where.
        lower: The nearest position below that is known; 0, where W is 0, for an anchor.
        upper: The nearest one above; 0 for an anchor.
        weight: How far the position is on the way from the lower to the upper one.
        deviation: The standard deviation that is left.
    """

    position: float
    lower: float
    upper: float
    weight: float
    deviation: float

    @classmethod
    def anchor(cls, exponent: int) -> "Step":
        """W(2^exponent), by itself."""
        # By independent increments it would be a sum over all anchors up to this one. They are at
        # most 2^-124 of its deviation and the least normal is 2^-52, so they round away, always.
        position = math.ldexp(1.0, exponent)
        deviation = math.ldexp(1.0, exponent // 2)
        return cls(position=position, lower=0.0, upper=0.0, weight=0.0, deviation=deviation)

    @classmethod
    def between(cls, lower: float, position: float, upper: float) -> "Step":
        """The Brownian bridge from one position to another."""
        # Quotients first: they are between 0 and 1 over all orders of magnitude.
        weight = (position - lower) / (upper - lower)
        deviation = math.sqrt((position - lower) * ((upper - position) / (upper - lower)))
        return cls(position=position, lower=lower, upper=upper, weight=weight, deviation=deviation)


def steps_to(eta: float) -> tuple[Step, ...]:
    """What must be drawn for W(eta), each step after those that it builds on; the last is at eta.

    Args:
        eta: From 2^-HIGHEST to below 2^HIGHEST.
    """
    if not math.ldexp(1.0, -HIGHEST) <= eta < math.ldexp(1.0, HIGHEST):
        raise RewardError(
            f"noise variance eta {shown(eta)} is not 0, nor between"
            f" {math.ldexp(1.0, -HIGHEST):.2g} and {math.ldexp(1.0, HIGHEST):.2g}; use other units"
            " of the target, or release nothing where eta is infinite"
        )
    steps = []
    for step in _way_to(eta):
        steps.append(step)
        if step.position == eta:
            break
    return tuple(steps)


def _way_to(eta: float) -> Iterator[Step]:
    exponent = math.frexp(eta)[1] - 1  # 2^exponent <= eta < 2^(exponent + 1)
    low = exponent - exponent % OCTAVES_BETWEEN_ANCHORS
    high = low + OCTAVES_BETWEEN_ANCHORS
    yield Step.anchor(low)
    yield Step.anchor(high)
    while high - low > 1:
        middle = (low + high) // 2
        yield Step.between(math.ldexp(1.0, low), math.ldexp(1.0, middle), math.ldexp(1.0, high))
        if exponent >= middle:
            low = middle
        else:
            high = middle
    lower = math.ldexp(1.0, low)
    upper = math.ldexp(1.0, high)
    for _ in range(DIGITS):
        position = (lower + upper) / 2  # exactly: it has at most 31 binary digits
        yield Step.between(lower, position, upper)
        if eta >= position:
            lower = position
        else:
            upper = position
    yield Step.between(lower, eta, upper)
