"""In which order parties are listed."""

import numpy as np

from fairpool.outcome import Outcome


def by_reward(result: Outcome) -> list[int]:
    """The parties' places, from the largest reward to the smallest.

    Who receive the same stand in the order of their contributions, and then as they were given.
    """
    keys = (-result.contributions.values, -result.rewards.round(9))  # the last one counts most
    return [int(i) for i in np.lexsort(keys)]
