"""A column of numbers: one feature, standardised, or the logarithm's."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fairpool.columns.filling import (
    indicator,
    median_of,
    refuse_lone_indicator,
    refuse_unknown,
    scaled_by,
    stored_flag,
    stored_number,
    with_gaps,
)
from fairpool.columns.kind import ColumnKind, Declared, SeenColumn
from fairpool.columns.rules import (
    NO_RULES,
    Rules,
    as_number,
    as_numbers,
    checked_fill,
    unusable_numbers,
)
from fairpool.stored import text
from fairpool.tables.arrays import FloatArray
from fairpool.tables.columns import standardise_numbers

KEYS = {
    "name",
    "mean",
    "scale",
    "fill",
    "indicator",
    "tokens",
    "range",
    "outside",
    "transform",
}
"""What a reward file may say of it."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, standardised as (x - mean) / scale.

    Attributes:
        name: The column.
        mean: Of the values, or of their logarithms.
        scale: Their standard deviation.
        rules: What is done to values first.
        fill: What a missing value is taken to be, where it is imputed.
        indicates: Whether a second feature is 1 where the value is missing.
    """

    name: str
    mean: float
    scale: float
    _: KW_ONLY
    rules: Rules = NO_RULES
    fill: float | None = None
    indicates: bool = False

    kind = "number"

    @property
    def features(self) -> tuple[str, ...]:
        """The column itself, and whether a value is missing."""
        if self.indicates:
            return (self.name, indicator(self.name))
        return (self.name,)

    @property
    def filling(self) -> str:
        """What a missing value is taken to be."""
        return "" if self.fill is None else as_number(self.fill)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [1 or 2, m]."""
        values = as_numbers(column)
        if self.indicates:
            out[1] = np.isnan(values)
        if self.fill is not None:
            values = np.where(np.isnan(values), self.fill, values)
        standardise_numbers(self.rules.transformed(values), self.mean, self.scale, out=out[0])

    def unusable(self, column: pa.ChunkedArray) -> dict[int, str]:
        """Rows whose value is missing, infinite, out of range, or has no logarithm."""
        return unusable_numbers(self.name, as_numbers(column), self.rules)

    def made_up(self, share: FloatArray) -> pa.Array | None:
        """Numbers over the declared range, evenly; their logarithms, where these are seen."""
        bounds = self.rules.bounds
        if bounds is None:
            return None
        values = bounds.at(share)
        if self.rules.log:
            values = np.clip(np.exp(bounds.logarithms.at(share)), *bounds)
        return with_gaps(values, share) if self.indicates else pa.array(values)

    def entries(self) -> dict[str, Any]:
        """Name, mean and scale, and what is not as by default."""
        entries = {"name": self.name, "mean": self.mean, "scale": self.scale}
        if self.fill is not None:
            entries["fill"] = self.fill
        if self.indicates:
            entries["indicator"] = True
        return entries | self.rules.entries()

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> "NumberColumn":
        """The column with these entries, all of them checked."""
        refuse_unknown(entries, KEYS)
        refuse_lone_indicator(entries)
        rules = Rules.of_entries(entries)
        fill = None
        if "fill" in entries:
            fill = checked_fill(stored_number(entries, "fill"), rules)
        return cls(
            name=text(entries["name"]),
            mean=stored_number(entries, "mean"),
            scale=stored_number(entries, "scale"),
            rules=rules,
            fill=fill,
            indicates=stored_flag(entries, "indicator"),
        )

    @classmethod
    def fixed(cls, declared: Declared, seen: SeenColumn) -> "NumberColumn":
        """The column with the scaling of its range, or that of public data, or of everybody's."""
        scaled = scaled_by(declared, seen)
        return cls(
            name=declared.name,
            mean=scaled.mean,
            scale=scaled.scale or 1.0,
            rules=declared.rules,
            fill=median_of(declared, seen, scaled),
            indicates=declared.rules.imputes and seen.lacks_values,
        )


NUMBER = ColumnKind(
    name=NumberColumn.kind,
    read_as="number",
    fix=NumberColumn.fixed,
    decode=NumberColumn.of_entries,
    keys=("range", "outside", "transform"),
)
