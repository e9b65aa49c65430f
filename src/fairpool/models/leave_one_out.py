"""Rows predicted without themselves, in closed form: no model is trained again.

With v the latent variance at a training row, given all rows, and s its noise variance, the row's
leverage is h = v / s: how far the prediction there follows its own label y. Without the row

    mean = (f - h y) / (1 - h),   latent variance = v / (1 - h)

where f is the latent mean. (Rasmussen and Williams, Sec. 5.4.2, in other letters; for weights it is
the rank-one downdate of B by a a^T / s, a^T (B - a a^T / s)^-1 a = v / (1 - h).)
"""

import numpy as np

from fairpool.tables.arrays import FloatArray

LOST_DIGITS = 1e4 * np.finfo(float).eps
"""Where 1 - h is smaller than this share of k / s, rounding leaves it fewer than four digits."""


def mean_without_row(f: FloatArray, y: FloatArray, leverage: FloatArray) -> FloatArray:
    """Latent means [m] (or [m, k] for k sets of labels) at rows, each without its own label.

    Args:
        f: Latent means given all rows, [m] or [m, k].
        y: The rows' labels [m].
        leverage: h of the model that f comes from [m].
    """
    return np.asarray(((f.T - leverage * y) / (1 - leverage)).T)


def variance_without_row(variance: FloatArray, leverage: FloatArray) -> FloatArray:
    """Latent variances [m] at rows, each without the row itself."""
    return np.asarray(variance / (1 - leverage))


def leverages(variance: FloatArray, noise: FloatArray, prior: FloatArray) -> FloatArray:
    """h = v / s [m]; nan where rounding leaves nothing of 1 - h.

    Args:
        variance: v, latent variances given all rows [m].
        noise: s, the rows' noise variances [m].
        prior: k, latent variances a priori [m]: rounding of v is a share of them.
    """
    h = variance / noise
    return np.where(1 - h > LOST_DIGITS * (1 + prior / noise), h, np.nan)
