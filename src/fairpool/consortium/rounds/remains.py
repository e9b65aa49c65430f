"""What is left of parts that take no part any longer, without rows that do so by another name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.kept import Arrays
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.rounds.row_keys import Keys, places
from fairpool.tables.arrays import FloatArray

LOST = 1e-12
"""A difference that is this share of what it is a difference of is rounding."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Left:
    """What is left of a part.

    Attributes:
        arrays: Sums over its rows, or these.
        rows: How many they are.
    """

    arrays: Arrays
    rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Remains:
    """Parts that take no part any longer, without those of their rows that do so in other parts."""

    context: RoundContext
    contributions: tuple[Contribution, ...]

    def of(self, part: str) -> Left | None:
        """What is left of a part; None: nothing is kept of it for this model."""
        arrays = self._arrays(part)
        if arrays is None:
            return None
        if part in self._sums:
            return Left(arrays=arrays, rows=self._sums[part])
        keys = self._keys(part)
        children = [name for name, parent in self._parents().items() if parent == part]
        if "X" in arrays:
            is_left = np.ones(len(keys), dtype=bool)
            for child in children:
                is_left &= places(self._keys(child), keys) < 0
            rows = {name: array[is_left] for name, array in arrays.items()}
            return Left(arrays=rows, rows=int(is_left.sum()))
        rows_left = len(keys)
        of_children = []
        for child in children:
            of_child = self._arrays(child)
            if of_child is not None:  # otherwise its rows count twice: nobody holds less than that
                of_children.append(of_child)
                rows_left -= len(self._keys(child))
        if not of_children:
            return Left(arrays=arrays, rows=rows_left)
        return Left(arrays=remainder(arrays, of_children, rows_left), rows=rows_left)

    @property
    def _sums(self) -> dict[str, int]:
        """Parts that came as sums, of which nothing returns elsewhere, and their rows."""
        records = self.context.history.parts
        return {name: record.rows for name, record in records.items() if record.contribution}

    def _parents(self) -> dict[str, str | None]:
        parents = self.context.history.parents
        for one in self.contributions:
            parents |= one.assignment.batches.parents
        return parents

    def _arrays(self, part: str) -> Arrays | None:
        for one in self.contributions:
            if part in one.arrays:
                return one.arrays[part]
        if self.context.learns_anew:
            return None
        return self.context.kept.arrays(part, self.context.agreement_digest)

    def _keys(self, part: str) -> Keys:
        for one in self.contributions:
            if part in one.assignment.batches.parts:
                return one.assignment.batches.parts[part].keys
        return self.context.kept.keys(part, self.context.history.parts[part].party)


def remainder(parent: Arrays, children: Sequence[Arrays], rows: int) -> Arrays:
    """Sums over the rows of a part that are in none of the parts made of it.

    Labels do not matter here: it says how much is held, and is in no model. Of classes, sums are
    over features alone.

    Args:
        parent: Sums over all of its rows.
        children: Sums over the rows of each part that was made of it.
        rows: How many rows are left.
    """
    left = {name: np.array(parent[name]) for name in ("gram", "moment", "squares")}
    for child in children:
        for name, sums in left.items():
            sums -= child[name]
    if left["gram"].ndim == 2:
        gram = _without_rounding(left["gram"], parent["gram"], rows)
        return {"gram": gram, "moment": np.zeros(len(gram)), "squares": np.zeros(())}
    counts = np.maximum(np.rint(left["squares"]), 0)
    rows_of = counts
    if left["gram"].ndim == 4:  # classes with features of their own: of the class, and of others
        rows_of = np.column_stack([counts, counts.sum() - counts])
    gram = np.zeros_like(left["gram"])
    moment = np.zeros_like(left["moment"])
    for place in np.ndindex(rows_of.shape):
        # Features and a label of 1 in one matrix: what is left of both must be of the same rows.
        count = float(rows_of[place])
        before = _with_labels(parent, place, count)
        M = _without_rounding(_with_labels(left, place, count), before, int(count))
        gram[place] = M[:-1, :-1]
        moment[place] = M[-1, :-1]
    return {"gram": gram, "moment": moment, "squares": counts}


def _with_labels(arrays: Arrays, place: tuple[int, ...], rows: float) -> FloatArray:
    """[A 1]^T [A 1] over the rows of a class."""
    moment = arrays["moment"][place][:, None]
    return np.block([[arrays["gram"][place], moment], [moment.T, np.full((1, 1), rows)]])


def _without_rounding(M: FloatArray, before: FloatArray, rows: int) -> FloatArray:
    """A sum over so many rows, of a difference that is one but for rounding.

    Args:
        M: The difference.
        before: What something was taken off.
        rows: No more eigenvalues than these are positive.
    """
    heard = np.flatnonzero(np.diag(M) > LOST * np.diag(before))
    left = np.zeros_like(M)
    if not rows or not len(heard):
        return left
    root = np.sqrt(np.diag(M)[heard])
    scaled = M[np.ix_(heard, heard)] / np.outer(root, root)
    eigenvalues, vectors = spectrum((scaled + scaled.T) / 2)
    kept = np.maximum(eigenvalues[-rows:], 0.0)
    vectors = vectors[:, -rows:]
    left[np.ix_(heard, heard)] = (vectors * kept) @ vectors.T * np.outer(root, root)
    return left
