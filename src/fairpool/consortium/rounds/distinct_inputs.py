"""How many different inputs rows have: several rows with the same ones hide them no better."""

import numpy as np

from fairpool.tables.arrays import FloatArray


class DistinctInputs:
    """Counts the different inputs of rows that come block by block, until there are enough.

    A batch of ten rows of one patient, measured ten times, is one input to whoever sees the sum
    over it, and comes out as a single row does.

    Args:
        enough: How many different inputs are enough.
    """

    def __init__(self, enough: int) -> None:
        self._enough = enough
        self._seen: set[bytes] = set()

    def see(self, X: FloatArray) -> None:
        """The inputs of some rows [m, p]."""
        if self.are_enough:
            return
        different = np.unique(X + 0.0, axis=0)  # -0.0 is 0.0
        self._seen.update(row.tobytes() for row in different)

    @property
    def count(self) -> int:
        """How many were seen; where there are enough, maybe not all."""
        return len(self._seen)

    @property
    def are_enough(self) -> bool:
        """Whether enough different ones were seen."""
        return len(self._seen) >= self._enough
