"""Sec. 3: four properties of values, each checked with a witness where it fails."""

from itertools import combinations
from operator import itemgetter

import numpy as np

from fairpool.coalitions import name_of, names_of, with_pair, with_party, without_party
from fairpool.errors import GameError
from fairpool.linear_algebra.rounding import RELATIVE_TOLERANCE
from fairpool.tables.arrays import TINY
from fairpool.values.game import EXACT_LIMIT, Game
from fairpool.verdicts import Verdict, Verdicts, Witness

LEAST_PRECISION = 1e-3
"""Values that rounding may put off by more than this share of the largest are not known."""

NO_INFORMATION = 1e-6
"""Where rounding reaches only so many nats and yet hides the values, these are nothing."""


def tolerance_of(game: Game) -> float:
    """How far apart two of the game's values may be and still be the same.

    Where the values are so small that rounding alone may have made them, all are the same as 0.
    Where they are not small, and rounding may have made them all the same, they are refused.
    """
    values = game.values() if game.enumerable else np.append(game.alone, game.total)
    largest, rounding = float(np.abs(values).max()), game.rounding_error
    if rounding <= LEAST_PRECISION * largest:
        return max(RELATIVE_TOLERANCE * largest, rounding, TINY)
    if rounding <= NO_INFORMATION:
        return max(largest, rounding)
    raise GameError(
        f"rounding may put the values off by {rounding:.3g} nats, and the largest is {largest:.6g};"
        " give a larger noise"
        " variance or fewer inducing points, standardise the columns, and leave out copies of a"
        " column"
    )


def check_properties(game: Game) -> Verdicts:
    """The four properties of Sec. 3: "empty is 0", "non-negative", "monotone", "submodular".

    Paper: Sec. 3. Information gain has all four. Theorem 1 needs the first three.
    """
    return Verdicts([empty_is_zero(game), non_negative(game), monotone(game), submodular(game)])


def empty_is_zero(game: Game) -> Verdict:
    """Nobody's data is worth nothing.

    Paper: Sec. 3, first property: v of the empty coalition is 0.
    """
    v = game.empty_value
    if abs(v) <= tolerance_of(game):
        return Verdict(condition="empty is 0", holds=True, why="nobody's data is worth nothing")
    return Verdict(
        condition="empty is 0",
        holds=False,
        why=f"nobody's data is worth {v:.6g}",
        witness=Witness(coalition=(), numbers={"v_C": v}),
    )


def non_negative(game: Game) -> Verdict:
    """No coalition's data has a negative value.

    Paper: Sec. 3, second property: v_C >= 0.
    """
    if not game.enumerable:
        return _too_many("non-negative", game)
    v = game.values()
    worst = int(np.argmin(v))
    if v[worst] >= -tolerance_of(game):
        why = "no coalition's data has a negative value"
        return Verdict(condition="non-negative", holds=True, why=why)
    why = f"the data of {name_of(worst, game.names)} is worth {v[worst]:.6g}"
    witness = Witness(coalition=names_of(worst, game.names), numbers={"v_C": float(v[worst])})
    return Verdict(condition="non-negative", holds=False, why=why, witness=witness)


def monotone(game: Game) -> Verdict:
    """Another party never makes a coalition's data worth less.

    Paper: Sec. 3, Monotonicity: v_C' >= v_C for C a subset of C'. (Adding one party at a time is
    enough.)
    """
    if not game.enumerable:
        return _too_many("monotone", game)
    v, masks = game.values(), np.arange(1 << game.n)
    worst = (0.0, 0, 0)
    for i in range(game.n):
        change = with_party(v, i) - without_party(v, i)
        at = int(np.argmin(change))
        worst = min(
            worst,
            (float(change.flat[at]), i, int(without_party(masks, i).flat[at])),
            key=itemgetter(0),
        )
    loss, i, C = worst
    if loss >= -tolerance_of(game):
        why = "another party never makes a coalition's data worth less"
        return Verdict(condition="monotone", holds=True, why=why)
    before, after = float(v[C]), float(v[C | 1 << i])
    why = (
        f'adding "{game.names[i]}" to {name_of(C, game.names)} lowers its value from {before:.6g}'
        f" to {after:.6g}"
    )
    witness = Witness(
        parties=(game.names[i],),
        coalition=names_of(C, game.names),
        numbers={"v_C": before, "v_C_with": after},
    )
    return Verdict(condition="monotone", holds=False, why=why, witness=witness)


def submodular(game: Game) -> Verdict:
    """A party adds less to a larger coalition.

    Paper: Sec. 3, Submodularity; App. A. (It is enough to look at coalitions that differ by one
    party.)
    """
    if not game.enumerable:
        return _too_many("submodular", game)
    v, masks = game.values(), np.arange(1 << game.n)
    worst = (0.0, 0, 0, 0)
    for i, j in combinations(range(game.n), 2):
        v_C, v_i, v_j, v_ij = with_pair(v, i, j)
        excess = (v_ij - v_j) - (v_i - v_C)
        at = int(np.argmax(excess))
        worst = max(
            worst,
            (float(excess.flat[at]), i, j, int(with_pair(masks, i, j)[0].flat[at])),
            key=itemgetter(0),
        )
    most, i, j, C = worst
    if most <= 2 * tolerance_of(game):
        why = "a party adds less to a larger coalition"
        return Verdict(condition="submodular", holds=True, why=why)
    gain, later = float(v[C | 1 << i] - v[C]), float(v[C | 1 << i | 1 << j] - v[C | 1 << j])
    a, b = game.names[i], game.names[j]
    why = f'"{a}" adds {gain:.6g} to {name_of(C, game.names)}, but {later:.6g} once "{b}" is in it'
    witness = Witness(
        parties=(a, b),
        coalition=names_of(C, game.names),
        numbers={"gain": gain, "gain_later": later},
    )
    return Verdict(condition="submodular", holds=False, why=why, witness=witness)


def _too_many(condition: str, game: Game) -> Verdict:
    if game.properties_proved:
        why = "information gain always is (Sec. 3), and is not checked for so many parties"
        return Verdict(condition=condition, holds=True, why=why)
    why = f"2**{game.n} coalitions are too many to look at (the limit is 2**{EXACT_LIMIT})"
    return Verdict(condition=condition, holds=None, why=why)
