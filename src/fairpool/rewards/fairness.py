"""Sec. 4.1.1: are the rewards fair?"""

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from fairpool.coalitions import (
    mask_of,
    name_of,
    names_of,
    sizes,
    with_pair,
    with_party,
    without_party,
)
from fairpool.contributions import Contributions
from fairpool.contributions.contributions import as_contributions
from fairpool.contributions.shapley import subset_weights
from fairpool.errors import GameError
from fairpool.rewards.ties import snap_ties
from fairpool.tables.arrays import FloatArray, as_numbers
from fairpool.values import EXACT_LIMIT, Game, tolerance_of
from fairpool.values.properties import monotone
from fairpool.verdicts import Verdict, Verdicts, Witness


def check_fairness(
    game: Game, contributions: Contributions, r: FloatArray, weakly_efficient: Verdict
) -> Verdicts:
    """R5, F1-F4, and Definitions 1 and 2.

    Paper: R5, Fairness: F1 to F4 hold.
    """
    conditions = ("F1", "F2", "F3", "F4", "Shapley fair", "rho-Shapley fair")
    undecided = None
    if not contributions.exact:
        error = float(contributions.standard_errors.max())
        undecided = f"the contributions are sampled (standard errors up to {error:.3g}), and fairness is about exact ones"
    elif not game.enumerable:
        undecided = (
            f"2**{game.n} coalitions are too many to look at (the limit is 2**{EXACT_LIMIT})"
        )
    if undecided:
        return Verdicts(Verdict(condition, None, undecided) for condition in ("R5", *conditions))
    proportional = rho_shapley_fair(game, contributions, r)
    F = [
        uselessness(game, r),
        symmetry(game, r),
        strict_desirability(game, r),
        _strict_monotonicity_by_theorem(game, contributions, weakly_efficient, proportional),
    ]
    failing = [v.condition for v in F if v.holds is False]
    if failing:
        first = next(v for v in F if v.holds is False)
        fair = Verdict("R5", False, f"{', '.join(failing)} fails: {first.why}", first.witness)
    elif F[3].holds is None:
        fair = Verdict("R5", None, f"F1 to F3 hold, but F4 is undecided: {F[3].why}")
    else:
        fair = Verdict("R5", True, "F1 to F4 hold")
    return Verdicts([fair, *F, shapley_fair(game, contributions, r), proportional])


def uselessness(game: Game, r: FloatArray) -> Verdict:
    """Who adds nothing to any coalition receives nothing.

    Paper: F1, Uselessness: v_{C with i} = v_C for all C implies r_i = 0.
    """
    v, tolerance = game.values(), tolerance_of(game)
    for i in range(game.n):
        adds = float(np.abs(with_party(v, i) - without_party(v, i)).max())
        if adds <= tolerance and abs(r[i]) > tolerance:
            why = f'"{game.names[i]}" adds nothing to any coalition, but receives {r[i]:.6g}'
            return Verdict("F1", False, why, Witness((game.names[i],), None, {"r_i": float(r[i])}))
    return Verdict("F1", True, "who adds nothing receives nothing")


def symmetry(game: Game, r: FloatArray) -> Verdict:
    """Two parties that add the same to every coalition receive the same.

    Paper: F2, Symmetry: v_{C with i} = v_{C with j} for all C implies r_i = r_j.
    """
    tolerance = tolerance_of(game)
    for i, j in combinations(range(game.n), 2):
        _, v_i, v_j, _ = with_pair(game.values(), i, j)
        if np.abs(v_i - v_j).max() <= tolerance and abs(r[i] - r[j]) > tolerance:
            a, b = game.names[i], game.names[j]
            why = f'"{a}" and "{b}" add the same to every coalition, but receive {r[i]:.6g} and {r[j]:.6g}'
            return Verdict(
                "F2", False, why, Witness((a, b), None, {"r_i": float(r[i]), "r_j": float(r[j])})
            )
    return Verdict("F2", True, "who add the same receive the same")


def strict_desirability(game: Game, r: FloatArray) -> Verdict:
    """A party that adds at least as much as another to every coalition, and more to some, receives
    more.

    Paper: F3, Strict Desirability: v_{B with i} > v_{B with j} for some B, >= for all, implies r_i
    > r_j.
    """
    v, tolerance = game.values(), tolerance_of(game)
    weight = _pair_weights(game.n)
    for i, j in permutations(range(game.n), 2):
        _, v_i, v_j, _ = with_pair(v, i, j)
        ahead = (v_i - v_j).ravel()
        # "More to some" is measured by what it adds to phi_i - phi_j, so that it means the same
        # here and for ties.
        if ahead.min() >= -tolerance and weight @ ahead > 2 * tolerance and not r[i] > r[j]:
            B = int(with_pair(np.arange(1 << game.n), i, j)[0].flat[int(np.argmax(ahead))])
            a, b = game.names[i], game.names[j]
            why = (
                f'"{a}" adds at least as much as "{b}" to every coalition, and more to'
                f" {name_of(B, game.names)},"
                f" but receives {r[i]:.6g}, not more than {r[j]:.6g}"
            )
            numbers = {"r_i": float(r[i]), "r_j": float(r[j]), "v_B_with_i": float(v[B | 1 << i])}
            numbers["v_B_with_j"] = float(v[B | 1 << j])
            return Verdict("F3", False, why, Witness((a, b), names_of(B, game.names), numbers))
    return Verdict("F3", True, "who adds more receives more")


def check_strict_monotonicity(
    game: Game, party: int | str, rewards: FloatArray, game_after: Game, rewards_after: FloatArray
) -> Verdict:
    """A party whose data becomes more valuable, all else equal, receives more than before.

    Paper: F4, Strict Monotonicity: v'_{B with i} > v_{B with i} for some B, >= for all, v'_A = v_A
    for all A without i, and v'_N > r_i, imply r'_i > r_i.

    Args:
        game: The values before.
        party: i, by index or name.
        rewards: r [n].
        game_after: The values after, v'.
        rewards_after: r' [n].
    """
    change = _change(game, party, game_after)
    r, r_after = (as_numbers(values, game.n, "rewards") for values in (rewards, rewards_after))
    name, before, after = (
        game.names[change.party],
        float(r[change.party]),
        float(r_after[change.party]),
    )
    if change.does_not_apply:
        return Verdict("F4", True, change.does_not_apply)
    if game_after.total <= before + change.tolerance:
        return Verdict(
            "F4", True, f'does not apply: "{name}" already received all there is to give'
        )
    if after > before:
        return Verdict("F4", True, f'"{name}" receives {after:.6g} instead of {before:.6g}')
    why = (
        f'the data of "{name}" became more valuable, but it receives {after:.6g} after {before:.6g}'
    )
    witness = Witness((name,), names_of(change.most, game.names), {"r_i": before, "r'_i": after})
    return Verdict("F4", False, why, witness)


def check_party_monotonicity(
    game: Game,
    party: int | str,
    phi: Contributions | Any,
    game_after: Game,
    phi_after: Contributions | Any,
) -> Verdict:
    """When a party's data becomes more valuable, all else equal, nobody's contribution rises more
    than its own.

    Paper: App. D.3, party monotonicity: under F4's premises phi'_i - phi_i >= phi'_j - phi_j for
    every other j. Shapley values and the Banzhaf index have it, and the proof of F4 rests on it.

    Args:
        game: The values before.
        party: i, by index or name.
        phi: The contributions before, as `shapley` gives them or as numbers [n].
        game_after: The values after, v'.
        phi_after: The contributions after.
    """
    condition = "party monotonicity"
    change = _change(game, party, game_after)
    before, after = (as_contributions(values, game.n) for values in (phi, phi_after))
    if change.does_not_apply:
        return Verdict(condition, True, change.does_not_apply)
    if not (before.exact and after.exact):
        return Verdict(condition, None, "the contributions are sampled, and it is about exact ones")
    rise = after.values - before.values
    i, j = change.party, int(np.argmax(rise))
    name, other = game.names[i], game.names[j]
    if rise[j] <= rise[i] + 2 * change.tolerance:
        return Verdict(
            condition,
            True,
            f'nobody\'s contribution rises more than that of "{name}", by {rise[i]:.6g}',
        )
    why = (
        f'the data of "{name}" became more valuable, but the contribution of "{other}" rises by'
        f" {rise[j]:.6g},"
        f" more than its own by {rise[i]:.6g}"
    )
    numbers = {"phi'_i - phi_i": float(rise[i]), "phi'_j - phi_j": float(rise[j])}
    return Verdict(
        condition, False, why, Witness((name, other), names_of(change.most, game.names), numbers)
    )


@dataclass(frozen=True)
class _Change:
    """What F4 and party monotonicity presume: one party's data became more valuable, and nothing
    else changed.

    Attributes:
        party: i.
        tolerance: How far apart two values of these games may be and still be the same.
        does_not_apply: Why the premises do not hold; empty where they do.
        most: The coalition without i to which i adds most more than before, as a bitmask.
    """

    party: int
    tolerance: float
    does_not_apply: str = ""
    most: int = 0


def _change(game: Game, party: int | str, game_after: Game) -> _Change:
    if game.n != game_after.n:
        raise GameError(
            f"the games are of {game.n} and {game_after.n} parties; compare games of the same"
            " parties"
        )
    i = mask_of([party], game.names).bit_length() - 1  # type: ignore[arg-type]
    v, w, tolerance = (
        game.values(),
        game_after.values(),
        max(tolerance_of(game), tolerance_of(game_after)),
    )
    name = game.names[i]
    if np.abs(without_party(w, i) - without_party(v, i)).max() > tolerance:
        return _Change(i, tolerance, f'does not apply: coalitions without "{name}" changed too')
    gain = (with_party(w, i) - with_party(v, i)).ravel()
    if gain.min() < -tolerance or subset_weights(game.n)[sizes(game.n - 1)] @ gain <= tolerance:
        return _Change(
            i, tolerance, f'does not apply: the data of "{name}" did not become more valuable'
        )
    most = int(without_party(np.arange(1 << game.n), i).flat[int(np.argmax(gain))])
    return _Change(i, tolerance, most=most)


def shapley_fair(game: Game, contributions: Contributions, r: FloatArray) -> Verdict:
    """The rewards are in proportion to the contributions.

    Paper: Definition 1, Shapley Fairness: r_i = k phi_i for some k > 0.
    """
    return _proportional("Shapley fair", game, contributions, r, rho=1.0)


def rho_shapley_fair(game: Game, contributions: Contributions, r: FloatArray) -> Verdict:
    """The rewards are in proportion to a power of the contributions.

    Paper: Definition 2, rho-Shapley Fairness: r_i = k phi_i^rho for some k > 0 and rho > 0.
    """
    return _proportional("rho-Shapley fair", game, contributions, r, rho=None)


def _proportional(
    condition: str, game: Game, contributions: Contributions, r: FloatArray, rho: float | None
) -> Verdict:
    tolerance = tolerance_of(game)
    phi = snap_ties(contributions.values, tolerance)
    if phi.min() < 0 or r.min() < 0:
        return Verdict(
            condition, None, "some contribution or reward is negative, where powers have no meaning"
        )
    top, low = int(np.argmax(phi)), int(np.argmin(np.where(phi > 0, phi, np.inf)))
    if phi[top] == 0:
        return _nothing_for_nothing(condition, game, r, tolerance)
    if r[top] <= tolerance:
        why = f'"{game.names[top]}" contributes most but receives nothing'
        return Verdict(
            condition, False, why, Witness((game.names[top],), None, {"r_i": float(r[top])})
        )
    if rho is None:
        # rho is what the largest and the smallest contribution ask for; then the others must agree.
        with np.errstate(divide="ignore"):
            rho = (
                1.0
                if phi[low] == phi[top]
                else float(np.log(r[low] / r[top]) / np.log(phi[low] / phi[top]))
            )
        if not 0 < rho < np.inf:
            a, b = game.names[low], game.names[top]
            why = f'"{a}" contributes less than "{b}" but does not receive less'
            if r[low] == 0:
                why = f'"{a}" contributes something but receives nothing'
            numbers = {"r_i": float(r[low]), "r_j": float(r[top])}
            return Verdict(
                condition, False, why, Witness((game.names[low], game.names[top]), None, numbers)
            )
    expected = (phi / phi[top]) ** rho * r[top]
    worst = int(np.argmax(np.abs(r - expected)))
    if abs(r[worst] - expected[worst]) <= tolerance:
        return Verdict(
            condition,
            True,
            f"the rewards are in proportion to the contributions to the power {rho:.6g}",
        )
    name = game.names[worst]
    why = f'"{name}" receives {r[worst]:.6g}; contributions to the power {rho:.6g} would give it {expected[worst]:.6g}'
    numbers = {"r_i": float(r[worst]), "k phi_i^rho": float(expected[worst])}
    return Verdict(condition, False, why, Witness((name,), None, numbers))


def _nothing_for_nothing(condition: str, game: Game, r: FloatArray, tolerance: float) -> Verdict:
    """Nobody contributes anything: r_i = k 0 holds if nobody receives anything, for every k."""
    most = int(np.argmax(r))
    if r[most] <= tolerance:
        return Verdict(condition, True, "nobody contributes anything, and nobody receives anything")
    name = game.names[most]
    why = f'nobody contributes anything, but "{name}" receives {r[most]:.6g}'
    return Verdict(condition, False, why, Witness((name,), None, {"r_i": float(r[most])}))


def _strict_monotonicity_by_theorem(
    game: Game, contributions: Contributions, weakly_efficient: Verdict, proportional: Verdict
) -> Verdict:
    """F4 compares two games, and one set of rewards cannot show it; but Theorem 1 proves it for its
    own scheme.

    The proof is for one rho. Where rho follows the values, as "stable" and "rational" do, it may
    change with them, and with it a reward may fall although the party's data got better.
    """
    proved = contributions.concept.strictly_party_monotone and monotone(game).holds
    if proved and weakly_efficient.holds and proportional.holds:
        return Verdict(
            "F4", True, "Theorem 1 proves it for rewards of this form and a rho that stays the same"
        )
    return Verdict("F4", None, "it compares two games; check_strict_monotonicity does that")


def _pair_weights(n: int) -> FloatArray:
    """Of each coalition of the n-2 others, how much being ahead of another party there adds to phi_i - phi_j."""
    if n < 2:
        return np.empty(0)
    w, s = subset_weights(n), sizes(n - 2)
    return np.asarray(w[s] + w[s + 1])
