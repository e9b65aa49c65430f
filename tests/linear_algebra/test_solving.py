import numpy as np
import pytest

from fairpool.linear_algebra.cholesky import NotComputable, lower_factor
from fairpool.linear_algebra.solving import (
    solve,
    solve_factorised,
    solve_lower,
    solve_lower_each,
)
from tests.support.matrices import positive_definite, symmetric

SHAPES = [(), (1,), (3,)]
"""What follows the rows of a right side: nothing for a vector."""


def right_side(k, shape):
    return np.random.default_rng(9).standard_normal((k, *shape))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_lower_factors_are_solved_with_from_the_first_row_on(shape, order):
    L = np.array(lower_factor(positive_definite(5, seed=0)), order=order)
    Y = right_side(5, shape)
    expected = np.zeros_like(Y)
    for i in range(5):
        expected[i] = (Y[i] - L[i, :i] @ expected[:i]) / L[i, i]
    np.testing.assert_allclose(solve_lower(L, Y), expected, atol=1e-12)


def test_many_lower_factors_are_solved_with_as_each_is():
    L = np.array([lower_factor(positive_definite(5, seed=seed)) for seed in range(4)])
    Y = np.random.default_rng(9).standard_normal((4, 5, 3))
    expected = np.array([solve_lower(L[c], Y[c]) for c in range(4)])
    np.testing.assert_allclose(solve_lower_each(L, Y), expected, rtol=1e-14)
    assert solve_lower_each(L[:0], Y[:0]).shape == (0, 5, 3)
    assert solve_lower_each(L, Y[:, :, :0]).shape == (4, 5, 0)
    L[2, 1, 1] = 0.0
    with pytest.raises(NotComputable, match="matrix 2 of 4 is singular"):
        solve_lower_each(L, Y)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_factor_solves_as_its_matrix_does(shape, order):
    B = positive_definite(5, seed=1)
    L = np.array(lower_factor(B), order=order)
    Y = right_side(5, shape)
    before = Y.copy()
    X = solve_factorised(L, Y)
    assert X.shape == Y.shape
    np.testing.assert_allclose(B @ X, Y, atol=1e-12)
    np.testing.assert_array_equal(Y, before)  # nothing is overwritten


@pytest.mark.parametrize("shape", SHAPES)
def test_no_rows_have_an_empty_solution(shape):
    nothing = np.empty((0, 0))
    for way in (solve_lower, solve_factorised):
        assert way(nothing, np.empty((0, *shape))).shape == (0, *shape)
    assert solve_factorised(np.eye(3), np.empty((3, 0))).shape == (3, 0)


def test_any_matrix_is_solved_with_and_stacks_of_them():
    stack = np.array([symmetric(4, seed) for seed in range(3)])
    Y = np.random.default_rng(0).standard_normal((3, 4, 2))
    X = solve(stack, Y)
    for k in range(3):
        np.testing.assert_allclose(stack[k] @ X[k], Y[k], atol=1e-11)
        np.testing.assert_allclose(solve(stack[k], Y[k]), X[k], atol=1e-14)
    with pytest.raises(NotComputable, match="Singular"):
        solve(np.zeros((2, 2)), np.eye(2))
