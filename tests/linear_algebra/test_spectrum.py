import numpy as np
import pytest

from fairpool.linear_algebra.spectrum import eigenvalues, left_singular, spectrum
from tests.support.matrices import symmetric


def test_eigenvalues_are_the_roots_of_the_characteristic_polynomial():
    M = symmetric(4, seed=0)
    roots = np.sort(np.roots(np.poly(M)).real)
    np.testing.assert_allclose(eigenvalues(M), roots, atol=1e-9)
    np.testing.assert_allclose(spectrum(M).eigenvalues, roots, atol=1e-9)


def test_a_spectrum_gives_its_matrix_back():
    M = symmetric(5, seed=1)
    values, Q = spectrum(M)
    np.testing.assert_allclose(Q @ np.diag(values) @ Q.T, M, atol=1e-12)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-12)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
def test_left_singular_values_tell_about_the_rows(shape):
    A = np.random.default_rng(0).standard_normal(shape)
    U, s = left_singular(A)
    assert U.shape == (shape[0], min(shape))
    assert (np.diff(s) <= 0).all()
    np.testing.assert_allclose(U.T @ U, np.eye(min(shape)), atol=1e-12)
    np.testing.assert_allclose(U @ np.diag(s**2) @ U.T, A @ A.T, atol=1e-12)
