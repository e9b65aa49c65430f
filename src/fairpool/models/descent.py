"""The minimum of a smooth function within bounds: L-BFGS with steps that are never long.

A quasi-Newton method knows the function near the points it has seen, and nothing beyond. Its first
step follows the gradient, whose length has no meaning: that of a likelihood of 1000 rows is some
hundreds, and a step as long as that ends in a corner of the bounds, where a covariance cannot be
factorised or the function is flat. So one rule governs all steps here: no variable moves by more
than STEP at once, and a step to where the function cannot be computed, or does not fall enough, was
too long and is shortened. Nothing else needs to be known about cliffs.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairpool.linear_algebra.cholesky import NotComputable
from fairpool.tables.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""x [n] -> value, gradient [n].

It raises `NotComputable` where it cannot be computed.
"""

STEP = 2.0
"""How far a variable moves at once at most; for logarithms that is a factor of seven."""

FIRST_STEP = 1.0
"""The length of a step along the gradient, while nothing is known about the curvature."""

MEMORY = 30
"""So many steps' curvature is remembered.

They cost nothing beside a likelihood, and spare evaluations.
"""

MOST_STEPS = 500
"""A search that needs more is given up; those that end need some 30."""

SHORTENINGS = 25
"""How often a step is shortened before its direction is given up."""

NEAR = 1e-6
"""A variable this close to its bound, and pushed against it, is held there.

Nothing is to be gained by the rest of the way.
"""

NO_SLOPE = 1e-9
"""The share of the tolerance below which a gradient is none."""

ENOUGH = 1e-4
"""The share of the fall promised by the gradient that a step must achieve (Armijo's condition)."""

SMALL_FALLS = 2
"""After this many falls in a row that do not matter, the search ends."""


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Where a descent ended.

    Attributes:
        x: The lowest point seen [n].
        value: The function there.
        gradient: Its gradient there [n].
        projected: The gradient of the variables that no bound holds, 0 for the others [n]: all of
            it 0 at a minimum.
        reached: Whether all of it is within the tolerance: the point is a minimum, to that
            tolerance.
        evaluations: How often the function was computed.
    """

    x: FloatArray
    value: float
    gradient: FloatArray
    projected: FloatArray
    reached: bool
    evaluations: int


class Point(NamedTuple):
    """A point with the function's value and gradient."""

    x: FloatArray
    value: float
    gradient: FloatArray


def minimise(
    function: Objective,
    start: FloatArray,
    bounds: FloatArray,
    *,
    tolerance: float,
    small_fall: float,
) -> Descent:
    """Go down from a start until the gradient is small and the function falls no more.

    Args:
        function: What to minimise; it must be possible to compute it at the start.
        start: A point within the bounds [n].
        bounds: The least and the largest value of each variable [n, 2]; they may be infinite.
        tolerance: A point where no component of the projected gradient is larger counts as a
            minimum.
        small_fall: A step by which the function falls less than this does not matter.
    """
    lower, upper = bounds.T
    search = _LineSearch(function, lower, upper)
    memory = _Memory()
    point = search.at(start)
    small_falls = 0
    for _ in range(MOST_STEPS):
        free = _free(point, lower, upper)
        gradient = np.where(free, point.gradient, 0.0)
        if _largest(gradient) <= NO_SLOPE * tolerance:
            break
        following = search.along(memory.direction(gradient, free), point)
        if following is None:
            if memory.is_empty:
                break
            memory.clear()  # what is remembered may mislead: once more along the gradient
            continue
        memory.add(following.x - point.x, following.gradient - point.gradient)
        if point.value - following.value <= small_fall:
            small_falls += 1
        else:
            small_falls = 0
        point = following
        if small_falls == SMALL_FALLS:
            break
    projected = np.where(_free(point, lower, upper), point.gradient, 0.0)
    return Descent(
        x=point.x,
        value=point.value,
        gradient=point.gradient,
        projected=projected,
        reached=_largest(projected) <= tolerance,
        evaluations=search.evaluations,
    )


class _LineSearch:
    """Points along a direction, within the bounds, at which the function is enough lower."""

    def __init__(self, function: Objective, lower: FloatArray, upper: FloatArray) -> None:
        self.function = function
        self.lower = lower
        self.upper = upper
        self.evaluations = 0

    def at(self, x: FloatArray) -> Point:
        """The function at a point where it can be computed."""
        self.evaluations += 1
        value, gradient = self.function(x)
        if not np.isfinite(value) or not np.isfinite(gradient).all():
            raise NotComputable("the function is not finite")
        return Point(x, value, gradient)

    def along(self, direction: FloatArray, point: Point) -> Point | None:
        """The next point; None where the function does not fall however short the step."""
        if not direction.any():
            return None
        length = min(1.0, STEP / _largest(direction))
        for _ in range(SHORTENINGS):
            x = np.clip(point.x + length * direction, self.lower, self.upper)
            promised = float(point.gradient @ (x - point.x))
            if promised >= 0:  # the bounds took away all that would have fallen
                length *= 0.25
                continue
            try:
                candidate = self.at(x)
            except NotComputable:
                length *= 0.25
                continue
            rise = candidate.value - point.value
            if rise <= ENOUGH * promised:
                return candidate
            # The minimum of the parabola through both values and the slope, but neither too near
            # nor too far.
            shortening = -promised / (2 * (rise - promised))
            length *= float(np.clip(shortening, 0.1, 0.5))
        return None


class _Pair(NamedTuple):
    """A step, and how the gradient changed along it."""

    step: FloatArray
    change: FloatArray

    @property
    def is_convex(self) -> bool:
        """Whether the function curves upwards along the step.

        If it does for every pair, the inverse Hessian stays positive definite.
        """
        least = 1e-10 * np.linalg.norm(self.step) * np.linalg.norm(self.change)
        return bool(self.step @ self.change > least)


class _Memory:
    """The last steps, which tell about the curvature."""

    def __init__(self) -> None:
        self.pairs: deque[_Pair] = deque(maxlen=MEMORY)

    @property
    def is_empty(self) -> bool:
        return not self.pairs

    def clear(self) -> None:
        self.pairs.clear()

    def add(self, step: FloatArray, change: FloatArray) -> None:
        pair = _Pair(step, change)
        if pair.is_convex:
            self.pairs.append(pair)

    def direction(self, gradient: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
        """Minus the inverse Hessian times the gradient, both of the free variables alone."""
        pairs = []
        for step, change in self.pairs:
            pair = _Pair(np.where(free, step, 0.0), np.where(free, change, 0.0))
            if pair.is_convex:
                pairs.append(pair)
        if not pairs:
            largest = _largest(gradient)
            # Scaled first: the squares of small slopes would vanish.
            norm = largest * float(np.linalg.norm(gradient / largest))
            return -gradient * min(1.0, FIRST_STEP / norm)
        # L-BFGS's two loops, from the last step to the first and back: the product with the inverse
        # Hessian, which is never formed.
        rest = gradient.copy()
        shares = []
        for step, change in reversed(pairs):
            share = (step @ rest) / (step @ change)
            rest -= share * change
            shares.append(share)
        step, change = pairs[-1]
        rest *= (step @ change) / (change @ change)  # the curvature along the last step, for all
        for (step, change), share in zip(pairs, reversed(shares), strict=True):
            rest += step * (share - (change @ rest) / (step @ change))
        return -rest


def _free(point: Point, lower: FloatArray, upper: FloatArray) -> NDArray[np.bool_]:
    """Which variables are not held by a bound that the function pushes them against."""
    held_below = (point.x <= lower + NEAR) & (point.gradient > 0)
    held_above = (point.x >= upper - NEAR) & (point.gradient < 0)
    return ~(held_below | held_above)


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
