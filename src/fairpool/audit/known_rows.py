"""What is remembered of rows, so that they are recognised when they come again, written otherwise.

A sketch (`fairpool.audit.sketches`) tells rows that differ by little, or in one column. A key of
all values with two digits tells rows of which every column was rounded, however coarsely beside
its spread. An id, where rows have one, tells the row itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.sketches import Sketch
from fairpool.tables.arrays import FloatArray

DIGITS = 2
"""Of values in the coarse key: as few as anybody would leave."""

TINIEST = 1e-290
"""Numbers below this are 0, whatever their digits are: a power of 10 would be infinite."""

Keys = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownRows:
    """Rows, as much of them as is remembered.

    Attributes:
        sketch: Their coordinates [k, m], the label's last.
        labels: Their labels, in units of the target [m]; of classes, numbers.
        coarse: A key of all their values with two digits [m].
        names: A key of each row's id [m]; empty: rows have none.
        noise: A key of the noise on each row's label [m].
    """

    sketch: Sketch
    labels: FloatArray
    coarse: Keys
    names: Keys
    noise: Keys

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def nothing(cls, k: int) -> "KnownRows":
        """No rows of k coordinates."""
        none = np.empty(0, np.uint64)
        return cls(
            sketch=np.empty((k, 0), np.float32),
            labels=np.empty(0),
            coarse=none,
            names=none,
            noise=none,
        )

    @classmethod
    def together(cls, several: Sequence["KnownRows"]) -> "KnownRows":
        """All rows of several; ids only where all have them."""
        have_names = all(len(rows.names) == len(rows) for rows in several)
        names = [rows.names for rows in several] if have_names else [np.empty(0, np.uint64)]
        return cls(
            sketch=np.concatenate([rows.sketch for rows in several], axis=1),
            labels=np.concatenate([rows.labels for rows in several]),
            coarse=np.concatenate([rows.coarse for rows in several]),
            names=np.concatenate(names),
            noise=np.concatenate([rows.noise for rows in several]),
        )

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "KnownRows":
        """What `to_arrays` gave."""
        return cls(
            sketch=np.asarray(arrays["sketch"], np.float32),
            labels=np.asarray(arrays["labels"], np.float64),
            coarse=np.asarray(arrays["coarse"], np.uint64),
            names=np.asarray(arrays["names"], np.uint64),
            noise=np.asarray(arrays["noise"], np.uint64),
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name."""
        return {
            "sketch": self.sketch,
            "labels": self.labels,
            "coarse": self.coarse,
            "names": self.names,
            "noise": self.noise,
        }

    def some(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "KnownRows":
        """Some of them."""
        return KnownRows(
            sketch=self.sketch[:, rows],
            labels=self.labels[rows],
            coarse=self.coarse[rows],
            names=self.names[rows] if len(self.names) else self.names,
            noise=self.noise[rows],
        )


def with_few_digits(values: FloatArray) -> FloatArray:
    """Numbers with two significant digits.

    >>> with_few_digits(np.array([12.34, 0.0, -98765.0])).tolist()
    [12.0, 0.0, -99000.0]
    """
    size = np.maximum(np.abs(values), TINIEST)
    power = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
    return np.asarray(np.round(values * power) / power) + 0.0
