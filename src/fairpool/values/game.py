"""Games: a value v_C for every coalition C of n parties."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairpool.coalitions import Coalition, mask_of
from fairpool.compute.workers import Workers, workers_of
from fairpool.errors import GameError, shown
from fairpool.parties import check_names
from fairpool.tables.arrays import FloatArray, read_only

EXACT_LIMIT = 16
"""Up to this many parties, whatever needs all 2**n values may compute them without being asked to.
"""

TABLE_LIMIT = 24
"""Beyond this many parties a table of 2**n values is refused: it would take more than 128 MiB."""

MASKS_PER_TASK = 64
"""Coalitions per task, where each is valued by itself."""


class Evaluator(Protocol):
    """What values coalitions; it can be sent to other processes."""

    @property
    def n(self) -> int:
        """The number of parties."""
        ...  # pragma: no cover

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n]."""
        ...  # pragma: no cover

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """What it costs to value a coalition of each size, relative to others."""
        ...  # pragma: no cover

    def digest(self) -> str:
        """A hash of all that the values depend on; empty where there is none."""
        ...  # pragma: no cover


class Game(ABC):
    """A value v_C for every coalition C of the parties N = {0, .., n-1}.

    Subclass it for values of your own.

    Paper: Sec. 2, Sec. 3. A subclass gives `names` and `value_of_mask`; the rest follows, and can
    be overridden where there is a faster way.
    """

    names: tuple[str, ...]
    _table: FloatArray
    properties_proved: bool = False
    """Whether the values have the four properties of Sec. 3 by theory, as information gain does."""

    @abstractmethod
    def value_of_mask(self, mask: int) -> float:
        """v_C of the coalition with this bitmask."""

    @property
    def n(self) -> int:
        """The number of parties."""
        return len(self.names)

    def value(self, coalition: Coalition) -> float:
        """v_C of a coalition given by its parties' indices or names, such as {0, 2}."""
        mask = mask_of(coalition, self.names)
        return float(self._table[mask]) if self.tabulated else self.value_of_mask(mask)

    @property
    def tabulated(self) -> bool:
        """Whether all 2**n values are known already."""
        return "_table" in self.__dict__

    @property
    def enumerable(self) -> bool:
        """Whether all 2**n values are known, or few enough to compute without being asked to."""
        return self.n <= EXACT_LIMIT or self.tabulated

    @cached_property
    def total(self) -> float:
        """v_N, the value of everybody's data."""
        return self.value(range(self.n))

    @cached_property
    def alone(self) -> FloatArray:
        """v_1 .. v_n, the value of each party's own data [n]."""
        return read_only(np.array([self.value({i}) for i in range(self.n)]))

    def values(self, executor: Workers | Executor | None = None) -> FloatArray:
        """All values [2**n]; the index is the coalition's bitmask, bit i is party i. Computed once.

        Args:
            executor: Who computes them, if they are not known yet; None: this thread.
        """
        if self.tabulated:
            return self._table
        if self.n > TABLE_LIMIT:
            raise GameError(
                f"a table of 2**{self.n} values is too large (the limit is 2**{TABLE_LIMIT},"
                f" {8 << TABLE_LIMIT >> 20} MiB);"
                ' sample instead: shapley(game, method="sampled")'
            )
        with workers_of(executor) as workers:
            self._table = read_only(self.all_values(workers))
        return self._table

    def all_values(self, workers: Workers) -> FloatArray:
        """Compute all values [2**n]."""
        tasks = [
            (start, min(start + MASKS_PER_TASK, 1 << self.n))
            for start in range(0, 1 << self.n, MASKS_PER_TASK)
        ]
        return np.concatenate(
            workers.map(
                values_of_masks, self, tasks, doing="valuing coalitions", digest=self.digest
            )
        )

    @property
    def evaluator(self) -> "Evaluator":
        """What values coalitions one by one, here or in other processes."""
        return self

    def values_of(self, S: NDArray[np.bool_]) -> FloatArray:
        """v of some coalitions [N], given as memberships [N, n]."""
        return np.array([self.value(np.flatnonzero(row).tolist()) for row in S])

    def cost(self, sizes: NDArray[np.int64]) -> FloatArray:
        """What it costs to value a coalition of each size, relative to others."""
        return np.ones(len(sizes))

    def digest(self) -> str:
        """A hash of all that the values depend on, to keep them on disk under.

        By default there is none, and they are not kept.
        """
        return ""

    @cached_property
    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]."""
        return read_only(self.evaluator.values_of(~np.eye(self.n, dtype=bool)))

    @property
    def rounding_error(self) -> float:
        """How far rounding may put a value off, where that is known."""
        return 0.0

    @cached_property
    def empty_value(self) -> float:
        """v of the coalition of nobody, 0 for any sensible game."""
        return self.value(())


def check_game(game: object) -> None:
    """Refuse what is no game."""
    if not isinstance(game, Game):
        raise GameError(
            f"{shown(game)} is not a game; give an InformationGain, ValidationGain or TableGame"
        )


def values_of_masks(game: Game, task: tuple[int, int]) -> FloatArray:
    """The values of the coalitions with the bitmasks from the first up to the second."""
    return np.array([game.value_of_mask(mask) for mask in range(*task)])


class TableGame(Game):
    """A game given by its table of values.

    Paper: Example 1 is `TableGame([0, 7, 5, 8])`: nobody, party 0, party 1, both.

    Args:
        values: [2**n]; the index is the coalition's bitmask, bit i is party i.
        names: The parties' names; by default their indices.

    >>> TableGame([0, 7, 5, 8]).value({0, 1})
    8.0
    """

    def __init__(self, values: Any, names: Sequence[str] | None = None) -> None:
        try:
            table = read_only(values)
        except (TypeError, ValueError, OverflowError):
            raise GameError("a game's table of values must be made of numbers") from None
        if table.ndim != 1 or len(table) < 2 or len(table) & (len(table) - 1):
            raise GameError(
                f"a game's table has shape {table.shape}, needs one value for each of 2**n"
                " coalitions: 2, 4, 8, .."
            )
        bad = np.flatnonzero(~np.isfinite(table))
        if len(bad):
            raise GameError(
                f"a game's table has {table[bad[0]]} at index {bad[0]}; every coalition needs a"
                " finite value"
            )
        n = len(table).bit_length() - 1
        self.names = tuple(str(i) for i in range(n)) if names is None else tuple(names)
        if not all(isinstance(name, str) and name.strip() for name in self.names):
            raise GameError(f"names {shown(self.names)} must be texts that are not empty")
        if len(self.names) != n:
            raise GameError(
                f"a table of {len(table)} values is for {n} parties, but there are"
                f" {len(self.names)} names"
            )
        check_names(self.names)
        self._table = table

    def value_of_mask(self, mask: int) -> float:
        """v_C, looked up."""
        return float(self._table[mask])

    def __repr__(self) -> str:
        return f"TableGame({self.n} parties, v_N = {self.total:.6g})"
