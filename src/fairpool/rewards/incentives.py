"""Sec. 4.1: which incentive conditions a set of rewards satisfies, each with a witness where it
does not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpool.coalitions import Coalition, mask_of, members, name_of, names_of
from fairpool.contributions import Contributions
from fairpool.contributions.contributions import as_contributions
from fairpool.errors import GameError
from fairpool.rewards.fairness import check_fairness
from fairpool.rewards.stability import stability_of_grand_coalition, stable
from fairpool.tables.arrays import FloatArray, as_numbers
from fairpool.values import Game, tolerance_of
from fairpool.values.game import check_game
from fairpool.verdicts import Verdict, Verdicts, Witness


def check_incentives(
    game: Game,
    phi: Contributions | Any,
    rewards: Any,
    structure: Sequence[Coalition] | None = None,
) -> Verdicts:
    """Verdicts on R1-R7, F1-F4 and Definitions 1-3 for any rewards, whether by Theorem 1 or not.

    Paper: Sec. 4.1.

    Args:
        game: The values v_C.
        phi: The Shapley values (or other contributions), as `shapley` gives them or as numbers [n].
        rewards: r [n].
        structure: The coalition structure CS that R1-R4 and R7 look at; by default everybody
            together.

    Returns:
        Verdicts, by number or by name: "R1".."R7", "F1".."F4", "Shapley fair", "rho-Shapley fair",
        "stable".

    >>> from fairpool import TableGame, shapley
    >>> game = TableGame([0, 7, 5, 8])
    >>> print(check_incentives(game, shapley(game), [8, 4.8])["R4"])
    R4: fails -- "1" receives 4.8 but has 5 alone
    """
    check_game(game)
    r = as_numbers(rewards, game.n, "rewards")
    contributions = as_contributions(phi, game.n)
    masks = coalition_structure(structure, game)
    weakly_efficient = weak_efficiency(game, r, masks)
    fairness = check_fairness(game, contributions, r, weakly_efficient)
    return Verdicts(
        [
            non_negativity(game, r),
            feasibility(game, r, masks),
            weakly_efficient,
            individual_rationality(game, r),
            fairness["R5"],
            stability_of_grand_coalition(game, contributions, r),
            group_welfare(game, r, masks),
            *(v for v in fairness if v.condition != "R5"),
            stable(game, r),
        ]
    )


def non_negativity(game: Game, r: FloatArray) -> Verdict:
    """No reward is negative.

    Paper: R1, Non-negativity: r_i >= 0.
    """
    worst = int(np.argmin(r))
    if r[worst] >= -tolerance_of(game):
        return Verdict("R1", True, "no reward is negative")
    why = f'"{game.names[worst]}" receives {r[worst]:.6g}'
    return Verdict("R1", False, why, Witness((game.names[worst],), None, {"r_i": float(r[worst])}))


def feasibility(game: Game, r: FloatArray, structure: Sequence[int]) -> Verdict:
    """No reward is worth more than the data it can be made of.

    Paper: R2, Feasibility: r_i <= v_C for every i in C in CS.
    """
    for C in structure:
        v_C = game.value(members(C))
        for i in members(C):
            if r[i] > v_C + tolerance_of(game):
                why = f'"{game.names[i]}" receives {r[i]:.6g}, more than the {v_C:.6g} that {name_of(C, game.names)} has'
                numbers = {"r_i": float(r[i]), "v_C": v_C}
                return Verdict(
                    "R2", False, why, Witness((game.names[i],), names_of(C, game.names), numbers)
                )
    return Verdict("R2", True, "no reward is worth more than the data it is made of")


def weak_efficiency(game: Game, r: FloatArray, structure: Sequence[int]) -> Verdict:
    """In each coalition somebody receives all that its data is worth.

    Paper: R3, Weak Efficiency: some i in C has r_i = v_C, for every C in CS. (Sec. 4.1, footnote on
    efficiency: cooperative game theory asks that the rewards of C sum to v_C; models can be copied,
    so that the sum may be more.)
    """
    for C in structure:
        v_C, most = game.value(members(C)), float(r[list(members(C))].max())
        if not (abs(r[list(members(C))] - v_C) <= tolerance_of(game)).any():
            why = f"nobody in {name_of(C, game.names)} receives its whole value {v_C:.6g}; the most is {most:.6g}"
            return Verdict(
                "R3",
                False,
                why,
                Witness((), names_of(C, game.names), {"v_C": v_C, "largest r_i": most}),
            )
    return Verdict("R3", True, "somebody receives the whole value")


def individual_rationality(game: Game, r: FloatArray) -> Verdict:
    """Nobody receives less than it has alone.

    Paper: R4, Individual Rationality: r_i >= v_i.
    """
    worst = int(np.argmin(r - game.alone))
    own = float(game.alone[worst])
    if r[worst] >= own - tolerance_of(game):
        return Verdict("R4", True, "nobody receives less than it has alone")
    why = f'"{game.names[worst]}" receives {r[worst]:.6g} but has {own:.6g} alone'
    return Verdict(
        "R4", False, why, Witness((game.names[worst],), None, {"r_i": float(r[worst]), "v_i": own})
    )


def group_welfare(game: Game, r: FloatArray, structure: Sequence[int]) -> Verdict:
    """The rewards together are as large as they can be.

    Paper: R7, Group Welfare: the sum of r_i is largest, which is v_C for every i in C in CS: of
    everybody together, n v_N. Rewards above what is feasible (R2) do not count: nobody can receive
    them.
    """
    possible = np.empty(game.n)
    for C in structure:
        possible[list(members(C))] = game.value(members(C))
    tolerance = tolerance_of(game)
    above = int(np.argmax(r - possible))
    if r[above] > possible[above] + tolerance:
        most = float(possible[above])
        why = f'"{game.names[above]}" receives {r[above]:.6g}, more than the {most:.6g} that can be given (R2)'
        numbers = {"r_i": float(r[above]), "largest possible r_i": most}
        return Verdict("R7", False, why, Witness((game.names[above],), None, numbers))
    if (r >= possible - tolerance).all():
        return Verdict("R7", True, "every reward is as large as it can be")
    most, total = float(possible.sum()), float(r.sum())
    share = f", {total / most:.1%} of" if most > 0 else ", not"
    why = f"the rewards sum to {total:.6g}{share} the largest possible {most:.6g}"
    return Verdict(
        "R7", False, why, Witness((), None, {"sum of r_i": total, "largest possible sum": most})
    )


def coalition_structure(structure: Sequence[Coalition] | None, game: Game) -> list[int]:
    """The coalitions that the parties have formed, as bitmasks; by default one of everybody.

    Paper: Sec. 2, coalition structure CS: its coalitions do not overlap, and together they are N.
    """
    everybody = (1 << game.n) - 1
    if structure is None:
        return [everybody]
    masks = [mask_of(coalition, game.names) for coalition in structure]
    union = 0
    for mask in masks:
        if not mask or union & mask:
            raise GameError(
                f"the coalition structure has {name_of(mask, game.names)}, which is empty or"
                " overlaps another"
            )
        union |= mask
    if union != everybody:
        raise GameError(
            f"the coalition structure leaves out {name_of(everybody & ~union, game.names)}"
        )
    return masks
