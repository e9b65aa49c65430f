"""Sec. 4.1.2: can some parties do better by themselves?"""

import numpy as np

from fairpool.coalitions import mask_of, members, name_of, names_of
from fairpool.contributions import Contributions
from fairpool.rewards.ties import parties_surely_up_to, parties_up_to, snap_ties
from fairpool.tables.arrays import FloatArray
from fairpool.values import Game, tolerance_of
from fairpool.values.properties import monotone
from fairpool.verdicts import Verdict, Witness


def stability_of_grand_coalition(
    game: Game, contributions: Contributions, r: FloatArray
) -> Verdict:
    """In every coalition, the party that contributes most has no reason to leave with it.

    Paper: R6, Stability of Grand Coalition. For monotone values one coalition per party is enough:
    v_{C_i} <= r_i with C_i = {j: phi_j <= phi_i}. It implies Definition 3.
    """
    presumed = monotone(game)
    if presumed.holds is not True:
        return Verdict("R6", None, f'R6 presumes monotone values, but {presumed.why}; see "stable"')
    tolerance = tolerance_of(game)
    phi = snap_ties(contributions.values, tolerance)
    doubt = False
    for i in range(game.n):
        C_i = parties_up_to(i, phi, contributions.standard_errors, tolerance)
        v_C = game.value(C_i)
        if v_C <= r[i] + tolerance:
            continue
        sure = parties_surely_up_to(i, phi, contributions.standard_errors, tolerance)
        if sure != C_i:
            v_C = game.value(sure)
            if v_C <= r[i] + tolerance:
                doubt = True
                continue
        return _unstable("R6", game, mask_of(sure, game.names), i, v_C, float(r[i]))
    if doubt:
        return Verdict(
            "R6",
            None,
            "whether it holds depends on an order of contributions that is within sampling error",
        )
    return Verdict(
        "R6",
        True,
        "in every coalition, who contributes most receives at least what the coalition has",
    )


def stable(game: Game, r: FloatArray) -> Verdict:
    """No coalition could give all its members more than they receive.

    Paper: Definition 3, Stability: every coalition C has a member i with v_C <= r_i. Checked over
    all 2**n coalitions; beyond the limit, values known to be monotone need only one coalition per
    party, {j: r_j <= r_i}. (Sec. 4.1.2, footnote on the core: cooperative game theory asks that v_C
    be at most the sum of C's rewards, which says too little of models that can be copied: each
    member may still receive less than v_C.)
    """
    tolerance = tolerance_of(game)
    if not game.enumerable:
        if not game.properties_proved:
            return Verdict("stable", None, f"2**{game.n} coalitions are too many to look at")
        C = [mask_of(np.flatnonzero(r <= r[i]).tolist(), game.names) for i in range(game.n)]
        worth = np.array([game.value(members(mask)) for mask in C])
        worst = int(np.argmax(worth - r))
        mask, best, v_C = C[worst], float(r[worst]), float(worth[worst])
    else:
        best_of = np.full(1 << game.n, -np.inf)  # the largest reward in each coalition
        for i in range(game.n):
            np.maximum(best_of[: 1 << i], r[i], out=best_of[1 << i : 2 << i])
        gain = game.values() - best_of
        gain[0] = -np.inf  # nobody cannot leave
        mask = int(np.argmax(gain))
        best, v_C = float(best_of[mask]), float(game.values()[mask])
    if v_C <= best + tolerance:
        return Verdict(
            "stable", True, "no coalition can give all its members more than they receive"
        )
    i = max(members(mask), key=lambda k: r[k])
    return _unstable("stable", game, mask, i, v_C, best)


def _unstable(condition: str, game: Game, mask: int, i: int, v_C: float, r_i: float) -> Verdict:
    C = name_of(mask, game.names)
    why = (
        f'{C} have {v_C:.6g} by themselves, more than the {r_i:.6g} that "{game.names[i]}" receives'
    )
    if condition == "stable":
        why = f"all of {C} receive at most {r_i:.6g}, but have {v_C:.6g} by themselves"
    return Verdict(
        condition,
        False,
        why,
        Witness((game.names[i],), names_of(mask, game.names), {"v_C": v_C, "r_i": r_i}),
    )
