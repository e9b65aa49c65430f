import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp


@pytest.fixture
def X():
    return np.random.default_rng(0).uniform(0, 1, (300, 2))


def test_kmeans_gives_centres_and_is_repeatable(X):
    U = fp.inducing_points(X, 12, rng=1)
    assert U.shape == (12, 2)
    np.testing.assert_array_equal(U, fp.inducing_points(X, 12, rng=1))
    assert not {tuple(u) for u in U} & {tuple(x) for x in X}
    assert (
        len(fp.inducing_points(np.repeat(X[:3], 5, axis=0), 5, rng=1)) == 3
    )  # no more than distinct rows


def test_greedy_takes_the_row_least_known_given_those_before(X):
    kernel = RBF(0.3)
    U = fp.inducing_points(X, 8, "greedy", kernel=kernel)
    for k in range(1, 8):
        before = U[:k]
        K = kernel(X, before)
        left = 1 - np.einsum("ij,jk,ik->i", K, np.linalg.inv(kernel(before)), K)
        np.testing.assert_array_equal(U[k], X[np.argmax(left)])


def test_greedy_stops_when_nothing_is_left_to_know():
    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    assert len(fp.inducing_points(X, 9, "greedy", kernel=RBF(0.5))) == 3


def test_more_inducing_points_come_closer_to_the_gp(X):
    y = np.sin(5 * X[:, 0]) * X[:, 1]
    kernel = 1.0 * RBF(0.3)
    exact = fp.GaussianProcess(kernel, 0.1).log_marginal_likelihood(X, y)
    gaps = []
    for count in (5, 20, 60):
        U = fp.inducing_points(X, count, "greedy", kernel=kernel)
        gaps.append(
            abs(fp.SparseGaussianProcess(kernel, 0.1, U).log_marginal_likelihood(X, y) - exact)
        )
    assert gaps[2] < 0.1 < min(gaps[:2])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((301,), "301 inducing points cannot be chosen from 300 rows"),
        ((0,), "0 inducing points cannot be chosen"),
        ((3, "greedy"), 'method "greedy" needs the kernel'),
        ((3, "magic"), 'no method "magic" to choose inducing points'),
    ],
)
def test_bad_requests_are_refused(X, arguments, text):
    with pytest.raises(ValueError, match=text):
        fp.inducing_points(X, *arguments)
