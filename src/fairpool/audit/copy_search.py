"""The search for near copies: which parties share more cells than chance explains, and in which.

All rows are put into cells (`cells`) by all coordinates, and by all but one; cells are compared
with wider ones (`chance`), grid after grid, from wide to fine, until nothing is shared by chance.
Each step is a sort, so that time grows like m log m.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.cells import GRIDS, CellKeys, Cells, Keys
from fairpool.audit.chance import (
    WIDENINGS,
    dependent,
    fewest_unlikely,
    shares,
    shares_of_labels,
    unlikely,
)
from fairpool.audit.occupied import Occupied, company_of
from fairpool.audit.pooled_rows import Rows
from fairpool.tables.arrays import FloatArray

CLEAN = 0.1
"""Where no more than this share of what agrees may be chance, finer grids tell nothing more."""


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """Two parties, or one, with more cells in common than chance explains.

    Attributes:
        first: A party.
        second: Another one, or the same.
        left_out: The coordinate that need not agree; None: all agree.
        grid: In which cells, 0 being the widest.
        scaling: In which of the scalings.
        cells: How many cells both have, or the one has several rows in.
        by_chance: How many of these chance may explain.
    """

    first: int
    second: int
    left_out: int | None
    grid: int
    scaling: int
    cells: float
    by_chance: float

    @property
    def excess(self) -> float:
        """How many cells chance does not explain."""
        return self.cells - self.by_chance


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """What was found, and what was looked at.

    Attributes:
        found: Of every two parties, and of each alone, the suspicion that most speaks for.
        explained: Parties, or pairs (first < second), with cells in common that chance explains.
        sorted_rows: How many rows were sorted in all, which is the work.
        suspicions: All that were found, of which `found` has the best.
    """

    found: dict[tuple[int, int], Suspicion]
    explained: frozenset[tuple[int, int]]
    sorted_rows: int
    suspicions: tuple[Suspicion, ...] = ()


def search(rows: Rows) -> Search:
    """Look for cells that parties share, or that one has several rows in, more than by chance."""
    hunt = _Hunt(rows)
    for scaling in range(len(rows.scalings)):
        for cells in rows.grids(scaling):
            hunt.follow(cells, scaling)
    found = hunt.best()
    explained = {(int(i), int(j)) for i, j in np.argwhere(np.triu(hunt.explained))}
    return Search(
        found=found,
        explained=frozenset(explained - {*found}),
        sorted_rows=hunt.sorted_rows,
        suspicions=tuple(hunt.suspicions),
    )


@dataclass(eq=False)
class _Hunt:
    """Suspicions, as they come; not frozen, since it collects them and counts its work."""

    rows: Rows
    suspicions: list[Suspicion] = field(default_factory=list)
    repeating: set[int] = field(default_factory=set)
    sorted_rows: int = 0

    def __post_init__(self) -> None:
        self.explained = np.zeros((self.rows.n, self.rows.n), bool)

    def follow(self, cells: Cells, scaling: int) -> None:
        """From wide to fine grids, as long as anything is shared by chance."""
        left_outs: list[int | None] = [None]
        if len(cells.varying) > 2:  # one coordinate that agrees is no copy
            left_outs += cells.varying
        # Rows that share no cell of a grid share none of a finer one: fewer and fewer are left.
        left = dict.fromkeys(left_outs, np.arange(len(self.rows.owner)))
        judged: set[tuple[object, ...]] = set()
        for grid in range(GRIDS):
            around = _Around(cells, grid, scaling)
            for left_out, rows in list(left.items()):
                fine = around.own.without(left_out)
                company = company_of(fine[rows])
                self.sorted_rows += len(rows)
                together = rows[company.rows]
                left[left_out] = together
                # Finer grids do not part values with wide steps between them, as whole numbers.
                signature = left_out, len(rows), company.cells, *around.wider_bits
                if signature not in judged:
                    occupied = self._occupied(fine, together)
                    if self._is_settled(occupied, around, left_out):
                        del left[left_out]
                judged.add(signature)

    def _occupied(self, fine: Keys, together: NDArray[np.intp]) -> Occupied:
        """The cells of all rows, or of those that share cells, if these are too few to be odd."""
        if not len(together):
            return Occupied.of(fine[:0], self.rows.owner[:0], self.rows.n)
        if len(together) < len(fine):
            owner = self.rows.owner[together]
            few = Occupied.of(fine[together], owner, self.rows.n)
            self.sorted_rows += len(together)
            if few.agreeing.max() < fewest_unlikely(self.tests):
                return few
        self.sorted_rows += len(fine)
        return Occupied.of(fine, self.rows.owner, self.rows.n)

    def _is_settled(self, occupied: Occupied, around: "_Around", left_out: int | None) -> bool:
        """Compare cells that agree with chance; whether finer grids tell nothing more."""
        agreeing = occupied.agreeing
        if agreeing.max() < fewest_unlikely(self.tests):
            if left_out is None:
                self.explained &= agreeing == 0
            return not agreeing.any()
        is_odd, by_chance = self._against_chance(occupied, around, left_out)
        if left_out is None:
            self.repeating |= {int(i) for i in np.flatnonzero(np.diag(is_odd))}
            # The finest grid has the say.
            self.explained[agreeing > 0] = (by_chance >= agreeing)[agreeing > 0]
        is_settled = is_odd & (by_chance <= CLEAN * agreeing)
        if is_odd.any():
            collapsed = np.isin(np.arange(self.rows.n), list(self.repeating))
            are_dependent = dependent(occupied.votes(collapsed), tests=self.tests)
            is_odd &= are_dependent | np.eye(self.rows.n, dtype=bool)
        for i, j in np.argwhere(np.triu(is_odd)):
            suspicion = Suspicion(
                first=int(i),
                second=int(j),
                left_out=left_out,
                grid=around.grid,
                scaling=around.scaling,
                cells=float(agreeing[i, j]),
                by_chance=float(by_chance[i, j]),
            )
            self.suspicions.append(suspicion)
        return bool(is_settled[agreeing > 0].all())

    @property
    def tests(self) -> int:
        """How many questions are asked: of every pair, by all coordinates and all but one."""
        n = self.rows.n
        return n * (n + 1) // 2 * (len(self.rows.sketch) + 1) * len(self.rows.scalings)

    def _against_chance(
        self, occupied: Occupied, around: "_Around", left_out: int | None
    ) -> tuple[NDArray[np.bool_], FloatArray]:
        """Whether chance does not explain what agrees, and how much it may explain [n, n]."""
        n = self.rows.n
        agreeing = occupied.agreeing
        is_odd = np.zeros((n, n), bool)
        by_chance = np.full((n, n), np.inf)
        for bits in around.widenings:
            share = shares(*WIDENINGS[bits], n)
            nearly = occupied.nearly_agreeing(around.keys(bits).without(left_out))
            is_odd |= unlikely(agreeing, nearly, share, tests=self.tests)
            by_chance = np.minimum(by_chance, nearly * share / (1 - share))
            self.sorted_rows += len(self.rows.owner)
        if left_out is not None or (by_chance >= agreeing).all():
            return is_odd, by_chance
        for place in around.cells.varying:
            share = shares(*WIDENINGS[3], n)
            if place == len(self.rows.sketch) - 1:
                share = shares_of_labels(around.own.part(place), n)
            nearly = occupied.nearly_agreeing(around.own.without(place))
            is_odd &= unlikely(agreeing, nearly, share, tests=self.tests)
            by_chance = np.maximum(by_chance, nearly * share / (1 - share))
            self.sorted_rows += len(self.rows.owner)
        return is_odd, by_chance

    def best(self) -> dict[tuple[int, int], Suspicion]:
        """Of every pair the suspicion with most cells that chance does not explain."""
        label = len(self.rows.sketch) - 1
        best: dict[tuple[int, int], Suspicion] = {}
        for suspicion in self.suspicions:
            pair = suspicion.first, suspicion.second
            is_within = suspicion.first == suspicion.second
            if is_within and suspicion.left_out not in (None, label):
                continue  # a column that alone differs is natural within a party: time, a dose
            known = best.get(pair)
            if known is None or _weight(suspicion) > _weight(known):
                best[pair] = suspicion
        return best


@dataclass(eq=False)
class _Around:
    """The cells of a grid, and wider ones around them, made when they are asked for."""

    cells: Cells
    grid: int
    scaling: int
    _made: dict[int, CellKeys] = field(default_factory=dict)

    @cached_property
    def own(self) -> CellKeys:
        """The grid's own cells."""
        return self.cells.keys(self.grid)

    @property
    def widenings(self) -> tuple[int, ...]:
        """By how many bits cells are widened.

        Eight times the widest cells are so wide that, of few rows, all lie in few of them.
        """
        return (3, 2) if self.grid == 0 else (3,)

    @property
    def wider_bits(self) -> tuple[int, ...]:
        """How many bits the widest of them lose, per coordinate."""
        return tuple(self.keys(3).bits.tolist())

    def keys(self, bits: int) -> CellKeys:
        """Cells that are wider by so many bits."""
        if bits not in self._made:
            self._made[bits] = self.cells.wider_keys(self.grid, bits)
        return self._made[bits]


def _weight(suspicion: Suspicion) -> float:
    """What speaks for a suspicion: more cells, but all columns rather than all but one."""
    return suspicion.excess * (1.25 if suspicion.left_out is None else 1.0)
