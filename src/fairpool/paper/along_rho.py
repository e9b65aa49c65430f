"""Figs. 1 and 2: rewards and prediction error along rho, for three parties of 250 Friedman points.

Paper: Sec. 5, Gaussian process (GP) regression with synthetic Friedman dataset; App. E.1.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from fairpool.contributions import shapley
from fairpool.models import GaussianProcess, mnlp
from fairpool.paper.datasets import friedman
from fairpool.parties import Party
from fairpool.realisation import realise
from fairpool.rewards import RewardScheme, check_incentives
from fairpool.values import InformationGain

RANGES = ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0))
"""The first input feature of parties 1, 2 and 3."""


@dataclass(frozen=True)
class RhoPoint:
    """One party at one rho."""

    rho: float
    party: int
    reward: float
    mnlp: float
    mnlp_low: float
    mnlp_high: float
    alone: float
    alone_mnlp: float
    shapley: float
    total: float
    value_23: float
    mnlp_23: float
    rho_rational: float
    rho_stable: float
    fair: bool | None
    rational: bool | None
    stable: bool | None
    welfare: float


def friedman_game(seed: int, rows: int = 250) -> tuple[InformationGain, np.ndarray, np.ndarray]:
    """The three parties' game, and 800 test points; outputs standardised by the training data."""
    rng = np.random.default_rng([seed, 2])
    data = [friedman(rows, rng, first) for first in RANGES]
    test = friedman(800, rng)
    pooled = np.concatenate([d.y for d in data])
    mean, scale = pooled.mean(), pooled.std()
    parties = [Party(str(i + 1), d.X, (d.y - mean) / scale) for i, d in enumerate(data)]
    X, y = np.concatenate([p.X for p in parties]), np.concatenate([p.y for p in parties])
    model = GaussianProcess(1.0 * RBF(np.ones(6)), 0.1).fit_hyperparameters(X, y)
    return InformationGain(model, parties), test.X, (test.y - mean) / scale


def run_along_rho(seed: int, steps: int = 21, draws: int = 20, rows: int = 250) -> list[RhoPoint]:
    """All points of Fig. 2: the standardised noise is the same for every rho."""
    game, X, y = friedman_game(seed, rows)
    phi = shapley(game)
    scheme = RewardScheme(game, phi)
    pair = game.posterior([1, 2]).predict(X)
    alone = [mnlp(y, *game.posterior([i]).predict(X)) for i in range(3)]
    points = []
    for rho in sorted({*np.linspace(0, 1, steps).tolist(), min(scheme.rho_stable, 1.0)}):
        rewards = scheme.rewards(rho)
        found = check_incentives(game, phi, rewards)
        for i, model in enumerate(
            realise(
                game, rewards, np.random.default_rng([seed, 3]), noise="standardised", draws=draws
            )
        ):
            scores = np.broadcast_to(mnlp(y, *model.predict(X)), draws)
            spread = 1.96 * scores.std(ddof=1) / np.sqrt(draws) if draws > 1 else 0.0
            points.append(
                RhoPoint(
                    rho,
                    i + 1,
                    float(rewards[i]),
                    float(scores.mean()),
                    float(scores.mean() - spread),
                    float(scores.mean() + spread),
                    float(game.alone[i]),
                    float(alone[i]),
                    float(phi.values[i]),
                    game.total,
                    game.value({1, 2}),
                    float(mnlp(y, *pair)),
                    scheme.rho_rational,
                    scheme.rho_stable,
                    found["R5"].holds,
                    found["R4"].holds,
                    found["stable"].holds,
                    float(rewards.sum() / (3 * game.total)),
                )
            )
    return points
