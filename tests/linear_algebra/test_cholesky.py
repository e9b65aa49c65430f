import numpy as np
import pytest

from fairpool.errors import KernelError
from fairpool.linear_algebra.cholesky import NotComputable, lower_factor, lower_factors
from tests.support.matrices import positive_definite


def naive_factor(B):
    """The textbook's loops."""
    L = np.zeros_like(B)
    for i in range(len(B)):
        for j in range(i):
            L[i, j] = (B[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
        L[i, i] = np.sqrt(B[i, i] - L[i, :i] @ L[i, :i])
    return L


@pytest.mark.parametrize("k", [0, 1, 2, 7])
def test_a_factor_is_the_textbooks(k):
    B = positive_definite(k, seed=k)
    np.testing.assert_allclose(lower_factor(B), naive_factor(B), atol=1e-12)
    np.testing.assert_allclose(lower_factors(B), naive_factor(B), atol=1e-12)


def test_a_stack_has_the_factor_of_each_of_its_matrices():
    stack = np.array([positive_definite(4, seed) for seed in range(6)])
    L = lower_factors(stack.reshape(2, 3, 4, 4)).reshape(6, 4, 4)
    for factor, B in zip(L, stack, strict=True):
        np.testing.assert_allclose(factor, naive_factor(B), atol=1e-12)
    assert lower_factors(stack[:0]).shape == (0, 4, 4)


def test_only_the_lower_triangles_of_a_stack_count():
    B = positive_definite(4, seed=0)
    np.testing.assert_array_equal(lower_factors(np.tril(B)), lower_factors(B))


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_what_has_no_factor_is_refused(bad):
    B = np.diag([1.0, bad, 2.0])
    with pytest.raises(KernelError, match=r"not positive definite|not finite"):
        lower_factor(B)
    for stack in (B, np.array([np.eye(3), B])):
        with pytest.raises(NotComputable, match=r"positive definite|not finite"):
            lower_factors(stack)
