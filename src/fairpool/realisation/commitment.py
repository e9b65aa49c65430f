"""What a model was trained with, committed to without showing it.

A hidden covariance hides the precision that the model was trained with from its recipient. The
operator says beforehand which it is: a salted hash, which tells nothing without the salt, and which
nobody can have made of another one. Whoever computes precision and moment again and is shown the
salt (`fairpool audit`) finds the same hash.

Two machines round differently, and a hash does not forgive the last digit. So numbers are hashed as
whole multiples of a cell, on a grid that is shifted until none of them lies near the border of its
cell: whoever computes them to better than that distance gets the same multiples.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairpool import canonical
from fairpool.models import ClassPosterior, TrainedPosterior, WeightPosterior
from fairpool.tables.arrays import FloatArray

PRECISION_CELL = 2.0**-17
MOMENT_CELL = 2.0**-10
"""Of numbers of the size of one: what differs by more has another hash.

Noise on the moment of a singular Gram matrix is rounded in its eighth digit, so that its cells are
wider.
"""

WIDEST_BORDER = 0.05
"""Of a cell; less where there are many numbers, so that some grid keeps clear of all of them."""

MOST_SHIFTS = 10_000
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it spread evenly over the cell, however many there are."""


@dataclass(frozen=True, kw_only=True)
class Commitment:
    """To precision and moment.

    Attributes:
        digest: The salted hash.
        shift: Which grid keeps clear of the numbers.
    """

    digest: str
    shift: int


class _Numbers(NamedTuple):
    """Numbers, and the size of their cells."""

    values: FloatArray
    cell: float

    def places(self, shift: int) -> FloatArray:
        """Where they lie, in cells of a grid."""
        return self.values / self.cell + (shift * GOLDEN) % 1.0

    def are_clear(self, shift: int) -> bool:
        """Whether none lies near the border of its cell."""
        places = self.places(shift)
        border = min(WIDEST_BORDER, 1 / (4 * self.values.size))
        return bool((np.abs(places - np.rint(places)) > border).all())


def commit(trained: TrainedPosterior, salt: bytes) -> Commitment | None:
    """Commit to what a model was trained with; None where the model has no weights.

    Args:
        trained: The model, with what its covariance hides.
        salt: 32 bytes that nobody else knows.
    """
    numbers = _numbers_of(trained)
    if not numbers:
        return None
    for shift in range(MOST_SHIFTS):
        if all(some.are_clear(shift) for some in numbers):
            return Commitment(digest=_digest(numbers, salt, shift), shift=shift)
    raise AssertionError("no grid keeps clear of the numbers")  # of 10,000, a third of which do


def is_kept(commitment: Commitment, trained: TrainedPosterior, salt: bytes) -> bool:
    """Whether a model was trained with what was committed to."""
    numbers = _numbers_of(trained)
    return bool(numbers) and _digest(numbers, salt, commitment.shift) == commitment.digest


def _digest(numbers: Sequence[_Numbers], salt: bytes, shift: int) -> str:
    sizes = [some.values.size for some in numbers]
    digest = hashlib.sha256(canonical.encoded({"sizes": sizes, "salt": salt.hex(), "shift": shift}))
    for some in numbers:
        digest.update(np.floor(some.places(shift)).astype("<i8").tobytes())
    return digest.hexdigest()


def _numbers_of(trained: TrainedPosterior) -> list[_Numbers]:
    """Precision and moment as numbers of about the size of one, whatever the units are."""
    of_classes: Sequence[TrainedPosterior] = (trained,)
    if isinstance(trained, ClassPosterior):
        of_classes = trained.of_classes
    precisions, moments = [], []
    for of_class in of_classes:
        if not isinstance(of_class, WeightPosterior):
            return []
        L = of_class.factor if of_class.trained_factor is None else of_class.trained_factor
        B = L @ L.T
        deviation = np.sqrt(np.diag(B))
        below = np.tril_indices(len(B), -1)
        precisions += [np.log(deviation), (B / np.outer(deviation, deviation))[below]]
        moments.append(np.arcsinh(B @ of_class.weights / deviation))
    return [
        _Numbers(np.concatenate(precisions), PRECISION_CELL),
        _Numbers(np.concatenate(moments), MOMENT_CELL),
    ]
