"""Numbers of many rows, gathered piece by piece in one place."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)


class Gathered(Generic[Number]):
    """An array that has room for all rows from the beginning, and is filled piece by piece.

    Thousands of pieces that are put together at the end are there twice for a moment, and leave
    holes in memory that nothing else fits in: of five million rows, a quarter of a gibibyte.

    Args:
        expected: How many rows will come, or more; room that is not used takes no memory.
        nothing: What no row at all has [0] or [0, k].
    """

    def __init__(self, expected: int, nothing: NDArray[Number]) -> None:
        self._room = np.empty((expected, *nothing.shape[1:]), nothing.dtype)
        self._count = 0

    def add(self, piece: NDArray[Number]) -> None:
        """What the next rows have [m] or [m, k]."""
        end = self._count + len(piece)
        if end > len(self._room):  # a file has grown meanwhile: whoever reads it will say so
            more = np.empty((end, *self._room.shape[1:]), self._room.dtype)
            self._room = np.concatenate([self._room[: self._count], more])
        self._room[self._count : end] = piece
        self._count = end

    @property
    def rows(self) -> NDArray[Number]:
        """What all rows have that came so far [m] or [m, k]."""
        return self._room[: self._count]
