"""Definitions 1 and 2: are the rewards in proportion to the contributions, or to a power of them?

Both are about Shapley values. They are answered for whichever contributions are given.
"""

import numpy as np

from fairpool.contributions import Contributions
from fairpool.rewards.ties import snap_ties
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game, tolerance_of
from fairpool.verdicts import Verdict, Witness


def shapley_fair(game: Game, contributions: Contributions, r: FloatArray) -> Verdict:
    """The rewards are in proportion to the contributions.

    Paper: Definition 1, Shapley Fairness: r_i = k phi_i for some k > 0.
    """
    phi = snap_ties(contributions.values, tolerance_of(game))
    exception = _exception("Shapley fair", game, phi, r=r)
    if exception is not None:
        return exception
    return _in_proportion("Shapley fair", game, phi, r=r, rho=1.0)


def rho_shapley_fair(game: Game, contributions: Contributions, r: FloatArray) -> Verdict:
    """The rewards are in proportion to a power of the contributions.

    Paper: Definition 2, rho-Shapley Fairness: r_i = k phi_i^rho for some k > 0 and rho > 0.
    """
    condition = "rho-Shapley fair"
    phi = snap_ties(contributions.values, tolerance_of(game))
    exception = _exception(condition, game, phi, r=r)
    if exception is not None:
        return exception
    # rho is what the largest and the smallest contribution ask for; then the others must agree.
    top = int(np.argmax(phi))
    low = int(np.argmin(np.where(phi > 0, phi, np.inf)))
    rho = _rho_between(phi, r, low=low, top=top)
    if 0 < rho < np.inf:
        return _in_proportion(condition, game, phi, r=r, rho=rho)
    least = game.names[low]
    most = game.names[top]
    why = f'"{least}" contributes less than "{most}" but does not receive less'
    if r[low] == 0:
        why = f'"{least}" contributes something but receives nothing'
    numbers = {"r_i": float(r[low]), "r_j": float(r[top])}
    witness = Witness(parties=(least, most), numbers=numbers)
    return Verdict(condition=condition, holds=False, why=why, witness=witness)


def _exception(condition: str, game: Game, phi: FloatArray, *, r: FloatArray) -> Verdict | None:
    """The verdict where no power of the contributions needs to be looked at; None elsewhere."""
    tolerance = tolerance_of(game)
    if phi.min() < 0 or r.min() < 0:
        why = "some contribution or reward is negative, where powers have no meaning"
        return Verdict(condition=condition, holds=None, why=why)
    top = int(np.argmax(phi))
    if phi[top] == 0:
        return _nothing_for_nothing(condition, game, r)
    if r[top] > tolerance:
        return None
    name = game.names[top]
    return Verdict(
        condition=condition,
        holds=False,
        why=f'"{name}" contributes most but receives nothing',
        witness=Witness(parties=(name,), numbers={"r_i": float(r[top])}),
    )


def _nothing_for_nothing(condition: str, game: Game, r: FloatArray) -> Verdict:
    """Nobody contributes anything: r_i = k 0 holds if nobody receives anything, for every k."""
    most = int(np.argmax(r))
    if r[most] <= tolerance_of(game):
        why = "nobody contributes anything, and nobody receives anything"
        return Verdict(condition=condition, holds=True, why=why)
    name = game.names[most]
    return Verdict(
        condition=condition,
        holds=False,
        why=f'nobody contributes anything, but "{name}" receives {r[most]:.6g}',
        witness=Witness(parties=(name,), numbers={"r_i": float(r[most])}),
    )


def _rho_between(phi: FloatArray, r: FloatArray, *, low: int, top: int) -> float:
    """rho with r_low / r_top = (phi_low / phi_top)^rho; 1 where both contribute the same."""
    if phi[low] == phi[top]:
        return 1.0
    with np.errstate(divide="ignore"):  # of a reward of 0, rho is infinite
        return float(np.log(r[low] / r[top]) / np.log(phi[low] / phi[top]))


def _in_proportion(
    condition: str, game: Game, phi: FloatArray, *, r: FloatArray, rho: float
) -> Verdict:
    """Whether r_i = k phi_i^rho, with the k that suits the party that contributes most."""
    top = int(np.argmax(phi))
    expected = (phi / phi[top]) ** rho * r[top]
    worst = int(np.argmax(np.abs(r - expected)))
    if abs(r[worst] - expected[worst]) <= tolerance_of(game):
        why = f"the rewards are in proportion to the contributions to the power {rho:.6g}"
        return Verdict(condition=condition, holds=True, why=why)
    name = game.names[worst]
    numbers = {"r_i": float(r[worst]), "k phi_i^rho": float(expected[worst])}
    return Verdict(
        condition=condition,
        holds=False,
        why=(
            f'"{name}" receives {r[worst]:.6g}; contributions to the power {rho:.6g} would give it'
            f" {expected[worst]:.6g}"
        ),
        witness=Witness(parties=(name,), numbers=numbers),
    )
