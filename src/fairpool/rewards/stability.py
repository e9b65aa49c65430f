"""Sec. 4.1.2: can some parties do better by themselves?"""

from typing import NamedTuple

import numpy as np

from fairpool.coalitions import mask_of, members, name_of, names_of
from fairpool.contributions import Contributions
from fairpool.rewards.ties import parties_surely_up_to, parties_up_to, snap_ties
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game, tolerance_of
from fairpool.values.properties import monotone
from fairpool.verdicts import Verdict, Witness


class Departure(NamedTuple):
    """A coalition that might leave.

    Attributes:
        mask: The coalition C.
        value: v_C, what it has by itself.
        reward: r_i of the member that decides whether it stays.
    """

    mask: int
    value: float
    reward: float


def stability_of_grand_coalition(
    game: Game, contributions: Contributions, r: FloatArray
) -> Verdict:
    """In every coalition, the party that contributes most has no reason to leave with it.

    Paper: R6, Stability of Grand Coalition. For monotone values one coalition per party is enough:
    v_{C_i} <= r_i with C_i = {j: phi_j <= phi_i}. It implies Definition 3.
    """
    presumed = monotone(game)
    if presumed.holds is not True:
        why = f'R6 presumes monotone values, but {presumed.why}; see "stable"'
        return Verdict(condition="R6", holds=None, why=why)
    tolerance = tolerance_of(game)
    phi = snap_ties(contributions.values, tolerance)
    errors = contributions.standard_errors
    depends_on_the_order = False
    for i in range(game.n):
        C_i = parties_up_to(i, phi, errors=errors, tolerance=tolerance)
        if game.value(C_i) <= r[i] + tolerance:
            continue
        # Where contributions are sampled, C_i may be too large: those who surely belong to it
        # decide whether R6 fails.
        surely_C_i = parties_surely_up_to(i, phi, errors=errors, tolerance=tolerance)
        v_C = game.value(surely_C_i)
        if v_C <= r[i] + tolerance:
            depends_on_the_order = True
            continue
        departure = Departure(mask=mask_of(surely_C_i, game.names), value=v_C, reward=float(r[i]))
        why = (
            f"{name_of(departure.mask, game.names)} have {v_C:.6g} by themselves, more than the"
            f' {r[i]:.6g} that "{game.names[i]}" receives'
        )
        return Verdict(condition="R6", holds=False, why=why, witness=_witness(game, departure, i))
    if depends_on_the_order:
        why = "whether it holds depends on an order of contributions that is within sampling error"
        return Verdict(condition="R6", holds=None, why=why)
    why = "in every coalition, who contributes most receives at least what the coalition has"
    return Verdict(condition="R6", holds=True, why=why)


def stable(game: Game, r: FloatArray) -> Verdict:
    """No coalition could give all its members more than they receive.

    Paper: Definition 3, Stability: every coalition C has a member i with v_C <= r_i. Checked over
    all 2**n coalitions; beyond the limit, values known to be monotone need only one coalition per
    party, {j: r_j <= r_i}. (Sec. 4.1.2, footnote on the core: cooperative game theory asks that v_C
    be at most the sum of C's rewards, which says too little of models that can be copied: each
    member may still receive less than v_C.)
    """
    if game.enumerable:
        worst = _worst_of_all(game, r)
    elif game.properties_proved:
        worst = _worst_of_one_per_party(game, r)
    else:
        why = f"2**{game.n} coalitions are too many to look at"
        return Verdict(condition="stable", holds=None, why=why)
    if worst.value <= worst.reward + tolerance_of(game):
        why = "no coalition can give all its members more than they receive"
        return Verdict(condition="stable", holds=True, why=why)
    why = (
        f"all of {name_of(worst.mask, game.names)} receive at most {worst.reward:.6g}, but have"
        f" {worst.value:.6g} by themselves"
    )
    best_paid = max(members(worst.mask), key=lambda i: r[i])
    witness = _witness(game, worst, best_paid)
    return Verdict(condition="stable", holds=False, why=why, witness=witness)


def _worst_of_all(game: Game, r: FloatArray) -> Departure:
    """Of all coalitions, the one whose value exceeds its members' largest reward by most."""
    # In each coalition: those with i as their last party follow from those of the parties before.
    largest_reward = np.full(1 << game.n, -np.inf)
    for i in range(game.n):
        np.maximum(largest_reward[: 1 << i], r[i], out=largest_reward[1 << i : 2 << i])
    gain = game.values() - largest_reward
    gain[0] = -np.inf  # the empty coalition has nobody who could leave
    mask = int(np.argmax(gain))
    return Departure(
        mask=mask, value=float(game.values()[mask]), reward=float(largest_reward[mask])
    )


def _worst_of_one_per_party(game: Game, r: FloatArray) -> Departure:
    """The same of the coalitions {j: r_j <= r_i}: monotone values are largest there."""
    departures = []
    for i in range(game.n):
        mask = mask_of(np.flatnonzero(r <= r[i]).tolist(), game.names)
        departures.append(Departure(mask=mask, value=game.value(members(mask)), reward=float(r[i])))
    return max(departures, key=lambda departure: departure.value - departure.reward)


def _witness(game: Game, departure: Departure, i: int) -> Witness:
    return Witness(
        parties=(game.names[i],),
        coalition=names_of(departure.mask, game.names),
        numbers={"v_C": departure.value, "r_i": departure.reward},
    )
