import numpy as np
import pytest

from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.log_determinant import (
    half_log_determinant,
    half_log_determinant_by_factor,
    half_log_determinants,
    log_diagonals,
)
from tests.support.matrices import positive_definite


@pytest.mark.parametrize("k", [0, 1, 6])
def test_a_log_determinant_is_that_of_the_determinant(k):
    B = positive_definite(k, seed=k)
    expected = pytest.approx(0.5 * np.log(np.linalg.det(B)), abs=1e-12)
    assert half_log_determinant(B) == expected
    assert half_log_determinant_by_factor(lower_factor(B)) == expected
    assert half_log_determinants(B[None]) == expected


def test_a_determinant_beyond_all_numbers_has_a_logarithm():
    B = 1e300 * np.eye(4)
    assert half_log_determinant(B) == pytest.approx(2 * np.log(1e300))


def test_the_first_diagonals_are_those_of_the_leading_block():
    stack = np.array([positive_definite(5, seed) for seed in range(3)])
    logs = log_diagonals(stack)
    for k in range(1, 6):
        np.testing.assert_allclose(
            logs[:, :k].sum(axis=1), 0.5 * np.log(np.linalg.det(stack[:, :k, :k])), atol=1e-12
        )
