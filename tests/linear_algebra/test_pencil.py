import numpy as np
import pytest

from fairpool.linear_algebra.pencil import pencil_eigenvalues
from tests.support.matrices import positive_definite


@pytest.mark.parametrize("given", [True, False])
def test_a_pencils_eigenvalues_give_every_determinant(given):
    P = positive_definite(5, seed=2)
    R = positive_definite(5, seed=3) if given else None
    known = np.eye(5) if R is None else R
    along = pencil_eigenvalues(P, R)
    assert (np.diff(along) >= 0).all()
    for tau in (0.0, 0.01, 0.5, 1.0, 30.0):
        expected = np.linalg.det(known + tau * P)
        assert np.linalg.det(known) * np.prod(1 + tau * along) == pytest.approx(expected, rel=1e-10)
