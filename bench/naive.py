"""The naive ways and the floors that fairpool is measured against."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from scipy.linalg.lapack import dpotrf

from bench.games import CACHED


def cholesky_per_coalition(B: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """v_C = 1/2 log|B_CC| of all coalitions [2**n], each by its own factorisation."""
    n = len(sizes)
    owner = np.repeat(np.arange(n), sizes)
    v = np.zeros(1 << n)
    for mask in range(1, 1 << n):
        rows = np.flatnonzero(mask >> owner & 1)
        L, _ = dpotrf(B[np.ix_(rows, rows)].T, lower=1, clean=0, overwrite_a=1)
        v[mask] = np.log(np.diag(L)).sum()
    return v


def elimination_flops(sizes: Sequence[int]) -> float:
    """Multiplications and additions of eliminating one party after another, of all 2**n coalitions.

    At depth k there are 2**k matrices; each has a block of m_k rows factorised (m^3 / 3), solved
    with the r rows still to come (m^2 r) and subtracted from half of their matrix (m r^2).
    """
    flops = 0.0
    for k, m in enumerate(sizes):
        r = sum(sizes[k + 1 :])
        flops += 2**k * (m**3 / 3 + m**2 * r + m * r**2)
    return flops


def dpotrf_speed(B: np.ndarray, repeats: int = 3) -> float:
    """Flops a second of one factorisation of B, at best."""
    seconds = []
    for _ in range(repeats):
        A = np.array(B, order="F")
        start = perf_counter()
        dpotrf(A, lower=1, clean=0, overwrite_a=1)
        seconds.append(perf_counter() - start)
    return len(B) ** 3 / 3 / min(seconds)


def batched_cholesky(B: np.ndarray, count: int) -> None:
    """`np.linalg.cholesky` of so many matrices like B, and nothing else.

    They are in stacks that stay in the cache.
    """
    stack = np.tile(B, (min(count, max(1, CACHED // B.size)), 1, 1))
    for _ in range(0, count, len(stack)):
        np.linalg.cholesky(stack)
