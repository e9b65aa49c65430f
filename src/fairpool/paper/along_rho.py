"""Figs. 1 and 2: rewards and prediction error along rho, for three parties of 250 Friedman points.

Paper: Sec. 5, Gaussian process (GP) regression with synthetic Friedman dataset; App. E.1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from fairpool.contributions import shapley
from fairpool.models import GaussianProcess, mnlp
from fairpool.paper.datasets import friedman
from fairpool.parties import Party
from fairpool.realisation import realise
from fairpool.rewards import RewardScheme, check_incentives
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

RANGES = ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0))
"""The first input feature of parties 1, 2 and 3."""


@dataclass(frozen=True, kw_only=True)
class RhoPoint:
    """One party at one rho.

    Attributes:
        rho: The parameter of the reward scheme.
        party: 1, 2 or 3.
        reward: r_i.
        mnlp: The reward model's mean negative log probability, averaged over draws of the noise.
        mnlp_low: The lower end of its 95% interval.
        mnlp_high: The upper end.
        alone: v_i.
        alone_mnlp: That of the model trained on the party's own data.
        shapley: phi_i.
        total: v_N.
        value_23: v of parties 2 and 3 together.
        mnlp_23: That of the model trained on the data of parties 2 and 3.
        rho_rational: rho_r.
        rho_stable: rho_s.
        fair: Whether R5 holds at this rho; None where it cannot be decided.
        rational: Whether R4 does.
        stable: Whether the grand coalition is stable.
        welfare: The sum of rewards, as a share of the most that it can be.
    """

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


class FriedmanGame(NamedTuple):
    """The three parties' game, and test points.

    Attributes:
        game: Information gain of a Gaussian process.
        X_test: Test inputs [800, 6].
        y_test: Test outputs [800], standardised as the parties' are.
    """

    game: InformationGain
    X_test: FloatArray
    y_test: FloatArray


def friedman_game(seed: int, rows: int = 250) -> FriedmanGame:
    """The three parties' game, and 800 test points; outputs standardised by the training data."""
    rng = np.random.default_rng([seed, 2])
    data = [friedman(rows, rng, first) for first in RANGES]
    test = friedman(800, rng)
    pooled = np.concatenate([d.y for d in data])
    mean = pooled.mean()
    scale = pooled.std()
    parties = [Party(str(i + 1), d.X, (d.y - mean) / scale) for i, d in enumerate(data)]
    X = np.concatenate([p.X for p in parties])
    y = np.concatenate([p.y for p in parties])
    model = GaussianProcess(1.0 * RBF(np.ones(6)), 0.1).fit_hyperparameters(X, y)
    return FriedmanGame(InformationGain(model, parties), test.X, (test.y - mean) / scale)


def run_along_rho(
    seed: int, *, steps: int = 21, draws: int = 20, rows: int = 250
) -> list[RhoPoint]:
    """All points of Fig. 2.

    Args:
        seed: Of the data and of the noise.
        steps: How many values of rho, from 0 to 1; rho_s is added to them.
        draws: How often the noise is drawn.
        rows: Of each party.
    """
    game, X, y = friedman_game(seed, rows)
    phi = shapley(game)
    scheme = RewardScheme(game, phi)
    mnlp_23 = float(mnlp(y, *game.posterior([1, 2]).predict(X)))
    alone_mnlp = [float(mnlp(y, *game.posterior([i]).predict(X))) for i in range(3)]
    points = []
    for rho in sorted({*np.linspace(0, 1, steps).tolist(), min(scheme.rho_stable, 1.0)}):
        rewards = scheme.rewards(rho)
        verdicts = check_incentives(game, phi, rewards)
        # A new generator of the same seed: the standardised noise is the same for every rho.
        rng = np.random.default_rng([seed, 3])
        models = realise(game, rewards, rng, noise="standardised", covariance="full", draws=draws)
        for i, model in enumerate(models):
            # A model without noise has one score, whatever is drawn.
            scores = np.broadcast_to(mnlp(y, *model.predict(X)), draws)
            mean_score = scores.mean()
            spread = 0.0
            if draws > 1:
                spread = 1.96 * scores.std(ddof=1) / np.sqrt(draws)
            point = RhoPoint(
                rho=rho,
                party=i + 1,
                reward=float(rewards[i]),
                mnlp=float(mean_score),
                mnlp_low=float(mean_score - spread),
                mnlp_high=float(mean_score + spread),
                alone=float(game.alone[i]),
                alone_mnlp=alone_mnlp[i],
                shapley=float(phi.values[i]),
                total=game.total,
                value_23=game.value({1, 2}),
                mnlp_23=mnlp_23,
                rho_rational=scheme.rho_rational,
                rho_stable=scheme.rho_stable,
                fair=verdicts["R5"].holds,
                rational=verdicts["R4"].holds,
                stable=verdicts["stable"].holds,
                welfare=float(rewards.sum() / (3 * game.total)),
            )
            points.append(point)
    return points
