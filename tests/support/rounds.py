"""Two rounds of a made-up consortium, and the parts of a change as naively as possible."""

import warnings
from itertools import permutations

import numpy as np

import fairpool as fp
from fairpool.rewards.discount import discounted
from fairpool.rounds import FACTORS, RoundGame
from tests.support.examples import labels

BLR = fp.BayesianLinearRegression(0.5)


def party(name, rows, seed, *, inputs=3, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(shift, 1, (rows, inputs))
    return fp.Party(name, X, labels(X, rng))


def a_round(number, parties, *, model=BLR, rho="stable", **more):
    """A round of parties given by id."""
    return RoundGame(
        number=number,
        model=model,
        parties=tuple(parties.values()),
        ids=tuple(parties),
        rho=rho,
        **more,
    )


def everything_changes(model=BLR, seed=0):
    """Two of three stay with new data, one leaves, one comes, and there are new terms."""
    old = {
        "a": party("A", 6, seed),
        "b": party("B", 9, seed + 1),
        "c": party("C", 12, seed + 2),
    }
    new = {
        "d": party("D", 8, seed + 3),
        "b": party("B", 14, seed + 4),
        "a": party("A", 15, seed + 5),
    }
    before = a_round(1, old, model=model, rho=0.8)
    after = a_round(2, new, model=model, rho=0.5, contributions="banzhaf", kept=[1, 0.5, 0.7])
    return before, after


def rewards_of(game):
    """Every party's reward, by id, through the library's public functions."""
    values = fp.InformationGain(game.model, game.parties)
    measure = {"shapley": fp.shapley, "banzhaf": fp.banzhaf}[game.contributions]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rewards = fp.RewardScheme(values, measure(values)).rewards(game.rho)
    if game.kept is not None:
        rewards = discounted(rewards, alone=values.alone, kept=game.kept)
    return dict(zip(game.ids, rewards, strict=True))


def state(before, after, i, switched):
    """The game in which some factors, as party i sees them, are those of the later round."""
    old, new = before.by_id, after.by_id
    parties = {}
    for j in [*before.ids, *after.ids]:
        if j in old and j in new:
            factor = "own_data" if j == i else "others_data"
            parties[j] = new[j] if factor in switched else old[j]
        elif j in new and "joiners" in switched:
            parties[j] = new[j]
        elif j in old and "leavers" not in switched:
            parties[j] = old[j]
    terms = after if "terms" in switched else before
    kept = [1.0] * len(parties)
    kept[list(parties).index(i)] = terms.kept_by(i)
    return a_round(
        0,
        parties,
        model=before.model,
        rho=terms.rho,
        contributions=terms.contributions,
        kept=kept,
    )


def parts_by_orderings(before, after, i):
    """Each factor's part of party i's change, averaged over all orders of switching them."""
    parts = dict.fromkeys(FACTORS, 0.0)
    orders = list(permutations(FACTORS))
    known = {}

    def reward(switched):
        if switched not in known:
            known[switched] = rewards_of(state(before, after, i, switched))[i]
        return known[switched]

    for order in orders:
        switched = frozenset()
        for factor in order:
            more = switched | {factor}
            parts[factor] += (reward(more) - reward(switched)) / len(orders)
            switched = more
    return parts
