"""Sec. 2: the parties' pooled data with one block of rows per party, and who can work together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpool.coalitions import members
from fairpool.errors import DataError, is_printable, shown
from fairpool.parties.party import Party
from fairpool.parties.party_data import PartyData, Statistics
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Pool:
    """The aggregated data D_N: everybody's, in the parties' order.

    Paper: Sec. 2. Each row has a noise variance of its own (App. E.5, heteroscedastic data).

    Attributes:
        parties: What is known of each party.
        model: The model that looks at it.
    """

    parties: tuple[PartyData, ...]
    model: Any

    @classmethod
    def of(cls, parties: Sequence[PartyData], model: Any) -> "Pool":
        """Pool the parties' data, when they can work together."""
        return cls(check_parties(parties), model)

    @cached_property
    def rows(self) -> tuple[Party, ...]:
        """Each party's rows, as far as they can be looked at."""
        return tuple(party.shown_rows for party in self.parties)

    @property
    def shows_all_rows(self) -> bool:
        """Whether every row of every party can be looked at."""
        return all(len(rows) == size for rows, size in zip(self.rows, self.sizes, strict=True))

    @cached_property
    def X(self) -> FloatArray:
        """All inputs that can be looked at [m, p]."""
        return np.concatenate([rows.X for rows in self.rows])

    @cached_property
    def y(self) -> FloatArray:
        """Their labels [m]."""
        return np.concatenate([rows.y for rows in self.rows])

    @cached_property
    def noise(self) -> FloatArray:
        """Their noise variances [m]: each party's own, or else the model's."""
        return np.concatenate([rows.noise_of_rows(self.model.noise_variance) for rows in self.rows])

    @cached_property
    def statistics(self) -> tuple[Statistics, ...]:
        """What the model, one with weights, learns from each party."""
        return tuple(party.statistics(self.model) for party in self.parties)

    @cached_property
    def of_classes(self) -> tuple["Pool", ...]:
        """What each class's latent function sees of it, where the model is a classifier."""
        pools: tuple[Pool, ...] = self.model.class_pools(self)
        return pools

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return self.parties[0].inputs

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the input columns, if any party's table has them."""
        return next((p.columns for p in self.parties if p.columns), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The parties' names, in order."""
        return tuple(p.name for p in self.parties)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The parties' numbers of rows, in order."""
        return tuple(len(p) for p in self.parties)

    @cached_property
    def owner(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """For each row that can be looked at [m], the index of the party that owns it."""
        return np.repeat(np.arange(len(self.parties)), [len(rows) for rows in self.rows])

    def rows_of(self, mask: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows [m] belong to a coalition, given as a bitmask."""
        return np.isin(self.owner, members(mask))


def check_names(names: Sequence[str]) -> None:
    """Refuse a collaboration of nobody, names that cannot be shown, and two parties of one name."""
    if not names:
        raise DataError("there are no parties; give at least one")
    for name in names:
        if not is_printable(name):
            raise DataError(
                f"a party's name is {shown(name)}; control characters and line breaks cannot be"
                " shown"
            )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f'{Counter(names)[twice[0]]} parties are named "{twice[0]}"; names must differ'
        )


def check_parties(parties: Sequence[PartyData]) -> tuple[PartyData, ...]:
    """The parties as a tuple, when they can work together: distinct names, the same columns."""
    parties = tuple(parties)
    for party in parties:
        if not isinstance(party, PartyData):
            raise DataError(f"{shown(party)} is not a Party; wrap each table as Party(name, X, y)")
    check_names([party.name for party in parties])
    first = next((party for party in parties if party.columns), parties[0])
    for party in parties:
        if party.inputs != first.inputs:
            raise DataError(
                f'party "{party.name}" has {party.inputs} columns but party "{first.name}" has'
                f" {first.inputs}; all parties need the same features in the same order"
            )
        if party.columns and first.columns and party.columns != first.columns:
            pairs = zip(party.columns, first.columns, strict=True)
            here, there = next((own, other) for own, other in pairs if own != other)
            raise DataError(
                f'party "{party.name}" has column "{here}" where party "{first.name}" has "{there}"'
                "; all parties need the same features in the same order"
            )
    return parties
