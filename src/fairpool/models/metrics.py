"""Eq. (3): how well a model predicts."""

from typing import Any

import numpy as np

from fairpool.errors import DataError
from fairpool.tables.arrays import FloatArray


def mnlp(y: Any, mean: Any, variance: Any) -> Any:
    """Mean negative log probability of test labels: lower is better.

    Paper: Eq. (3), Sec. 5. It can rise while information gain does: with an unsuitable model, an
    informative prior, or where each party has enough data already (App. F.2, ample data), since
    smaller variances magnify the errors.

        MNLP = mean of 1/2 (log(2 pi variance) + (mean - y)^2 / variance)

    Args:
        y: Test labels [t].
        mean: Predictive means [t]; or [t, k] for k models that share their variances.
        variance: Predictive variances of y* [t], observation noise included.

    Returns:
        One number; or [k].

    >>> round(mnlp([0.0], [0.0], [1.0]), 4)
    0.9189
    """
    y = np.asarray(y, dtype=np.float64)
    mean = np.asarray(mean, dtype=np.float64)
    variance = np.asarray(variance, dtype=np.float64)
    y_fits = y.ndim == 1 and len(y) > 0
    if not y_fits or mean.shape[:1] != y.shape or variance.shape != y.shape:
        raise DataError(
            "mnlp needs y [t], mean [t] or [t, k], variance [t];"
            f" got {y.shape}, {mean.shape}, {variance.shape}"
        )
    if not (variance > 0).all():
        raise DataError(f"mnlp needs variances above 0; the smallest is {variance.min():g}")
    score = -np.mean(log_normal_density(y, mean.T, variance), axis=-1)
    return float(score) if mean.ndim == 1 else score


def log_normal_density(y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """log N(y; mean, variance) of every label; mean and variance may be of several models."""
    return np.asarray(-0.5 * (np.log(2 * np.pi * variance) + (mean - y) ** 2 / variance))
