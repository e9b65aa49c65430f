"""Inducing points for the sparse Gaussian process."""

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from fairpool.errors import DataError, cut
from fairpool.linear_algebra.pivots import pivots
from fairpool.models import kernels
from fairpool.tables.arrays import FloatArray, as_count, as_generator, as_matrix


def inducing_points(
    X: Any,
    count: int,
    method: str = "kmeans",
    *,
    kernel: Any = None,
    rng: np.random.Generator | int | None = None,
    least_rows: int = 1,
) -> FloatArray:
    """Choose inducing points U [count, p] for inputs X [m, p].

    Args:
        X: The inputs to represent: public ones, if there are, since U goes into every reward model.
        count: How many points.
        method: "kmeans" (centres of clusters) or "greedy" (rows of X, each the one whose latent
            value is least known given those before it: the pivots of a pivoted Cholesky
            factorisation).
        kernel: For "greedy": the kernel that says how well one point tells about another.
        rng: Seed or generator of k-means.
        least_rows: For "kmeans": leave out clusters of fewer rows. The centre of one row is that
            row, and would show it to everybody.
    """
    X, _ = as_matrix(X, "inputs to choose inducing points from")
    if not 1 <= as_count(count, "count", 0) <= len(X):
        raise DataError(
            f"{count} inducing points cannot be chosen from {len(X)} rows; take 1 to {len(X)}"
        )
    if method == "kmeans":
        return _centres(X, count, rng=as_generator(rng), least_rows=least_rows)
    if method == "greedy":
        if kernel is None:
            raise DataError(
                'method "greedy" needs the kernel:'
                ' inducing_points(X, count, "greedy", kernel=kernel)'
            )
        return _greedy(kernels.checked(kernel), X, count)
    raise DataError(
        f'no method "{cut(str(method))}" to choose inducing points; there are "kmeans" and "greedy"'
    )


def _centres(X: FloatArray, count: int, *, rng: np.random.Generator, least_rows: int) -> FloatArray:
    """The centres of clusters that have at least so many rows."""
    seed = int(rng.integers(2**31))
    distinct = len(np.unique(X, axis=0))  # k-means warns of more clusters than there are points
    clusters = KMeans(min(count, distinct), n_init=1, random_state=seed).fit(X)
    rows = np.bincount(clusters.labels_, minlength=clusters.n_clusters)
    large = rows >= least_rows
    if not large.any():
        raise DataError(
            f"no cluster has {least_rows} rows; ask for fewer than {count} inducing points"
        )
    return np.asarray(clusters.cluster_centers_[large])


def _greedy(kernel: Any, X: FloatArray, count: int) -> FloatArray:
    """The rows that a pivoted Cholesky factorisation of the kernel matrix chooses."""
    variances = np.asarray(kernel.diag(X), dtype=np.float64)

    def covariance(pivot: int) -> FloatArray:
        return np.asarray(kernel(X, X[pivot : pivot + 1]))[:, 0]

    return X[pivots(variances, covariance, count)]
