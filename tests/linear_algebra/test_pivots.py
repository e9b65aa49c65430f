import numpy as np

from fairpool.linear_algebra.pivots import pivots
from tests.support.matrices import positive_definite


def naive_pivots(K, count):
    """Each the row of the largest variance given the ones before, by that formula itself."""
    chosen = []
    for _ in range(count):
        known = K[:, chosen]
        inner = np.linalg.inv(K[np.ix_(chosen, chosen)])
        variance = np.diag(K - known @ inner @ known.T).copy()
        variance[chosen] = 0.0
        chosen.append(int(np.argmax(variance)))
    return chosen


def test_each_pivot_is_the_row_least_known_given_those_before():
    for seed in range(5):
        K = positive_definite(8, seed)
        assert pivots(np.diag(K), lambda i, K=K: K[:, i], 6) == naive_pivots(K, 6)


def test_only_columns_of_pivots_are_computed_and_none_beyond_what_they_tell():
    A = np.random.default_rng(0).standard_normal((9, 3))
    K = A @ A.T  # three rows tell all
    asked = []

    def column(i):
        asked.append(i)
        return K[:, i]

    variances = np.diag(K).copy()
    chosen = pivots(variances, column, 7)
    assert len(chosen) == 3
    assert asked == chosen
    np.testing.assert_array_equal(variances, np.diag(K))  # nothing is overwritten
