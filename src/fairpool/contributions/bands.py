"""Coalitions sampled by their sizes: the sizes in bands, and the sample itself.

The chapter docs/sampling.md says why sizes are the strata, and what bands of them change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.contributions.estimates import Memberships
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Bands:
    """The sizes 2 .. n-2 in bands of consecutive ones: each size by itself where there are few.

    Attributes:
        starts: The first size of each band, and n-1 [bands + 1].
    """

    starts: NDArray[np.int64]

    @classmethod
    def of(cls, n: int, most: int) -> "Bands":
        """At most about `most` bands, the wider the larger the sizes.

        Values of small coalitions differ most.
        """
        if n - 3 <= most:
            return cls(np.arange(2, max(n, 3)))
        starts = np.geomspace(2, n - 2, most).round().astype(np.int64)
        # Rounding makes some of the smallest starts equal: they are one band.
        return cls(np.unique(np.append(starts, n - 1)))

    @property
    def count(self) -> int:
        """How many bands there are."""
        return len(self.starts) - 1

    @property
    def widths(self) -> NDArray[np.int64]:
        """How many sizes each band has [bands]."""
        return np.diff(self.starts)

    @property
    def first_sizes(self) -> NDArray[np.int64]:
        """The smallest size of each band [bands]."""
        return self.starts[:-1]

    def sizes_in(self, band: int) -> NDArray[np.int64]:
        """The sizes of one band."""
        return np.arange(self.starts[band], self.starts[band + 1])

    def of_sizes(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The band that each size is in."""
        return np.searchsorted(self.starts, sizes, side="right") - 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Sample:
    """Coalitions that were drawn, and their values.

    Attributes:
        memberships: The coalitions [N, n].
        values: v of each [N].
    """

    memberships: Memberships
    values: FloatArray

    @classmethod
    def empty(cls, n: int) -> "Sample":
        """Before the first round."""
        return cls(memberships=np.empty((0, n), dtype=bool), values=np.empty(0))

    def extended(
        self, memberships: Sequence[Memberships], values: Sequence[FloatArray]
    ) -> "Sample":
        """With further coalitions, given in parts."""
        return Sample(
            memberships=np.concatenate([self.memberships, *memberships]),
            values=np.concatenate([self.values, *values]),
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n(self) -> int:
        """The number of parties."""
        return int(self.memberships.shape[1])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many parties each coalition has [N]."""
        return np.asarray(self.memberships.sum(axis=1))

    @property
    def shares(self) -> FloatArray:
        """The share of all parties that each coalition has, which is any party's chance [N]."""
        return np.asarray(self.sizes / self.n)
