"""Rows that stand for those of parties who have sent none: public ones, or made-up ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from fairpool.encoding import TableEncoding
from fairpool.tables.arrays import FloatArray
from fairpool.targets import ClassTarget

BLOCK = 10_000
"""So many rows are made at a time, that any number of them fits into memory."""

Rows = tuple[FloatArray, FloatArray]
"""Inputs X [m, p] and labels y [m], as the model sees them."""


class RowSource(Protocol):
    """Where parties' rows come from that nobody has sent."""

    @property
    def words(self) -> str:
        """Where from, as a sentence."""
        ...  # pragma: no cover

    def drawn(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Iterator[Rows]]:
        """So many rows of each party, block by block, each party's before the next one's.

        Args:
            sizes: How many rows every party has.
            rng: What they are drawn by.
        """
        ...  # pragma: no cover


@dataclass(frozen=True, kw_only=True, eq=False)
class DealtRows:
    """Known rows, dealt out to the parties: none is at two of them, if there are enough.

    Attributes:
        X: Their inputs [m, p].
        y: Their labels [m].
        needed: How many the parties have together.
        kind: What they are: "public", "test" or "made-up".
    """

    X: FloatArray
    y: FloatArray
    needed: int
    kind: str = "public"

    @property
    def words(self) -> str:
        """How they are dealt out."""
        known = len(self.X)
        if self.needed <= known:
            return (
                f"Rows are dealt out of {known} {self.kind} ones; no two parties have the same one."
            )
        return (
            f"Rows are drawn from {known} {self.kind} ones, fewer than the {self.needed} of all"
            " parties: the same row comes several times, and such a row is not counted as a copy."
        )

    def drawn(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Iterator[Rows]]:
        """These rows, in random order; drawn with replacement where there are too few."""
        if self.needed <= len(self.X):
            places = rng.permutation(len(self.X))[: self.needed]
        else:
            places = rng.integers(len(self.X), size=self.needed)
        for own in np.split(places, np.cumsum(sizes)[:-1]):
            yield ((self.X[some], self.y[some]) for some in np.split(own, _cuts(len(own))))


@dataclass(frozen=True, kw_only=True, eq=False)
class DeclaredRows:
    """Rows made up anywhere within declared ranges and levels, each column for itself.

    Attributes:
        encoding: What was declared, and how it becomes the model's inputs.
    """

    encoding: TableEncoding

    words = (
        "Rows are made up, evenly over the declared ranges and levels, each column for itself. Real"
        " rows lie otherwise, and columns go with each other; rows like theirs, as [public] or"
        " [test] data, would show more of that."
    )

    def drawn(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Iterator[Rows]]:
        """Made-up rows, block by block."""
        for size in sizes:
            ends = [*_cuts(size), size]
            starts = [0, *_cuts(size)]
            yield (self._block(end - start, rng) for start, end in zip(starts, ends, strict=True))

    def _block(self, rows: int, rng: np.random.Generator) -> Rows:
        shares = rng.random((rows, len(self.encoding.columns)))
        table = {}
        for column, share in zip(self.encoding.columns, shares.T, strict=True):
            table[column.name] = column.made_up(share)
        X = self.encoding.encode(pa.table(table))
        return X, _labels(self.encoding, rows, rng)


def _labels(encoding: TableEncoding, rows: int, rng: np.random.Generator) -> FloatArray:
    """Each class as often as all others; of numbers, no value depends on what they are."""
    target = encoding.target
    if isinstance(target, ClassTarget):
        return rng.integers(len(target.levels), size=rows).astype(np.float64)
    return np.zeros(rows)


def _cuts(rows: int) -> list[int]:
    """Where blocks end, but for the last."""
    return [*range(BLOCK, rows, BLOCK)]


def made_up_source(encoding: TableEncoding, needed: int) -> RowSource:
    """Rows of which nothing is known but what was declared.

    Encoders take long for texts and images, so that of these a fixed number is made up.

    Args:
        encoding: How tables become numbers.
        needed: How many rows all parties have together.
    """
    if not (encoding.free_texts or encoding.images):
        return DeclaredRows(encoding=encoding)
    X = encoding.made_up()
    assert X is not None  # what nobody can make up was refused
    labels = _labels(encoding, len(X), np.random.default_rng(0))
    return DealtRows(X=X, y=labels, needed=needed, kind="made-up")
