"""Sec. 4.1: which incentive conditions rewards satisfy, each with a witness where they do not."""

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
    fairness = check_fairness(game, contributions, r, weakly_efficient=weakly_efficient)
    return Verdicts(
        [
            non_negativity(game, r),
            feasibility(game, r, masks),
            weakly_efficient,
            individual_rationality(game, r),
            fairness["R5"],
            stability_of_grand_coalition(game, contributions, r),
            group_welfare(game, r, masks),
            *(verdict for verdict in fairness if verdict.condition != "R5"),
            stable(game, r),
        ]
    )


def non_negativity(game: Game, r: FloatArray) -> Verdict:
    """No reward is negative.

    Paper: R1, Non-negativity: r_i >= 0.
    """
    worst = int(np.argmin(r))
    if r[worst] >= -tolerance_of(game):
        return Verdict(condition="R1", holds=True, why="no reward is negative")
    name = game.names[worst]
    return Verdict(
        condition="R1",
        holds=False,
        why=f'"{name}" receives {r[worst]:.6g}',
        witness=Witness(parties=(name,), numbers={"r_i": float(r[worst])}),
    )


def feasibility(game: Game, r: FloatArray, structure: Sequence[int]) -> Verdict:
    """No reward is worth more than the data it can be made of.

    Paper: R2, Feasibility: r_i <= v_C for every i in C in CS.
    """
    for C in structure:
        v_C = game.value(members(C))
        for i in members(C):
            if r[i] > v_C + tolerance_of(game):
                return Verdict(
                    condition="R2",
                    holds=False,
                    why=(
                        f'"{game.names[i]}" receives {r[i]:.6g}, more than the {v_C:.6g} that'
                        f" {name_of(C, game.names)} has"
                    ),
                    witness=Witness(
                        parties=(game.names[i],),
                        coalition=names_of(C, game.names),
                        numbers={"r_i": float(r[i]), "v_C": v_C},
                    ),
                )
    why = "no reward is worth more than the data it is made of"
    return Verdict(condition="R2", holds=True, why=why)


def weak_efficiency(game: Game, r: FloatArray, structure: Sequence[int]) -> Verdict:
    """In each coalition somebody receives all that its data is worth.

    Paper: R3, Weak Efficiency: some i in C has r_i = v_C, for every C in CS. (Sec. 4.1, footnote on
    efficiency: cooperative game theory asks that the rewards of C sum to v_C; models can be copied,
    so that the sum may be more.)
    """
    for C in structure:
        v_C = game.value(members(C))
        r_C = r[list(members(C))]
        if not (abs(r_C - v_C) <= tolerance_of(game)).any():
            most = float(r_C.max())
            return Verdict(
                condition="R3",
                holds=False,
                why=(
                    f"nobody in {name_of(C, game.names)} receives its whole value {v_C:.6g}; the"
                    f" most is {most:.6g}"
                ),
                witness=Witness(
                    coalition=names_of(C, game.names), numbers={"v_C": v_C, "largest r_i": most}
                ),
            )
    return Verdict(condition="R3", holds=True, why="somebody receives the whole value")


def individual_rationality(game: Game, r: FloatArray) -> Verdict:
    """Nobody receives less than it has alone.

    Paper: R4, Individual Rationality: r_i >= v_i.
    """
    worst = int(np.argmin(r - game.alone))
    own = float(game.alone[worst])
    if r[worst] >= own - tolerance_of(game):
        return Verdict(condition="R4", holds=True, why="nobody receives less than it has alone")
    name = game.names[worst]
    return Verdict(
        condition="R4",
        holds=False,
        why=f'"{name}" receives {r[worst]:.6g} but has {own:.6g} alone',
        witness=Witness(parties=(name,), numbers={"r_i": float(r[worst]), "v_i": own}),
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
    # First those above what is possible: in the sum they would make up for others' lack.
    above = int(np.argmax(r - possible))
    if r[above] > possible[above] + tolerance:
        name = game.names[above]
        most = float(possible[above])
        return Verdict(
            condition="R7",
            holds=False,
            why=(
                f'"{name}" receives {r[above]:.6g}, more than the {most:.6g} that can be given (R2)'
            ),
            witness=Witness(
                parties=(name,),
                numbers={"r_i": float(r[above]), "largest possible r_i": most},
            ),
        )
    if (r >= possible - tolerance).all():
        return Verdict(condition="R7", holds=True, why="every reward is as large as it can be")
    total = float(r.sum())
    largest_total = float(possible.sum())
    share = ", not"
    if largest_total > 0:
        share = f", {total / largest_total:.1%} of"
    return Verdict(
        condition="R7",
        holds=False,
        why=f"the rewards sum to {total:.6g}{share} the largest possible {largest_total:.6g}",
        witness=Witness(
            numbers={"sum of r_i": total, "largest possible sum": largest_total},
        ),
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
