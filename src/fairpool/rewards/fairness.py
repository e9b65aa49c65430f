"""Sec. 4.1.1: are the rewards fair?"""

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np

from fairpool.coalitions import name_of, names_of, sizes, with_pair, with_party, without_party
from fairpool.contributions import Contributions
from fairpool.contributions.shapley import subset_weights
from fairpool.rewards.proportionality import rho_shapley_fair, shapley_fair
from fairpool.tables.arrays import FloatArray
from fairpool.values import EXACT_LIMIT, Game, tolerance_of
from fairpool.values.properties import monotone
from fairpool.verdicts import Verdict, Verdicts, Witness

CONDITIONS = ("R5", "F1", "F2", "F3", "F4", "Shapley fair", "rho-Shapley fair")
"""What `check_fairness` answers, in this order."""


def check_fairness(
    game: Game, contributions: Contributions, r: FloatArray, *, weakly_efficient: Verdict
) -> Verdicts:
    """R5, F1-F4, and Definitions 1 and 2.

    Paper: R5, Fairness: F1 to F4 hold.

    Args:
        game: The values v_C.
        contributions: phi.
        r: The rewards [n].
        weakly_efficient: The verdict on R3, which Theorem 1's proof of F4 needs.
    """
    undecided = _why_undecided(game, contributions)
    if undecided:
        return Verdicts(
            Verdict(condition=condition, holds=None, why=undecided) for condition in CONDITIONS
        )
    proportional = rho_shapley_fair(game, contributions, r)
    # Theorem 1's rewards are those two things at once: k phi_i^rho, and v_N for the largest.
    of_theorem_1 = bool(weakly_efficient.holds and proportional.holds)
    F = (
        uselessness(game, r),
        symmetry(game, r),
        strict_desirability(game, r),
        _strict_monotonicity_by_theorem(game, contributions, of_theorem_1=of_theorem_1),
    )
    return Verdicts([_fair(F), *F, shapley_fair(game, contributions, r), proportional])


def _why_undecided(game: Game, contributions: Contributions) -> str:
    """Why nothing can be said about fairness; empty where something can."""
    if not contributions.exact:
        error = float(contributions.standard_errors.max())
        return (
            f"the contributions are sampled (standard errors up to {error:.3g}), and fairness is"
            " about exact ones"
        )
    if not game.enumerable:
        return f"2**{game.n} coalitions are too many to look at (the limit is 2**{EXACT_LIMIT})"
    return ""


def _fair(F: Sequence[Verdict]) -> Verdict:
    """R5 from F1 .. F4, of which only F4 may be undecided."""
    failing = [verdict for verdict in F if verdict.holds is False]
    if failing:
        first = failing[0]
        names = ", ".join(verdict.condition for verdict in failing)
        why = f"{names} fails: {first.why}"
        return Verdict(condition="R5", holds=False, why=why, witness=first.witness)
    F4 = F[3]
    if F4.holds is None:
        why = f"F1 to F3 hold, but F4 is undecided: {F4.why}"
        return Verdict(condition="R5", holds=None, why=why)
    return Verdict(condition="R5", holds=True, why="F1 to F4 hold")


def uselessness(game: Game, r: FloatArray) -> Verdict:
    """Who adds nothing to any coalition receives nothing.

    Paper: F1, Uselessness: v_{C with i} = v_C for all C implies r_i = 0.
    """
    v = game.values()
    tolerance = tolerance_of(game)
    for i, name in enumerate(game.names):
        most_added = float(np.abs(with_party(v, i) - without_party(v, i)).max())
        if most_added <= tolerance and abs(r[i]) > tolerance:
            return Verdict(
                condition="F1",
                holds=False,
                why=f'"{name}" adds nothing to any coalition, but receives {r[i]:.6g}',
                witness=Witness(parties=(name,), numbers={"r_i": float(r[i])}),
            )
    return Verdict(condition="F1", holds=True, why="who adds nothing receives nothing")


def symmetry(game: Game, r: FloatArray) -> Verdict:
    """Two parties that add the same to every coalition receive the same.

    Paper: F2, Symmetry: v_{C with i} = v_{C with j} for all C implies r_i = r_j.
    """
    tolerance = tolerance_of(game)
    for i, j in combinations(range(game.n), 2):
        _, v_i, v_j, _ = with_pair(game.values(), i, j)
        alike = np.abs(v_i - v_j).max() <= tolerance
        if alike and abs(r[i] - r[j]) > tolerance:
            a = game.names[i]
            b = game.names[j]
            return Verdict(
                condition="F2",
                holds=False,
                why=(
                    f'"{a}" and "{b}" add the same to every coalition, but receive {r[i]:.6g} and'
                    f" {r[j]:.6g}"
                ),
                witness=Witness(parties=(a, b), numbers={"r_i": float(r[i]), "r_j": float(r[j])}),
            )
    return Verdict(condition="F2", holds=True, why="who add the same receive the same")


def strict_desirability(game: Game, r: FloatArray) -> Verdict:
    """Who adds at least as much as another to every coalition, and more to some, receives more.

    Paper: F3, Strict Desirability: v_{B with i} > v_{B with j} for some B, >= for all, implies r_i
    > r_j.
    """
    v = game.values()
    tolerance = tolerance_of(game)
    weight = _pair_weights(game.n)
    for i, j in permutations(range(game.n), 2):
        _, v_i, v_j, _ = with_pair(v, i, j)
        ahead = (v_i - v_j).ravel()
        never_behind = ahead.min() >= -tolerance
        # "More to some" is measured by what it adds to phi_i - phi_j, so that it means the same
        # here and for ties.
        if never_behind and weight @ ahead > 2 * tolerance and not r[i] > r[j]:
            without_both, *_ = with_pair(np.arange(1 << game.n), i, j)
            B = int(without_both.flat[int(np.argmax(ahead))])
            return _undesired(game, r, i=i, j=j, B=B)
    return Verdict(condition="F3", holds=True, why="who adds more receives more")


def _undesired(game: Game, r: FloatArray, *, i: int, j: int, B: int) -> Verdict:
    """F3 fails: party i adds more than j to B, and receives no more."""
    v = game.values()
    a = game.names[i]
    b = game.names[j]
    return Verdict(
        condition="F3",
        holds=False,
        why=(
            f'"{a}" adds at least as much as "{b}" to every coalition, and more to'
            f" {name_of(B, game.names)}, but receives {r[i]:.6g}, not more than {r[j]:.6g}"
        ),
        witness=Witness(
            parties=(a, b),
            coalition=names_of(B, game.names),
            numbers={
                "r_i": float(r[i]),
                "r_j": float(r[j]),
                "v_B_with_i": float(v[B | 1 << i]),
                "v_B_with_j": float(v[B | 1 << j]),
            },
        ),
    )


def _pair_weights(n: int) -> FloatArray:
    """What being ahead of j in a coalition of the n-2 others adds to phi_i - phi_j [2**(n-2)]."""
    if n < 2:
        return np.empty(0)
    w = subset_weights(n)
    s = sizes(n - 2)
    return np.asarray(w[s] + w[s + 1])


def _strict_monotonicity_by_theorem(
    game: Game, contributions: Contributions, *, of_theorem_1: bool
) -> Verdict:
    """F4 by Theorem 1's proof, since one set of rewards cannot show what compares two games.

    The proof is for one rho. Where rho follows the values, as "stable" and "rational" do, it may
    change with them, and with it a reward may fall although the party's data got better.

    Args:
        game: The values v_C.
        contributions: phi, exact; whether the proof suits them, their concept says.
        of_theorem_1: Whether the rewards are (phi_i / phi*)^rho v_N for some rho.
    """
    proved = contributions.concept.strictly_party_monotone and monotone(game).holds
    if proved and of_theorem_1:
        why = "Theorem 1 proves it for rewards of this form and a rho that stays the same"
        return Verdict(condition="F4", holds=True, why=why)
    why = "it compares two games; in Python, check_strict_monotonicity does that"
    return Verdict(condition="F4", holds=None, why=why)
