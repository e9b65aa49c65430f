"""What the holder of reward files does to remove the noise from the others' labels."""

import numpy as np


def labels_in(reward):
    """The labels that a Gaussian process's reward was trained on [m], the others' noisy."""
    posterior = reward.posterior
    K = posterior.model.covariance(posterior.X)
    return K @ posterior.alpha + posterior.alpha / posterior.scale**2


def without_noise_of(seed, reward):
    """The labels, if this is the seed and nobody else's noise was drawn before."""
    standard = np.random.default_rng(seed).standard_normal(len(reward.posterior.X))
    return labels_in(reward) - np.sqrt(reward.eta) * standard


def search_seed(reward, others, candidates, decimals=2):
    """The candidate that makes round numbers of the others' labels; None where there is none.

    Args:
        reward: What the attacker holds.
        others: Which rows are not its own [m].
        candidates: Seeds to try.
        decimals: How many of them labels have, in the target's own units.
    """
    target = reward.encoding.target
    for seed in candidates:
        raw = target.decode(without_noise_of(seed, reward), np.zeros(len(others)))[0]
        off = raw[others] * 10**decimals
        if np.abs(off - np.round(off)).max() < 1e-6:
            return seed
    return None


def cancel(first, second):
    """The labels, if two releases at different noise variances have one standardised noise.

    Rows are recognised by their inputs, which both files hold.
    """
    X, same = first.posterior.X, second.posterior.X
    places = np.abs(X[:, None, :] - same[None, :, :]).max(axis=2).argmin(axis=1)
    a, b = np.sqrt(first.eta), np.sqrt(second.eta)
    return (b * labels_in(first) - a * labels_in(second)[places]) / (b - a)
