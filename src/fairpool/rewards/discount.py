"""Rewards below the scheme's: where labels harm the others, or a party wants no more."""

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


def capped(rewards: FloatArray, *, alone: FloatArray, most: FloatArray) -> FloatArray:
    """Rewards of parties that do not want to hold more than they said: the others' do not change.

    What a party's own data are worth, it holds anyway.

    Args:
        rewards: r [n].
        alone: v_i [n].
        most: What each party wants to hold at most, in nats [n].
    """
    return np.where(most < rewards, np.maximum(most, np.minimum(alone, rewards)), rewards)
