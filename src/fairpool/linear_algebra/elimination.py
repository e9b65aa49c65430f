"""All coalitions' log-determinants of one matrix in blocks, by eliminating one block after another.

Paper: App. E.5, for every coalition at once; `KernelSpace.values` says how. A label row
(`fairpool.linear_algebra.label_row`) is conditioned on the blocks that join like every other row;
its corner, 0 at first, becomes - y^T B^-1 y of those.
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
from fairpool.linear_algebra.label_row import fill_corners, logarithms_and_squares
from fairpool.linear_algebra.log_determinant import log_diagonals
from fairpool.tables.arrays import FloatArray

TASK_PARTIES = 12
"""A task is at most all coalitions of this many last parties, given a choice for the others."""

FIRST_CHOICES = 3
"""Where there are fewer parties, tasks choose for this many.

It is small because each task must redo the eliminations of its choice.
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
        labelled: Whether one more row and column, the last of B, are labels. Then what is said of
            a coalition are two numbers: 1/2 log|B| and 1/2 y^T B^-1 y.
    """

    B: FloatArray
    sizes: tuple[int, ...]
    labelled: bool = False

    def values(self, workers: Workers, digest: Callable[[], str]) -> FloatArray:
        """1/2 log-determinant of every coalition [2**n] (or [2**n, 2]); bit k is block k."""
        n = len(self.sizes)
        alone = workers.executor is None and workers.checkpoint is None
        # Without workers or a checkpoint there is nothing to divide the work for.
        first = 0 if alone else _first_choices(n)
        tasks = [(choice, first) for choice in range(1 << first)]
        parts = workers.map(
            coalition_values, self, tasks, doing="valuing coalitions", digest=digest
        )
        table = np.stack(parts, axis=1)  # the first blocks' bits are the lowest
        return table.reshape(1 << n, *table.shape[2:])


def _first_choices(n: int) -> int:
    """For how many of n blocks a task makes a choice."""
    wanted = max(n - TASK_PARTIES, FIRST_CHOICES)
    possible = max(n - TAIL, 0)
    return min(wanted, possible)


def coalition_values(elimination: Elimination, task: tuple[int, int]) -> FloatArray:
    """The values of the coalitions that agree with a choice for the first blocks [2**(n - first)].

    Args:
        elimination: The matrix.
        task: The choice, a bitmask, and for how many blocks it is.
    """
    choice, first = task
    B = elimination.B
    value = 0.0
    for k, size in enumerate(elimination.sizes[:first]):
        if choice >> k & 1:
            gain, B = _eliminate(B, size)
            value += gain
        else:
            B = _drop(B, size)
    walk = _Walk(elimination.sizes[first:], labelled=elimination.labelled)
    walk.visit(B, depth=0, mask=0, value=value)
    walk.finish()
    return walk.v if walk.fit is None else np.column_stack([walk.v, walk.fit])


class _Walk:
    """The values v [2**n] of all coalitions of some blocks, choosing for one block after another.

    With a label row, their fits [2**n] as well. The last TAIL blocks are reached most often and are
    small, so that calls would cost more than arithmetic. Their matrices wait in a stack until it is
    full, and are factorised in one call.
    """

    def __init__(self, sizes: tuple[int, ...], *, labelled: bool) -> None:
        n = len(sizes)
        self.v = np.empty(1 << n)
        self.fit = np.empty(1 << n) if labelled else None
        self.sizes = sizes
        self.tail = max(n - TAIL, 0)
        rows = sum(sizes[self.tail :]) + labelled
        matrix_bytes = 8 * max(rows, 1) ** 2
        self.stack = np.empty((max(STACK_BYTES // matrix_bytes, 1), rows, rows))
        self.waiting: list[int] = []  # the coalition that each matrix of the stack belongs to

    def visit(self, B: FloatArray, *, depth: int, mask: int, value: float) -> None:
        """Value every coalition that has the blocks of `mask` and perhaps some from `depth` on.

        Args:
            B: The matrix of the blocks from `depth` on, given those of `mask`.
            depth: The first block that is not chosen for yet.
            mask: The blocks chosen so far.
            value: What these are worth.
        """
        if depth == self.tail:
            self.v[mask] = value
            if self.fit is not None:
                self.fit[mask] = -0.5 * B[-1, -1]
            # Upper triangles count here and lower ones in `log_diagonals`.
            self.stack[len(self.waiting)] = B.T
            self.waiting.append(mask)
            if len(self.waiting) == len(self.stack):
                self.finish()
            return
        size = self.sizes[depth]
        self.visit(_drop(B, size), depth=depth + 1, mask=mask, value=value)
        gain, rest = _eliminate(B, size)
        self.visit(rest, depth=depth + 1, mask=mask | 1 << depth, value=value + gain)

    def finish(self) -> None:
        """Value the coalitions that wait in the stack, joined by each choice of the last blocks."""
        masks = np.array(self.waiting, dtype=np.intp)
        n = len(self.sizes)
        if self.fit is not None:
            fill_corners(self.stack[: len(masks)])
        # One factor of the last two blocks is worth two coalitions: its first part is the factor of
        # the first of them.
        for start in range(self.tail, n):
            skipped = sum(self.sizes[self.tail : start])
            stack = self.stack[: len(masks), skipped:, skipped:]
            if self.fit is None:
                logs = log_diagonals(stack)
            else:
                logs, squares = logarithms_and_squares(stack)
            joined = 0
            for end in range(start + 1, n + 1):
                joined |= 1 << end - 1
                rows = sum(self.sizes[start:end])
                self.v[masks | joined] = self.v[masks] + logs[:, :rows].sum(axis=1)
                if self.fit is not None:
                    self.fit[masks | joined] = self.fit[masks] + 0.5 * squares[:, :rows].sum(axis=1)
        self.waiting.clear()


def _drop(B: FloatArray, size: int) -> FloatArray:
    """The others' matrix without the first `size` rows."""
    return B[size:, size:]


def _eliminate(B: FloatArray, size: int) -> tuple[float, FloatArray]:
    """The first `size` rows' 1/2 log-determinant, and the others' matrix given them.

    Only upper triangles count.
    """
    U, failed = dpotrf(B[:size, :size], lower=0, clean=0)
    gain = nan if failed else float(np.log(U.diagonal()).sum())
    if not isfinite(gain):
        upper = np.triu(B[:size, :size])
        raise KernelError(not_positive_definite(upper + np.triu(upper, 1).T))
    W, _ = dtrtrs(U, B[:size, size:], lower=0, trans=1)
    # The Schur complement, B_rest - W^T W.
    return gain, dsyrk(-1.0, W, beta=1.0, c=B[size:, size:], trans=1, lower=0)
