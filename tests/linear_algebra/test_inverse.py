import numpy as np

from fairpool.linear_algebra.inverse import inverse, pseudo_inverse
from tests.support.matrices import positive_definite, symmetric


def test_an_inverse_undoes_its_matrix():
    B = positive_definite(6, seed=0)
    np.testing.assert_allclose(inverse(B) @ B, np.eye(6), atol=1e-12)


def test_a_pseudo_inverse_is_the_inverse_where_there_is_one():
    M = symmetric(5, seed=0)
    np.testing.assert_allclose(pseudo_inverse(M, 1e-10) @ M, np.eye(5), atol=1e-11)


def test_a_pseudo_inverse_fulfils_penroses_conditions():
    A = np.random.default_rng(0).standard_normal((6, 3))
    M = A @ A.T  # of rank 3
    G = pseudo_inverse(M, 1e-10)
    np.testing.assert_allclose(M @ G @ M, M, atol=1e-11)
    np.testing.assert_allclose(G @ M @ G, G, atol=1e-11)
    np.testing.assert_allclose((G @ M).T, G @ M, atol=1e-11)
    np.testing.assert_allclose((M @ G).T, M @ G, atol=1e-11)


def test_what_is_small_beside_the_largest_counts_as_nothing():
    M = np.diag([4.0, 1e-3, 1e-9])
    np.testing.assert_allclose(pseudo_inverse(M, 1e-6), np.diag([0.25, 1e3, 0.0]))
    np.testing.assert_allclose(pseudo_inverse(M, 1e-3), np.diag([0.25, 0.0, 0.0]))
