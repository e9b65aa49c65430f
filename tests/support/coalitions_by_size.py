"""All coalitions of one size, and what a party makes of them: the oracle of everything by size."""

from itertools import combinations

import numpy as np


def all_of_size(n, size):
    """Every coalition of so many of n parties, as memberships."""
    return np.array([[i in C for i in range(n)] for C in combinations(range(n), size)])


def contrasts_over_all(coalitions, values):
    """For each party, the mean of the values with it less the mean without it."""
    parties = range(coalitions.shape[1])
    return np.array(
        [values[coalitions[:, i]].mean() - values[~coalitions[:, i]].mean() for i in parties]
    )


def all_coalitions(n):
    """Every coalition of n parties, as memberships, in the order of their bitmasks."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
