"""Rewards of parties whose labels harm the others, where the operator chose to discount them."""

import numpy as np

from fairpool.tables.arrays import FloatArray


def discounted(rewards: FloatArray, *, alone: FloatArray, kept: FloatArray) -> FloatArray:
    """v_i + s_i (r_i - v_i): of what a reward adds to its own data, party i keeps s_i.

    Nothing below v_i can be realised, so that only what is above it is weakened.

    Args:
        rewards: r [n].
        alone: v_i [n].
        kept: s [n], from 0 to 1.
    """
    added = np.maximum(rewards - alone, 0.0)
    return np.where(kept < 1, alone + kept * added, rewards)
