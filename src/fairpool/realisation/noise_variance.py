"""Sec. 4.3: the noise variance eta_i at which party i's reward data is worth exactly its reward."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.errors import GameError, shown
from fairpool.realisation.level import Level, goals_of, level_at_end, level_between
from fairpool.values import Game, InformationGain


@dataclass(frozen=True, kw_only=True)
class NoiseLevel(Level):
    """How much noise a party's reward has: tau = s2 / (s2 + eta).

    Attributes:
        eta: Variance of the noise on the others' labels, from 0 to infinity.
    """

    eta: float


def noise_levels(game: Game, rewards: Any) -> tuple[NoiseLevel, ...]:
    """For every party the noise level that realises its reward.

    Paper: Sec. 4.3, App. E: the root of I(theta; D_i^r) - r_i* by TOMS Algorithm 748.
    Differs from the paper: solved in tau instead of eta, see `level_between`. The game keeps the
    curves, so that any number of rhos costs hardly more than one.

    Args:
        game: An `InformationGain`.
        rewards: The targets r* [n].
    """
    goals = goals_of(game, rewards)
    if not isinstance(game, InformationGain):
        raise GameError(f"{shown(game)} has no data to make models of; realise an InformationGain")
    levels = []
    for i, goal in enumerate(goals):
        level = level_at_end(goal)
        if level is not None:
            eta = 0.0 if level.tau else np.inf
        else:
            curve = game.reward_curve(i)
            level = level_between(goal, curve)
            eta = curve.noise_variance * (1 - level.tau) / level.tau
        levels.append(NoiseLevel(tau=level.tau, value=level.value, eta=eta))
    return tuple(levels)
