"""All coalitions' log-determinants of one matrix in blocks, by eliminating one block after another.

Paper: App. E.5, for every coalition at once; `KernelSpace.values` says how.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dtrtrs

from fairpool.compute.workers import Workers
from fairpool.errors import KernelError
from fairpool.linear_algebra.cholesky import not_positive_definite
from fairpool.linear_algebra.log_determinant import log_diagonals
from fairpool.tables.arrays import FloatArray

TASK_PARTIES = 12
"""A task is at most all coalitions of this many last parties, given a choice for the others."""

FIRST_CHOICES = 3
"""Where there are fewer parties, tasks choose for this many: each must redo the eliminations of its
choice.
"""

TAIL = 2
"""How many last blocks are not eliminated one by one, but factorised in stacks."""

STACK_BYTES = 1 << 19
"""How much a stack of last blocks may take: it should stay in the cache."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """A symmetric matrix B, one block per party that has rows, the largest first.

    Attributes:
        B: [m, m], in Fortran order; only the upper triangle counts.
        sizes: The blocks' sizes, none of them 0.
    """

    B: FloatArray
    sizes: tuple[int, ...]

    def values(self, workers: Workers, digest: Callable[[], str]) -> FloatArray:
        """1/2 log-determinant of every coalition [2**n]; bit k is block k."""
        n = len(self.sizes)
        alone = workers.executor is None and workers.checkpoint is None
        first = 0 if alone else max(min(max(n - TASK_PARTIES, FIRST_CHOICES), n - TAIL), 0)
        tasks = [(choice, first) for choice in range(1 << first)]
        parts = workers.map(coalition_values, self, tasks, "valuing coalitions", digest=digest)
        return np.stack(parts, axis=1).ravel()  # the first blocks' bits are the lowest


def coalition_values(elimination: Elimination, task: tuple[int, int]) -> FloatArray:
    """The values of all coalitions that agree with one choice for the first blocks [2**(n -
    first)].

    Args:
        elimination: The matrix.
        task: The choice, a bitmask, and for how many blocks it is.
    """
    choice, first = task
    B, value = elimination.B, 0.0
    for k, size in enumerate(elimination.sizes[:first]):
        gain, rest = _eliminate(B, size) if choice >> k & 1 else (0.0, B[size:, size:])
        B, value = rest, value + gain
    sizes = elimination.sizes[first:]
    n = len(sizes)
    v = np.full(1 << n, value)
    tail = max(n - TAIL, 0)
    k = sum(sizes[tail:])
    stack = np.empty((max(STACK_BYTES // (8 * max(k, 1) ** 2), 1), k, k))
    waiting: list[int] = []

    def visit(B: FloatArray, depth: int, mask: int, value: float) -> None:
        if depth == tail:
            v[mask] = value
            stack[len(waiting)] = B.T
            waiting.append(mask)
            if len(waiting) == len(stack):
                flush()
            return
        size = sizes[depth]
        visit(B[size:, size:], depth + 1, mask, value)
        gain, rest = _eliminate(B, size)
        visit(rest, depth + 1, mask | 1 << depth, value + gain)

    def flush() -> None:
        # The last blocks are many and small: one call for a whole stack of them. One factor of the
        # last two is worth two coalitions: its first part is the factor of the first of them.
        masks = np.array(waiting, dtype=np.intp)
        for start in range(tail, n):
            skipped = sum(sizes[tail:start])
            logs = log_diagonals(stack[: len(masks), skipped:, skipped:])
            for end in range(start + 1, n + 1):
                joined = sum(1 << depth for depth in range(start, end))
                v[masks | joined] = v[masks] + logs[:, : sum(sizes[start:end])].sum(axis=1)
        waiting.clear()

    visit(B, 0, 0, value)
    if waiting:
        flush()
    return v


def _eliminate(B: FloatArray, size: int) -> tuple[float, FloatArray]:
    """The first `size` rows' 1/2 log-determinant, and the others' matrix given them. Only upper triangles count."""
    U, failed = dpotrf(B[:size, :size], lower=0, clean=0)
    gain = nan if failed else float(np.log(U.diagonal()).sum())
    if not isfinite(gain):
        block = np.triu(B[:size, :size])
        raise KernelError(not_positive_definite(block + np.triu(block, 1).T))
    W, _ = dtrtrs(U, B[:size, size:], lower=0, trans=1)
    return gain, dsyrk(-1.0, W, beta=1.0, c=B[size:, size:], trans=1, lower=0)
