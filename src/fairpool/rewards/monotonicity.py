"""F4 and App. D.3: what changes when one party's data becomes more valuable, and nothing else."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.coalitions import mask_of, names_of, sizes, with_party, without_party
from fairpool.contributions import Contributions
from fairpool.contributions.contributions import as_contributions
from fairpool.contributions.shapley import subset_weights
from fairpool.errors import GameError
from fairpool.tables.arrays import FloatArray, as_numbers
from fairpool.values import Game, tolerance_of
from fairpool.verdicts import Verdict, Witness


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
    improvement = _improvement(game, party, game_after)
    i = improvement.party
    name = game.names[i]
    before = float(as_numbers(rewards, game.n, "rewards")[i])
    after = float(as_numbers(rewards_after, game.n, "rewards")[i])
    if improvement.does_not_apply:
        return Verdict(condition="F4", holds=True, why=improvement.does_not_apply)
    if game_after.total <= before + improvement.tolerance:
        why = f'does not apply: "{name}" already received all there is to give'
        return Verdict(condition="F4", holds=True, why=why)
    if after > before:
        why = f'"{name}" receives {after:.6g} instead of {before:.6g}'
        return Verdict(condition="F4", holds=True, why=why)
    return Verdict(
        condition="F4",
        holds=False,
        why=(
            f'the data of "{name}" became more valuable, but it receives {after:.6g} after'
            f" {before:.6g}"
        ),
        witness=Witness(
            parties=(name,),
            coalition=names_of(improvement.most, game.names),
            numbers={"r_i": before, "r'_i": after},
        ),
    )


def check_party_monotonicity(
    game: Game,
    party: int | str,
    phi: Contributions | Any,
    game_after: Game,
    phi_after: Contributions | Any,
) -> Verdict:
    """When a party's data becomes more valuable, nobody's contribution rises more than its own.

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
    improvement = _improvement(game, party, game_after)
    before = as_contributions(phi, game.n)
    after = as_contributions(phi_after, game.n)
    if improvement.does_not_apply:
        return Verdict(condition=condition, holds=True, why=improvement.does_not_apply)
    if not (before.exact and after.exact):
        why = "the contributions are sampled, and it is about exact ones"
        return Verdict(condition=condition, holds=None, why=why)
    rise = after.values - before.values
    i = improvement.party
    j = int(np.argmax(rise))
    name = game.names[i]
    other = game.names[j]
    if rise[j] <= rise[i] + 2 * improvement.tolerance:
        why = f'nobody\'s contribution rises more than that of "{name}", by {rise[i]:.6g}'
        return Verdict(condition=condition, holds=True, why=why)
    return Verdict(
        condition=condition,
        holds=False,
        why=(
            f'the data of "{name}" became more valuable, but the contribution of "{other}" rises by'
            f" {rise[j]:.6g}, more than its own by {rise[i]:.6g}"
        ),
        witness=Witness(
            parties=(name, other),
            coalition=names_of(improvement.most, game.names),
            numbers={"phi'_i - phi_i": float(rise[i]), "phi'_j - phi_j": float(rise[j])},
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Improvement:
    """What F4 and party monotonicity presume: one party's data became more valuable, only that.

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


def _improvement(game: Game, party: int | str, game_after: Game) -> _Improvement:
    if game.n != game_after.n:
        raise GameError(
            f"the games are of {game.n} and {game_after.n} parties; compare games of the same"
            " parties"
        )
    # A coalition is of indices or of names; of a single party it is the one or the other.
    i = mask_of([party], game.names).bit_length() - 1  # type: ignore[arg-type]
    v = game.values()
    v_after = game_after.values()
    tolerance = max(tolerance_of(game), tolerance_of(game_after))
    if np.abs(without_party(v_after, i) - without_party(v, i)).max() > tolerance:
        why = f'does not apply: coalitions without "{game.names[i]}" changed too'
        return _Improvement(party=i, tolerance=tolerance, does_not_apply=why)
    gain = (with_party(v_after, i) - with_party(v, i)).ravel()
    # "More valuable" is measured by what it adds to phi_i, so that it means the same here and for
    # ties.
    mean_gain = subset_weights(game.n)[sizes(game.n - 1)] @ gain
    if gain.min() < -tolerance or mean_gain <= tolerance:
        why = f'does not apply: the data of "{game.names[i]}" did not become more valuable'
        return _Improvement(party=i, tolerance=tolerance, does_not_apply=why)
    masks_without_i = without_party(np.arange(1 << game.n), i)
    most = int(masks_without_i.flat[int(np.argmax(gain))])
    return _Improvement(party=i, tolerance=tolerance, most=most)
