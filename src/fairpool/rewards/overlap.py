"""How much the data of two parties tell twice.

I(i; j) = v_i + v_j - v_ij, in nats: what one of them already knows of what the other brings. It is
at least 0 for submodular values, and at most the smaller of v_i and v_j.
"""

import numpy as np

from fairpool.tables.arrays import FloatArray, read_only
from fairpool.values import InformationGain

MOST_WORK = 1e10
"""So many multiplications for all pairs, where their values are not known: some seconds."""


def pairwise_overlap(game: InformationGain) -> FloatArray | None:
    """I(i; j) [n, n], with v_i on the diagonal; None where so many pairs would take too long."""
    n = game.n
    first, second = np.triu_indices(n, k=1)
    if not game.enumerable and game.space.work_per_value * len(first) > MOST_WORK:
        return None
    overlap = np.diag(game.alone)
    if len(first):
        S = np.zeros((len(first), n), dtype=bool)
        pairs = np.arange(len(first))
        S[pairs, first] = True
        S[pairs, second] = True
        together = game.evaluator.values_of(S)
        shared = np.maximum(game.alone[first] + game.alone[second] - together, 0.0)
        overlap[first, second] = shared
        overlap[second, first] = shared
    return read_only(overlap)
