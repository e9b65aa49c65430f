"""Where on its curve r_i(tau) a reward is: the root of r_i(tau) - r_i*, for any mechanism."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from fairpool.contributions import shapley
from fairpool.errors import RewardError
from fairpool.information.reward_curve import Curve
from fairpool.rewards.scheme import RewardScheme, SilentScheme, round_down
from fairpool.tables.arrays import FloatArray, as_numbers
from fairpool.values import Game, tolerance_of

PATIENCE = 6
"""How often a curve is evaluated before it is made ready for more.

That costs as much as eight evaluations, and then they cost next to nothing; most searches need
five.
"""

ROUNDING = 2 * np.finfo(float).eps
"""A log-determinant is not known better than this share of it."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """Where on its curve r_i(tau) a reward is.

    Attributes:
        tau: How much of what the others' data tell is left: from 1 (all of it, r_i = v_N) to 0
            (nothing, r_i = v_i).
        value: r_i(tau), what the reward is worth.
    """

    tau: float
    value: float


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a party's reward shall be worth, and between what it can be.

    Attributes:
        target: r_i*.
        alone: v_i.
        total: v_N.
        tolerance: How far apart two values may be and still be the same.
    """

    target: float
    alone: float
    total: float
    tolerance: float


def goals_of(game: Game, rewards: Any) -> list[Goal]:
    """Every party's goal, when it can be reached."""
    tolerance = tolerance_of(game)
    goals = []
    for target, alone in zip(check_targets(game, rewards), game.alone, strict=True):
        goals.append(
            Goal(
                target=float(target),
                alone=min(float(alone), game.total),  # more, it can only be by rounding
                total=game.total,
                tolerance=tolerance,
            )
        )
    return goals


def level_at_end(goal: Goal) -> Level | None:
    """The level of a reward that is worth v_N or v_i; None if it lies between."""
    if goal.total <= goal.tolerance:  # there is nothing to give: not even the others' labels
        return Level(tau=0.0, value=goal.alone)
    # A target below v_i never gives away the others' labels.
    if goal.target >= max(goal.total - goal.tolerance, goal.alone):
        return Level(tau=1.0, value=goal.total)
    if goal.target <= goal.alone + goal.tolerance:
        return Level(tau=0.0, value=goal.alone)
    return None


def level_between(goal: Goal, curve: Curve) -> Level:
    """The level of a reward between v_i and v_N: the root of r_i(tau) - r_i*.

    Paper: Sec. 4.3, App. E: by TOMS Algorithm 748.
    Differs from the paper: solved in tau, which is bounded, instead of the noise variance, and bent
    so that the curve is nearly straight; there Brent's method needs four evaluations, no more than
    TOMS 748, and wastes no time between them.
    """
    b = _bend(float(curve.slope / (goal.total - goal.alone)))
    search = _Search(curve=curve, bend=b, goal=goal)
    # The search goes in as an argument: what the function itself held, the solver would keep until
    # garbage is collected.
    x = brentq(_excess, 0.0, 1.0, (search,), xtol=1e-300, rtol=4 * np.finfo(float).eps)
    tau = _tau(x, b)
    return Level(tau=tau, value=search.evaluate(tau))


@dataclass(kw_only=True)
class _Search:
    """One search on one curve; it counts its evaluations, and so is not frozen."""

    curve: Curve
    bend: float
    goal: Goal
    evaluations: int = 0

    def evaluate(self, tau: float) -> float:
        """r_i(tau)."""
        if self.evaluations == PATIENCE:
            self.curve = self.curve.for_many()
        self.evaluations += 1
        return self.curve.value(tau)


def _tau(x: float, b: float) -> float:
    """(e^bx - 1) / (e^b - 1): as a function of x the curve is nearly straight."""
    return float(np.expm1(b * x) / np.expm1(b)) if b else x


def _excess(x: float, search: _Search) -> float:
    """By how much the reward is worth more than its target."""
    goal = search.goal
    # The ends are known from the game itself: rounding there cannot cost the change of sign.
    if x == 0:
        return goal.alone - goal.target
    if x == 1:
        return goal.total - goal.target
    difference = search.evaluate(_tau(x, search.bend)) - goal.target
    return difference if abs(difference) > ROUNDING * goal.total else 0.0


@lru_cache(maxsize=4096)
def _bend(ratio: float) -> float:
    """b with (e^b - 1) / b = ratio: the slope at the start is `ratio` times the mean slope.

    The curve is then log(1 + (e^b - 1) tau) / b, if the others' data tells equally much everywhere.
    """
    if not 1 + 1e-6 < ratio < 1e100:
        return 0.0
    most = 2 * np.log(ratio) + 2
    return float(brentq(_bend_error, 1e-9, most, (ratio,), rtol=1e-6, xtol=1e-9))


def _bend_error(b: float, ratio: float) -> float:
    return float(np.expm1(b) / b - ratio)


def check_targets(game: Game, rewards: Any, scheme: RewardScheme | None = None) -> FloatArray:
    """The targets [n], if they can be reached: each between v_i and v_N.

    Args:
        game: The values.
        rewards: The targets r* [n].
        scheme: Where the rewards come from, so that the remedy is a rho of that scheme; by default
            that of Shapley values.
    """
    targets = as_numbers(rewards, game.n, "rewards")
    tolerance = tolerance_of(game)
    for i, target in enumerate(targets):
        name = game.names[i]
        alone = game.alone[i]
        if target > game.total + tolerance:
            raise RewardError(
                f'party "{name}": target {target:.6g} is above v_N = {game.total:.6g}, the value of'
                " all data (R2); no model can be worth more"
            )
        if target < alone - tolerance:
            raise RewardError(
                f'party "{name}": target {target:.6g} is below its own value {alone:.6g} (R4);'
                f" {_remedy(game, i, scheme)}"
                " (weakening the others' data cannot take away its own)"
            )
    return targets


def _remedy(game: Game, i: int, scheme: RewardScheme | None) -> str:
    if scheme is not None and scheme.shares[i] == 0:
        # Some concepts count valuable data for nothing; then no rho above 0 gives anything for it.
        concept = scheme.contributions.concept.name
        return (
            f'it contributes nothing by contributions = "{concept}", and receives nothing unless'
            ' rho = 0; use rho = "welfare", or measure contributions in another way'
        )
    if not game.enumerable:
        return 'use a smaller rho, such as "rational"'
    scheme = scheme or SilentScheme(game, shapley(game))
    rho = scheme.rho_rational
    if rho > 0:
        return f"use rho <= {min(round_down(rho), 1.0):g}"
    return "give it at least that"
