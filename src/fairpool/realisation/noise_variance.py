"""Sec. 4.3: the noise variance eta_i at which party i's reward data is worth just its reward."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from fairpool.contributions import shapley
from fairpool.errors import GameError, RewardError, shown
from fairpool.information import RewardCurve
from fairpool.rewards.scheme import SilentScheme, round_down
from fairpool.tables.arrays import FloatArray, as_numbers
from fairpool.values import Game, InformationGain, tolerance_of

ROUNDING = 2 * np.finfo(float).eps
"""A log-determinant is not known better than this share of it."""


@dataclass(frozen=True)
class NoiseLevel:
    """How much noise a party's reward has.

    Attributes:
        eta: Variance of the noise on the others' labels, from 0 to infinity.
        tau: s2 / (s2 + eta), the share of the others' precision that is left, from 1 to 0.
        value: r_i, the information gain of the reward data at this noise.
    """

    eta: float
    tau: float
    value: float


def noise_levels(game: Game, rewards: Any) -> tuple[NoiseLevel, ...]:
    """For every party the noise level that realises its reward.

    Paper: Sec. 4.3, App. E: the root of I(theta; D_i^r) - r_i* by TOMS Algorithm 748.
    Differs from the paper: solved in tau instead of eta, which is bounded, and bent so that the
    curve is nearly straight; there Brent's method needs four evaluations, no more than TOMS 748,
    and wastes no time between them. The game keeps the curves, so that any number of rhos costs
    hardly more than one.

    Args:
        game: An `InformationGain`.
        rewards: The targets r* [n].
    """
    targets = check_targets(game, rewards)
    if not isinstance(game, InformationGain):
        raise GameError(f"{shown(game)} has no data to make models of; realise an InformationGain")
    tolerance = tolerance_of(game)
    levels = []
    for i, target in enumerate(targets):
        alone = min(float(game.alone[i]), game.total)  # more, it can only be by rounding
        if game.total <= tolerance:  # there is nothing to give: not even the others' labels
            levels.append(NoiseLevel(np.inf, 0.0, alone))
            continue
        levels.append(_solve(game.reward_curve(i), float(target), alone, game.total, tolerance))
    return tuple(levels)


def _solve(
    curve: RewardCurve, target: float, alone: float, total: float, tolerance: float
) -> NoiseLevel:
    if target >= max(
        total - tolerance, alone
    ):  # a target below v_i never gives away the others' labels
        return NoiseLevel(0.0, 1.0, total)
    if target <= alone + tolerance:
        return NoiseLevel(np.inf, 0.0, alone)
    # As a function of x, with tau = (e^bx - 1) / (e^b - 1), the curve is nearly straight, and the
    # search short.
    b = _bend(float(curve.slope / (total - alone)))
    # The curve goes in as an argument: what the function itself held, the solver would keep until
    # garbage is collected.
    x = brentq(
        _excess,
        0.0,
        1.0,
        (curve, b, target, alone, total),
        xtol=1e-300,
        rtol=4 * np.finfo(float).eps,
    )
    tau = _tau(x, b)
    return NoiseLevel(curve.noise_variance * (1 - tau) / tau, tau, curve.value(tau))


def _tau(x: float, b: float) -> float:
    return float(np.expm1(b * x) / np.expm1(b)) if b else x


def _excess(
    x: float, curve: RewardCurve, b: float, target: float, alone: float, total: float
) -> float:
    """By how much the reward is worth more than its target."""
    # The ends are known from the game itself, so that rounding there cannot cost the change of
    # sign.
    if x in (0.0, 1.0):
        return (alone, total)[int(x)] - target
    difference = curve.value(_tau(x, b)) - target
    return difference if abs(difference) > ROUNDING * total else 0.0


@lru_cache(maxsize=4096)
def _bend(ratio: float) -> float:
    """b with (e^b - 1) / b = ratio, for a curve whose slope at the start is `ratio` times its mean
    slope.

    It is then log(1 + (e^b - 1) tau) / b, if the others' data tells equally much everywhere.
    """
    if not 1 + 1e-6 < ratio < 1e100:
        return 0.0
    return float(
        brentq(lambda b: np.expm1(b) / b - ratio, 1e-9, 2 * np.log(ratio) + 2, rtol=1e-6, xtol=1e-9)
    )


def check_targets(game: Game, rewards: Any) -> FloatArray:
    """The targets [n], when noise can reach them: between what a party has alone and what all have together."""
    targets = as_numbers(rewards, game.n, "rewards")
    tolerance = tolerance_of(game)
    for name, target, alone in zip(game.names, targets, game.alone, strict=True):
        if target > game.total + tolerance:
            raise RewardError(
                f'party "{name}": target {target:.6g} is above v_N = {game.total:.6g}, the value of'
                " all data (R2);"
                " no model can be worth more"
            )
        if target < alone - tolerance:
            raise RewardError(
                f'party "{name}": target {target:.6g} is below its own value {alone:.6g} (R4);'
                f" {_remedy(game)}"
                " (noise on the others' data cannot take away its own)"
            )
    return targets


def _remedy(game: Game) -> str:
    if not game.enumerable:
        return 'use a smaller rho, such as "rational"'
    rho = SilentScheme(game, shapley(game)).rho_rational
    return f"use rho <= {min(round_down(rho), 1.0):g}" if rho > 0 else "give it at least that"
