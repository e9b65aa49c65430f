"""How a table becomes X and y, fixed before any data is valued."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fairpool.columns import (
    COLUMNS,
    CategoryColumn,
    Column,
    DateColumn,
    Declared,
    NumberColumn,
    Rules,
    SeenColumn,
    SeenValues,
)
from fairpool.columns.encoded import with_encoders
from fairpool.columns.rules import NO_RULES, as_numbers
from fairpool.errors import DataError, shown
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray, as_table
from fairpool.tables.columns import level_counts
from fairpool.tables.days import days_of
from fairpool.tables.made_up import ROWS, evenly_spread
from fairpool.tables.moments import Moments
from fairpool.targets import Labels, NumberLabels, SeenLabels, Target
from fairpool.targets.classes import ClassLabels

REASON = "reason"
"""The column of predictions that says why a row has none."""


@dataclass(frozen=True)
class TableEncoding:
    """How a table becomes X and y, fixed before any data is valued and the same for every party.

    Attributes:
        columns: The input columns, in order.
        target: What is predicted.
        ids: Columns that name a row: they are kept through predictions, and never learned from.
    """

    columns: tuple[Column, ...]
    target: Target
    ids: tuple[str, ...] = ()

    @classmethod
    def of_table(cls, table: Any, target: str, *, ids: Sequence[str] = ()) -> "TableEncoding":
        """The encoding that a table fixes which everybody may know, such as public data.

        Numbers are standardised by the table's own mean and deviation; texts and truth values are
        categories, of the table's own levels; dates are years and seasons. A target of numbers is
        standardised, one of texts has the table's own classes. Give no party's table: what is
        learned of it goes into every party's reward.

        Args:
            table: Any that speaks Arrow.
            target: The column with the labels.
            ids: Columns that name a row, which are never learned from.
        """
        table = as_table(table, "the table")
        for name in (target, *ids):
            if name not in table.column_names:
                raise DataError(f"the table has no column {shown(name)}")
        inputs = [name for name in table.column_names if name not in (target, *ids)]
        if not inputs:
            raise DataError(f"the table has no column besides {shown(target)}; there is no input")
        columns = tuple(_column_fixed_by(table[name], name) for name in inputs)
        return cls(columns, _target_fixed_by(table[target], target), tuple(ids))

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the model's inputs [p]."""
        names: list[str] = []
        for column in self.columns:
            names.extend(column.features)
        return tuple(names)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The input columns that come as numbers; dates do, as days."""
        return self._read_as("number", "date")

    @property
    def dates(self) -> tuple[str, ...]:
        """Those of them that are dates in the tables."""
        return self._read_as("date")

    @property
    def categories(self) -> tuple[str, ...]:
        """The input columns to be read as text; images are, by their names."""
        return self._read_as("text", "image")

    @property
    def images(self) -> tuple[str, ...]:
        """Those of them that are images."""
        return self._read_as("image")

    @property
    def free_texts(self) -> tuple[str, ...]:
        """Those of them whose texts may be anything."""
        return tuple(c.name for c in self.columns if COLUMNS[c.kind].is_free_text)

    def with_encoders(self, place: Path | None) -> "TableEncoding":
        """The same, knowing where the encoders of its texts and images are.

        Args:
            place: Where to look for them: see `fairpool.encoders.find_encoder`; None: nowhere.
        """
        return replace(self, columns=with_encoders(self.columns, place))

    def _read_as(self, *types: str) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns if COLUMNS[c.kind].read_as in types)

    @property
    def labelled_numbers(self) -> tuple[str, ...]:
        """The columns to be read as numbers where labels are needed, too."""
        return with_target(self.numbers, self.target, pa.float64())

    @property
    def labelled_texts(self) -> tuple[str, ...]:
        """The columns to be read as text where labels are needed, too."""
        return with_target(self.categories, self.target, pa.string())

    @property
    def rules(self) -> dict[str, Rules]:
        """What is done to the values of each column first, the target's among them."""
        rules = {column.name: column.rules for column in self.columns}
        rules[self.target.name] = self.target.rules
        return rules

    @property
    def imputed(self) -> frozenset[str]:
        """The input columns whose missing values are imputed."""
        return frozenset(column.name for column in self.columns if column.rules.imputes)

    @property
    def scaling_is_declared(self) -> bool:
        """Whether the scaling of all columns, and of the target, comes from declared ranges."""
        scaled = [*self.numbers]
        if self.target.type == pa.float64():
            scaled.append(self.target.name)
        rules = self.rules
        return all(rules[name].bounds is not None for name in scaled)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The input columns without a range or levels, so that only rows tell what they may be."""
        some = np.array([0.5])
        names = []
        for column in self.columns:
            levels_are_learned = isinstance(column, CategoryColumn) and column.others
            if levels_are_learned or column.made_up(some) is None:
                names.append(column.name)
        return tuple(names)

    def encode(self, table: pa.Table) -> FloatArray:
        """The model's inputs X [m, p], each column contiguous as it is in the table."""
        names = {*table.column_names}
        for column in self.columns:
            if column.name not in names:
                needed = ", ".join(c.name for c in self.columns)
                raise DataError(
                    f'the table has no column "{column.name}"; the model needs {needed}'
                )
        # Each row of the block is one feature, so that a feature's numbers lie side by side.
        block = np.empty((len(self.features), table.num_rows))
        start = 0
        for column in self.columns:
            end = start + len(column.features)
            column.encode(table[column.name], block[start:end])
            start = end
        return block.T

    def with_days(self, table: pa.Table) -> pa.Table:
        """A table with days since 1970-01-01 in place of dates, typed or as texts."""
        names = table.column_names
        for name in self.dates:
            if name in names:
                table = table.set_column(names.index(name), name, days_of(table[name], name))
        return table

    def unusable(self, table: pa.Table) -> dict[int, dict[str, str]]:
        """The rows (from 0) for which nothing can be predicted, and why, column by column."""
        reasons: dict[int, dict[str, str]] = {}
        for column in self.columns:
            for row, reason in column.unusable(table[column.name]).items():
                reasons.setdefault(row, {})[column.name] = reason
        return reasons

    def unknown_levels(self, table: pa.Table) -> list[Note]:
        """One note per column with levels that count as none of the known ones.

        Missing values are refused, and numbers that cannot be used.
        """
        notes = []
        for column in self.columns:
            values = table[column.name]
            if not isinstance(column, CategoryColumn):
                _refuse_unusable(column, values)
                continue
            if values.null_count and not column.rules.imputes:
                raise DataError(
                    f'column "{column.name}" lacks {values.null_count} value(s); fill them in'
                )
            counts = column.unknown(level_counts(values))
            if counts:
                row = pc.index(values.cast(pa.string()), next(iter(counts))).as_py()
                where = f'column "{column.name}", row {row} (counting from 0)'
                text = column.unknown_text(counts, sum(counts.values()))
                notes.append(Note(code="unknown level", text=f"{where}: {text}"))
        return notes

    def encode_target(self, table: pa.Table) -> FloatArray:
        """The labels y [m], as the model sees them."""
        return self.target.encode(table[self.target.name])

    def made_up(self, rows: int = ROWS) -> FloatArray | None:
        """Inputs [rows, p] that anybody could make up who knows what columns may be.

        They are spread evenly over declared ranges and levels; None if a column has none.
        """
        shares = evenly_spread(len(self.columns), rows)
        table = {}
        for column, share in zip(self.columns, shares.T, strict=True):
            values = column.made_up(share)
            if values is None:
                return None
            table[column.name] = values
        return self.encode(pa.table(table))


def _column_fixed_by(values: pa.ChunkedArray, name: str) -> Column:
    """A column whose scaling, or whose levels, are those of some values."""
    kind = DateColumn.kind
    if _is_number(values.type):
        kind = NumberColumn.kind
    elif _is_text(values.type):
        kind = CategoryColumn.kind
    elif not pa.types.is_temporal(values.type) or pa.types.is_time(values.type):
        raise DataError(
            f"column {shown(name)} has type {values.type}; give numbers, texts or dates, or leave"
            " it out"
        )
    numbers = np.full(0, np.nan)
    levels = {}
    if kind == CategoryColumn.kind:
        levels = level_counts(values)
    else:
        days = days_of(values, name) if kind == DateColumn.kind else values
        numbers = as_numbers(days)
    seen = SeenValues(
        moments=Moments.of(numbers[:, None]),
        sample=numbers[~np.isnan(numbers)],
        levels=levels,
        missing=values.null_count,
    )
    declared = Declared(name=name, rules=NO_RULES)
    return COLUMNS[kind].fix(declared, SeenColumn(parties=(), public=seen))


def _target_fixed_by(values: pa.ChunkedArray, name: str) -> Target:
    """A target whose scaling, or whose classes, are those of some labels."""
    labels: Labels = NumberLabels(name)
    seen = SeenLabels(owner="the table", moments=Moments(), levels={})
    if _is_text(values.type):
        labels = ClassLabels(name=name)
        seen = replace(seen, levels=level_counts(values))
    elif _is_number(values.type):
        seen = replace(seen, moments=Moments.of(as_numbers(values)[:, None]))
    else:
        raise DataError(
            f"the target {shown(name)} has type {values.type}; give numbers, or classes as texts"
        )
    return labels.fix([], seen)


def _is_number(kind: pa.DataType) -> bool:
    is_whole = pa.types.is_integer(kind)
    return bool(is_whole or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_string or pa.types.is_string_view(kind) or pa.types.is_boolean(kind))


def _refuse_unusable(column: Column, values: pa.ChunkedArray) -> None:
    """Refuse values of which nothing can be predicted, naming the first."""
    for row, reason in column.unusable(values).items():
        raise DataError(f"row {row} (counting from 0): {reason}; correct it, or leave the row out")


def without_tokens(table: pa.Table, rules: Mapping[str, Rules]) -> pa.Table:
    """A table with nulls in place of values that stand for missing ones."""
    for place, name in enumerate(table.column_names):
        if name in rules and rules[name].has_tokens:
            table = table.set_column(place, name, rules[name].without_tokens(table[name]))
    return table


def with_target(
    inputs: tuple[str, ...], target: Labels | Target | None, read_as: pa.DataType
) -> tuple[str, ...]:
    """Input columns that are read as a type, and then the target, if that is read so as well."""
    if target is None or target.type != read_as:
        return inputs
    return (*inputs, target.name)
