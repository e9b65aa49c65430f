"""Games with many parties of a few kinds: near-ties where contributions are sampled, exact ones by
counting.
"""

from math import comb

import numpy as np

import fairpool as fp

NOISE = 0.5


class CloneGame:
    """`each` parties of every one of some types: all parties of a type have the same data.

    Attributes:
        game: Its values, computed as for any parties.
        phi: The exact Shapley values [n]: v_C depends only on how many of each type are in C.
    """

    def __init__(self, types, each, seed):
        rng = np.random.default_rng(seed)
        tables = [rng.lognormal(sigma=0.5) * rng.standard_normal((4, 3)) for _ in range(types)]
        parties = []
        for t, X in enumerate(tables):
            parties += [fp.Party(f"{t}-{copy}", X, np.zeros(len(X))) for copy in range(each)]
        self.game = fp.InformationGain(fp.BayesianLinearRegression(NOISE), parties)
        v = values_by_counts(tables, each)
        self.phi = np.repeat([shapley_of_type(v, t) for t in range(types)], each)


def values_by_counts(tables, each):
    """v [each + 1, .., each + 1] of coalitions with so many parties of every type."""
    biased = [np.column_stack([X, np.ones(len(X))]) for X in tables]
    grams = np.array([A.T @ A / NOISE for A in biased])
    shape = (each + 1,) * len(tables)
    counts = np.indices(shape).reshape(len(tables), -1).T
    v = np.empty(len(counts))
    for some in np.array_split(np.arange(len(counts)), 1 + len(counts) // 10_000):
        precisions = np.eye(grams.shape[1]) + np.tensordot(counts[some], grams, 1)
        v[some] = np.linalg.slogdet(precisions)[1] / 2
    return v.reshape(shape)


def shapley_of_type(v, t):
    """Eq. (2) for a party of one type, by the number of parties of every type that came before."""
    each, types = v.shape[0] - 1, v.ndim
    gains = np.diff(v, axis=t)
    before = np.indices(gains.shape)
    others = [each - (s == t) for s in range(types)]
    ways = np.ones(gains.shape)  # to choose those who came before
    for s in range(types):
        ways *= np.array([float(comb(others[s], count)) for count in range(each + 1)])[before[s]]
    n = each * types
    orders = np.array([n * float(comb(n - 1, size)) for size in range(n)])[before.sum(axis=0)]
    return float((gains * ways / orders).sum())
