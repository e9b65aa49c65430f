"""Games whose values depend only on how many rows a coalition has, with exact contributions for
many parties.
"""

from math import comb

import numpy as np

import fairpool as fp

NOISE = 0.5


def row_game(rows):
    """Every party measures the same number, some more often than others."""
    parties = [fp.Party(str(i), np.ones((m, 1)), np.zeros(m)) for i, m in enumerate(rows)]
    return fp.InformationGain(fp.BayesianLinearRegression(NOISE, bias=False), parties)


def exact_contributions(rows, weights):
    """phi [n], where each coalition of k others is as likely as weights[k] says."""
    phi = []
    for i, m in enumerate(rows):
        ways = ways_by_size_and_rows([*rows[:i], *rows[i + 1 :]])
        others = np.arange(ways.shape[1])
        gains = (np.log1p((others + m) / NOISE) - np.log1p(others / NOISE)) / 2
        phi.append(float(np.asarray(weights) @ ways @ gains))
    return np.array(phi)


def ways_by_size_and_rows(rows):
    """How many coalitions have k parties and so many rows in all [n + 1, sum of rows + 1]."""
    ways = np.zeros((len(rows) + 1, sum(rows) + 1))
    ways[0, 0] = 1
    for m in rows:
        joined = np.zeros_like(ways)
        joined[1:, m:] = ways[:-1, : ways.shape[1] - m]
        ways += joined
    return ways


def shapley_weights(n):
    return [1 / (n * comb(n - 1, k)) for k in range(n)]


def banzhaf_weights(n):
    return [2.0 ** (1 - n)] * n
