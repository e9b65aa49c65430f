"""What a kind of column is: how it is read, fixed by what was seen, and stored in reward files.

To add a kind, write a file beside this one that ends with a `ColumnKind`, and add a line to
`COLUMNS` in `fairpool.columns`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.columns.column import Column
from fairpool.columns.rules import Rules
from fairpool.encoders import OpenEncoder
from fairpool.tables.arrays import FloatArray
from fairpool.tables.moments import Moments


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What the configuration says of a column.

    Attributes:
        name: The column.
        rules: What is done to its values.
        levels: Of a category, all that there are; None: they are learned.
        encoder: Of free text or images, what makes numbers of them.
    """

    name: str
    rules: Rules
    levels: tuple[str, ...] | None = None
    encoder: OpenEncoder | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SeenValues:
    """What the first look at a source's rows tells of one column.

    Attributes:
        moments: Of what is present, where it is read as numbers; transformed, if that is wanted.
        sample: Some of these numbers [s].
        levels: How often each level occurs, where it is read as text.
        missing: How many values are missing.
    """

    moments: Moments
    sample: FloatArray
    levels: Mapping[str, int]
    missing: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SeenColumn:
    """What was seen of a column at everybody who counts.

    Attributes:
        parties: At each party.
        public: In public data, if there are some: then all that is learned comes from them alone.
    """

    parties: Sequence[SeenValues]
    public: SeenValues | None

    @property
    def learned_from(self) -> Sequence[SeenValues]:
        """Those that encodings are learned from."""
        return self.parties if self.public is None else [self.public]

    @property
    def lacks_values(self) -> bool:
        """Whether somebody of these lacks a value."""
        return any(seen.missing for seen in self.learned_from)

    def median(self) -> float | None:
        """The median of all numbers that are present; None if there are none.

        Every owner's sample counts as much as its values do.
        """
        samples = []
        weights = []
        for seen in self.learned_from:
            if len(seen.sample) and seen.moments.total:
                samples.append(seen.sample)
                share = seen.moments.total / len(seen.sample)
                weights.append(np.full(len(seen.sample), share))
        if not samples:
            return None
        values = np.concatenate(samples)
        order = np.argsort(values, kind="stable")
        below = np.cumsum(np.concatenate(weights)[order])
        middle = int(np.searchsorted(below, 0.5 * below[-1]))
        return float(values[order[middle]])


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnKind:
    """A kind of column, from the configuration to the reward file.

    Attributes:
        name: What collaboration.toml calls it.
        read_as: "number", "text", "date" or "image": what a reading gives, where dates are days and
            images their bytes.
        fix: The column with its encoding; a `ConfigurationError` where nothing can be learned.
        decode: The column with some entries of a reward file, all of them checked.
        keys: What [columns.NAME] may say of it beside its kind, unit, role and missing values.
        is_free_text: Whether its values may be anything: no levels are counted, and none is shown.
    """

    name: str
    read_as: str
    fix: Callable[[Declared, SeenColumn], Column]
    decode: Callable[[dict[str, Any]], Column]
    keys: tuple[str, ...]
    is_free_text: bool = False
