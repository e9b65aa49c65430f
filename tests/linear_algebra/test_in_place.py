import numpy as np
import pytest

from fairpool.linear_algebra import in_place
from fairpool.linear_algebra.cholesky import NotComputable
from tests.support.matrices import positive_definite


def test_one_matrix_holds_the_factor_the_inverse_and_the_sum_in_turn():
    B = positive_definite(6, seed=0)
    a = np.random.default_rng(1).standard_normal(6)
    memory = B.copy()

    L = in_place.factorise(memory)
    assert np.shares_memory(L, memory)
    np.testing.assert_array_equal(L, np.tril(L))
    np.testing.assert_allclose(L @ L.T, B, atol=1e-12)

    inverse = in_place.invert(L)
    assert np.shares_memory(inverse, memory)
    np.testing.assert_allclose(inverse, np.tril(np.linalg.inv(B)), atol=1e-12)

    expected = inverse - 0.5 * np.outer(a, a)
    total = in_place.add_outer(inverse, -0.5, a)
    assert np.shares_memory(total, memory)
    np.testing.assert_allclose(total, expected, atol=1e-14)


def test_another_order_takes_a_copy_but_gives_the_same():
    B = positive_definite(5, seed=2)
    L = in_place.factorise(B.copy())
    np.testing.assert_allclose(in_place.factorise(np.asfortranarray(B)), L, atol=1e-14)
    inverse = in_place.invert(np.ascontiguousarray(L))
    np.testing.assert_allclose(inverse, np.tril(np.linalg.inv(B)), atol=1e-12)


def test_what_has_no_factor_or_no_inverse_is_refused():
    with pytest.raises(NotComputable, match="not positive definite"):
        in_place.factorise(np.diag([1.0, -1.0]))
    with pytest.raises(NotComputable, match="singular"):
        in_place.invert(np.asfortranarray(np.diag([1.0, 0.0])))
