"""Eq. (2): the Shapley value, exactly from all 2**n values or from a sample of them."""

from concurrent.futures import Executor
from math import comb

import numpy as np

from fairpool.coalitions import sizes, with_party, without_party
from fairpool.compute.workers import Workers, workers_of
from fairpool.contributions.concept import Concept, Words
from fairpool.contributions.contributions import Contributions, exactly
from fairpool.contributions.sampling import estimate, fewest_evaluations
from fairpool.errors import GameError, cut, shown
from fairpool.tables.arrays import FloatArray, as_count, as_generator, read_only
from fairpool.values import Game
from fairpool.values.game import check_game

EVALUATIONS = 5000
"""How many coalitions are valued by default, where not all are, and .."""

EVALUATIONS_PER_PARTY = 50
""".. how many more for every party."""


def shapley(
    game: Game,
    method: str = "auto",
    rng: np.random.Generator | int | None = None,
    *,
    evaluations: int | None = None,
    target_standard_error: float | None = None,
    executor: Workers | Executor | None = None,
) -> Contributions:
    """Each party's Shapley value: its expected marginal contribution when it joins in random order.

    Paper: Eq. (2), Sec. 4.1.1; Proposition 1: it is fair.

        phi_i = 1/n! sum over permutations of (v of those before i, and i) - (v of those before i)

    Args:
        game: The values.
        method: "exact" (from all 2**n values), "sampled" (from some of them, see `sampling`), or
            "auto": exact up to 16 parties, and wherever all values are known.
        rng: Seed or generator, for sampling.
        evaluations: How many coalitions to value at most, for sampling; by default 5000, and 50 for
            every party, but hardly more than there are.
        target_standard_error: Stop sampling once every party's standard error is this small.
        executor: Who values the coalitions: threads, processes, a Dask client's executor; None:
            this thread. The numbers do not depend on it.

    >>> from fairpool import TableGame
    >>> shapley(TableGame([0, 7, 5, 8]))
    Contributions([5. 3.], exact)
    """
    check_request(game, method, "Shapley values")
    if target_standard_error is not None and not target_standard_error > 0:
        raise GameError(f"target_standard_error {shown(target_standard_error)} must be above 0")
    with workers_of(executor) as workers:
        if method == "exact" or (method == "auto" and game.enumerable):
            return exactly(_from_table(game.values(workers)), "exact", SHAPLEY)
        evaluations = how_many_evaluations(evaluations, game.n, fewest_evaluations(game.n))
        seed = int(as_generator(rng).integers(2**63))
        sample = estimate(
            game,
            seed=seed,
            evaluations=evaluations,
            target=target_standard_error,
            workers=workers,
        )
    return Contributions(
        values=read_only(sample.values),
        standard_errors=read_only(sample.standard_errors),
        method="sampled",
        evaluations=sample.evaluations,
        concept=SHAPLEY,
    )


def check_request(game: Game, method: str, of: str) -> None:
    """Refuse what is not a game, and methods that do not exist."""
    check_game(game)
    if method not in ("auto", "sampled", "exact"):
        raise GameError(
            f'no method "{cut(str(method))}" for {of}; there are "exact", "sampled" and "auto"'
        )


def how_many_evaluations(wanted: int | None, n: int, fewest: int) -> int:
    """How many coalitions to value at most: as many as wanted, or by default what suits n."""
    if wanted is None:
        # Of few parties, a sample larger than the number of coalitions would tell nothing new.
        usual = min(EVALUATIONS + EVALUATIONS_PER_PARTY * n, 1 << n)
        return max(usual, 4 * fewest)
    if as_count(wanted, "evaluations", 1) < fewest:
        raise GameError(
            f"evaluations {shown(wanted)} are too few for {n} parties; give at least {fewest}"
        )
    return wanted


def subset_weights(n: int) -> FloatArray:
    """s! (n-1-s)! / n! for s = 0 .. n-1 [n].

    That is how likely exactly s given parties come before party i, and nobody else does.
    """
    return np.array([1 / (n * comb(n - 1, s)) for s in range(n)])


def _from_table(v: FloatArray) -> FloatArray:
    """The Shapley values from all values [2**n].

    Summed over coalitions instead of permutations: the permutations that have the same parties
    before i are counted together.
    """
    n = len(v).bit_length() - 1
    # Of the coalitions of the n-1 others, in the order of their bitmasks.
    weight = subset_weights(n)[sizes(n - 1)]
    phi = np.empty(n)
    for i in range(n):
        adds = with_party(v, i) - without_party(v, i)
        phi[i] = weight @ adds.ravel()
    return phi


def _measure(
    game: Game,
    *,
    rng: int,
    evaluations: int | None,
    target_standard_error: float | None,
    workers: Workers,
) -> Contributions:
    return shapley(
        game,
        rng=rng,
        evaluations=evaluations,
        target_standard_error=target_standard_error,
        executor=workers,
    )


SHAPLEY = Concept(
    name="shapley",
    measure=_measure,
    words=Words(
        letter=(
            "what your data add on average, over all orders in which the parties could join (the"
            " Shapley value)"
        ),
        glossary=(
            "The Shapley value: what a party's data adds on average, over all orders in which the"
            " parties could join."
        ),
        from_values="what a party adds, averaged over all orders in which the parties could join",
    ),
    strictly_party_monotone=True,
    averages_marginals=True,
    efficient=True,
    fewest_evaluations=fewest_evaluations,
    heeds_precision=True,
)
