"""The Banzhaf index, another solution concept that suits Theorem 1 (App. D.3, footnote)."""

from concurrent.futures import Executor

import numpy as np

from fairpool.coalitions import with_party, without_party
from fairpool.compute.workers import Workers, workers_of
from fairpool.contributions.complements import estimate, fewest_evaluations
from fairpool.contributions.concept import Concept, Words
from fairpool.contributions.contributions import Contributions, exactly
from fairpool.contributions.shapley import check_request, how_many_evaluations
from fairpool.tables.arrays import FloatArray, as_generator, read_only
from fairpool.values import Game


def banzhaf(
    game: Game,
    method: str = "auto",
    rng: np.random.Generator | int | None = None,
    *,
    evaluations: int | None = None,
    executor: Workers | Executor | None = None,
) -> Contributions:
    """Each party's average marginal contribution over all coalitions of the others, each as likely.

    Paper: App. D.3, footnote to party monotonicity. Unlike Shapley values they need not sum to v_N.

    Args:
        game: The values.
        method: "exact" (from all 2**n values), "sampled" (from some of them, see `complements`), or
            "auto": exact up to 16 parties, and wherever all values are known.
        rng: Seed or generator, for sampling.
        evaluations: How many coalitions to value at most, for sampling; by default as many as for
            Shapley values.
        executor: Who values the coalitions: threads, processes, a Dask client's executor; None:
            this thread. The numbers do not depend on it.

    >>> from fairpool import TableGame
    >>> banzhaf(TableGame([0, 7, 5, 8]))
    Contributions([5. 3.], banzhaf)
    """
    check_request(game, method, "the Banzhaf index")
    with workers_of(executor) as workers:
        if method == "exact" or (method == "auto" and game.enumerable):
            return exactly(_from_table(game.values(workers)), "banzhaf", BANZHAF)
        evaluations = how_many_evaluations(evaluations, game.n, fewest_evaluations(game.n))
        seed = int(as_generator(rng).integers(2**63))
        sample = estimate(game, seed=seed, evaluations=evaluations, workers=workers)
    return Contributions(
        values=read_only(sample.values),
        standard_errors=read_only(sample.standard_errors),
        method="banzhaf sampled",
        evaluations=sample.evaluations,
        concept=BANZHAF,
    )


def _from_table(v: FloatArray) -> FloatArray:
    n = len(v).bit_length() - 1
    return np.array([np.mean(with_party(v, i) - without_party(v, i)) for i in range(n)])


def _measure(
    game: Game, *, rng: int, evaluations: int | None, workers: Workers, **_: object
) -> Contributions:
    return banzhaf(game, rng=rng, evaluations=evaluations, executor=workers)


BANZHAF = Concept(
    name="banzhaf",
    measure=_measure,
    words=Words(
        letter=(
            "what your data add on average, over all groups that the other parties could form (the"
            " Banzhaf index)"
        ),
        glossary=(
            "The Banzhaf index: what a party's data adds on average, over all groups that the other"
            " parties could form."
        ),
        from_values="what a party adds, averaged over all groups that the other parties could form",
    ),
    strictly_party_monotone=True,
    averages_marginals=True,
    fewest_evaluations=fewest_evaluations,
)
