"""A column of categories: one 0/1 feature per level."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.columns.column import SHARE_MISSING
from fairpool.columns.filling import (
    indicator,
    is_missing,
    refuse_lone_indicator,
    refuse_unknown,
    stored_flag,
)
from fairpool.columns.kind import ColumnKind, Declared, SeenColumn, SeenValues
from fairpool.columns.rules import NO_RULES, Rules
from fairpool.errors import ConfigurationError, RewardFileError, few, shown
from fairpool.stored import text
from fairpool.tables.arrays import FloatArray
from fairpool.tables.columns import levels_in_words

KEYS = {"name", "levels", "others", "fill", "indicator", "tokens"}
"""What a reward file may say of it."""


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one 0/1 feature per level.

    A level that is not listed is 0 in all of them.

    Attributes:
        name: The column.
        levels: All that are known.
        others: Whether rows with other levels took part in training, as none of these: so it is
            where levels are learned. Where they are declared, another level is a mistake.
        rules: What is done to values first.
        fill: What a missing value is taken to be, where it is imputed.
        indicates: Whether one more feature is 1 where the value is missing.
    """

    name: str
    levels: tuple[str, ...]
    _: KW_ONLY
    others: bool = False
    rules: Rules = NO_RULES
    fill: str | None = None
    indicates: bool = False

    kind = "category"

    @property
    def features(self) -> tuple[str, ...]:
        """The column's levels, and whether a value is missing."""
        names = [f"{self.name}={level}" for level in self.levels]
        if self.indicates:
            names.append(indicator(self.name))
        return tuple(names)

    @property
    def filling(self) -> str:
        """What a missing level is taken to be."""
        return "" if self.fill is None else shown(self.fill)

    def encode(self, column: pa.ChunkedArray, out: FloatArray) -> None:
        """Write the column into the rows of `out` [number of features, m]."""
        if self.indicates:
            out[-1] = is_missing(column)
        texts = column.cast(pa.string())
        if self.fill is not None:
            texts = pc.fill_null(texts, self.fill)
        place = pc.index_in(texts, value_set=pa.array(self.levels, pa.string()))
        place = pc.fill_null(place, -1).to_numpy(zero_copy_only=False)
        # -1, a level that is not listed, equals none of them.
        numbers = np.arange(len(self.levels))[:, None]
        np.equal(np.asarray(place), numbers, out=out[: len(self.levels)])

    def unusable(self, column: pa.ChunkedArray) -> dict[int, str]:
        """Rows whose level is missing or, where all are declared, is none of them."""
        texts = column.cast(pa.string())
        reasons: dict[int, str] = {}
        if not self.rules.imputes:
            for row in np.flatnonzero(is_missing(texts)):
                reasons[int(row)] = f"{self.name} is missing"
        if self.others:
            return reasons
        is_known = pc.is_in(texts, value_set=pa.array(self.levels, pa.string()))
        is_strange = pc.and_(pc.is_valid(texts), pc.invert(is_known)).to_numpy()
        for row in np.flatnonzero(is_strange):
            level = shown(texts[int(row)].as_py())
            reasons[int(row)] = f"{self.name}: {level} is not among the levels that are known"
        return reasons

    def made_up(self, share: FloatArray) -> pa.Array | None:
        """Each level as often as all others: whoever has the file knows the levels."""
        if not self.levels:
            return None
        places = np.minimum((share * len(self.levels)).astype(int), len(self.levels) - 1)
        levels = np.array(self.levels, dtype=object)[places]
        if not self.indicates:
            return pa.array(levels, pa.string())
        # The levels take turns, so that those of one end are not the ones that are missing.
        turns = np.modf(share * len(self.levels))[0]
        return pa.array(levels, pa.string(), mask=turns < SHARE_MISSING)

    def unknown(self, counts: dict[str, int]) -> dict[str, int]:
        """Of the levels that a table has, with their counts, those that are not listed."""
        return {level: count for level, count in counts.items() if level not in self.levels}

    def unknown_text(self, counts: dict[str, int], rows: int) -> str:
        """What becomes of rows with levels that are not listed, in words."""
        first = next(iter(counts))
        which = f" ({levels_in_words(counts)})" if len(counts) > 1 else ""
        return (
            f"{shown(first)} is not among the levels that the model knows"
            f" ({few([shown(level) for level in self.levels])});"
            f" {rows} row(s){which} are treated as none of the known levels"
        )

    def entries(self) -> dict[str, Any]:
        """Name and levels, and what is not as by default."""
        entries: dict[str, Any] = {"name": self.name, "levels": list(self.levels)}
        if self.others:
            entries["others"] = True
        if self.fill is not None:
            entries["fill"] = self.fill
        if self.indicates:
            entries["indicator"] = True
        return entries | self.rules.entries()

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> "CategoryColumn":
        """The column with these entries, all of them checked."""
        refuse_unknown(entries, KEYS)
        refuse_lone_indicator(entries)
        if not isinstance(entries["levels"], list):
            raise RewardFileError(f"{shown(entries['levels'])} are no levels")
        levels = tuple(text(level) for level in entries["levels"])
        if len({*levels}) < len(levels):
            raise RewardFileError("a level is listed twice")
        fill = text(entries["fill"]) if "fill" in entries else None
        if fill is not None and fill not in levels:
            raise RewardFileError(
                f"missing values are taken to be {shown(fill)}, which is no level"
            )
        return cls(
            name=text(entries["name"]),
            levels=levels,
            others=stored_flag(entries, "others"),
            rules=Rules.of_entries(entries, of_numbers=False),
            fill=fill,
            indicates=stored_flag(entries, "indicator"),
        )

    @classmethod
    def fixed(cls, declared: Declared, seen: SeenColumn) -> "CategoryColumn":
        """The column with the levels that are declared, or else learned."""
        levels = declared.levels
        if levels is None:
            levels = learned_levels(seen)
        return cls(
            name=declared.name,
            levels=levels,
            others=declared.levels is None,
            rules=declared.rules,
            fill=_most_frequent(declared, levels, seen.learned_from),
            indicates=declared.rules.imputes and seen.lacks_values,
        )


def learned_levels(seen: SeenColumn) -> tuple[str, ...]:
    """Those of public data alone, or else those that at least two parties have."""
    if seen.public is not None:
        return tuple(sorted(seen.public.levels))
    owners = Counter[str]()
    for values in seen.parties:
        owners.update(values.levels.keys())
    needed = min(2, len(seen.parties))  # a single party has nobody to tell
    return tuple(sorted(level for level, count in owners.items() if count >= needed))


def _most_frequent(
    declared: Declared, levels: Sequence[str], seen: Sequence[SeenValues]
) -> str | None:
    """The level that missing values are taken to be; None: they are not imputed."""
    if not declared.rules.imputes or not levels:
        return None
    counts = Counter[str]()
    for values in seen:
        for level in levels:
            counts[level] += values.levels.get(level, 0)
    most = max(counts.values())
    if not most:
        raise ConfigurationError(
            f'column "{declared.name}": nobody has a level, so that none can be imputed; leave the'
            ' column out, or give it role = "ignore"'
        )
    # Of several, the first in the list: it must not depend on the order of parties.
    return next(level for level in levels if counts[level] == most)


CATEGORY = ColumnKind(
    name=CategoryColumn.kind,
    read_as="text",
    fix=CategoryColumn.fixed,
    decode=CategoryColumn.of_entries,
    keys=("levels",),
)
