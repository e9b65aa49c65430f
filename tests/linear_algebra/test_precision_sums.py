from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fairpool.compute.workers import as_workers
from fairpool.linear_algebra import precision_sums
from fairpool.linear_algebra.precision_sums import PrecisionSums
from tests.support.matrices import positive_definite


def sums_of(n, d):
    P = [positive_definite(d, seed) for seed in range(n)]
    return PrecisionSums(np.array(P).reshape(n, d, d))


def naive(P, membership):
    B = np.eye(P.shape[1]) + P[membership].sum(axis=0)
    return 0.5 * np.linalg.slogdet(B)[1]


def all_memberships(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)


@pytest.mark.parametrize(("n", "d"), [(0, 2), (1, 3), (5, 4), (12, 2), (3, 0)])
def test_every_coalition_has_the_determinant_of_its_sum(n, d):
    sums = sums_of(n, d)
    S = all_memberships(n)
    expected = [naive(sums.P, membership) for membership in S]
    np.testing.assert_allclose(sums.values(as_workers(None), str), expected, atol=1e-12)
    np.testing.assert_allclose(sums.values_of(S), expected, atol=1e-12)


def test_no_coalition_has_no_value():
    assert sums_of(3, 2).values_of(np.empty((0, 3), dtype=bool)).shape == (0,)


def test_tasks_and_stacks_change_nothing(monkeypatch):
    sums = sums_of(7, 3)
    whole = sums.values(as_workers(None), str)
    monkeypatch.setattr(precision_sums, "LEAST_FREE", 2)
    monkeypatch.setattr(precision_sums, "STACK_BYTES", 8 * 9 * 2)  # two matrices at a time
    with ThreadPoolExecutor(2) as pool:
        np.testing.assert_allclose(sums.values(as_workers(pool), str), whole, rtol=1e-13)
    np.testing.assert_allclose(sums.values_of(all_memberships(7)), whole, rtol=1e-13)
