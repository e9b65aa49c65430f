"""Eq. (2): the Shapley value, exactly from all 2**n values or by sampling permutations."""

from math import comb

import numpy as np

from fairpool.arrays import FloatArray, as_count, as_generator, read_only
from fairpool.coalitions import sizes, with_party, without_party
from fairpool.contributions.contributions import Contributions, exactly
from fairpool.errors import GameError
from fairpool.values import Game

FEWEST_PAIRS = 16
"""Pairs of permutations before a standard error is trusted enough to stop at it."""


def shapley(
    game: Game,
    method: str = "auto",
    rng: np.random.Generator | int | None = None,
    *,
    permutations: int = 2000,
    target_standard_error: float | None = None,
) -> Contributions:
    """Each party's Shapley value: its expected marginal contribution when it joins in random order.

    Paper: Eq. (2), Sec. 4.1.1; Proposition 1: it is fair.

        phi_i = 1/n! sum over permutations of (v of those before i, and i) - (v of those before i)

    Args:
        game: The values.
        method: "exact" (from all 2**n values), "sampled" (from permutations), or "auto": exact up to 16 parties,
            and wherever all values are known.
        rng: Seed or generator, for sampling.
        permutations: How many permutations to sample at most (rounded up to pairs).
        target_standard_error: Stop sampling once every party's standard error is this small.

    >>> from fairpool import TableGame
    >>> shapley(TableGame([0, 7, 5, 8]))
    Contributions([5. 3.], exact)
    """
    if not isinstance(game, Game):
        raise GameError(f"{game!r} is not a game; give an InformationGain, ValidationGain or TableGame")
    if method == "exact" or (method == "auto" and game.enumerable):
        return exactly(_from_table(game.values()), "exact")
    if method not in ("auto", "sampled"):
        raise GameError(f'no method "{method}" for Shapley values; there are "exact", "sampled" and "auto"')
    return _sampled(game, as_generator(rng), as_count(permutations, "permutations", 4), target_standard_error)


def subset_weights(n: int) -> FloatArray:
    """s! (n-1-s)! / n! for s = 0 .. n-1 [n]: how likely just s given parties come before party i."""
    return np.array([1 / (n * comb(n - 1, s)) for s in range(n)])


def _from_table(v: FloatArray) -> FloatArray:
    """Sum over coalitions instead of permutations: those with the same parties before i are counted together."""
    n = len(v).bit_length() - 1
    weight = subset_weights(n)[sizes(n - 1)]  # of the coalitions of the n-1 others, in the order of their bitmasks
    return np.array([weight @ (with_party(v, i) - without_party(v, i)).ravel() for i in range(n)])


def _sampled(
    game: Game, rng: np.random.Generator, permutations: int, target_standard_error: float | None
) -> Contributions:
    """Average over random permutations, each taken forwards and backwards.

    A party that comes early in one direction comes late in the other, so that the two marginal contributions of a
    pair err in opposite ways. Every permutation's contributions sum to v_N, and so does their average.
    """
    if target_standard_error is not None and not target_standard_error > 0:
        raise GameError(f"target_standard_error {target_standard_error} must be above 0")
    mean, squares, pairs = np.zeros(game.n), np.zeros(game.n), 0
    while 2 * pairs < permutations:
        order = rng.permutation(game.n)
        sample = (_marginals(game, order) + _marginals(game, order[::-1])) / 2
        pairs += 1
        change = sample - mean  # Welford's update: no difference of large squares
        mean += change / pairs
        squares += change * (sample - mean)
        errors = np.sqrt(squares / max(pairs - 1, 1) / pairs)
        if target_standard_error and pairs >= FEWEST_PAIRS and errors.max() <= target_standard_error:
            break
    return Contributions(read_only(mean), read_only(errors), "sampled", 2 * pairs)


def _marginals(game: Game, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
    marginals = np.empty(game.n)
    marginals[order] = np.diff(game.prefix_values(order.tolist()), prepend=game.empty_value)
    return marginals
