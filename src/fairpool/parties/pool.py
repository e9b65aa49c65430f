"""Sec. 2: the parties' pooled data with one block of rows per party, and who can work together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpool.coalitions import members
from fairpool.errors import DataError, shown
from fairpool.parties.party import Party
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Pool:
    """The aggregated data D_N: all parties' rows, one block per party, in the parties' order.

    Paper: Sec. 2. Each row has a noise variance of its own (App. E.5, heteroscedastic data).
    """

    parties: tuple[Party, ...]
    noise: FloatArray  # [m], each row's noise variance: its party's own, or else the model's

    @classmethod
    def of(cls, parties: Sequence[Party], model_noise: float) -> "Pool":
        """Pool the parties' data, when they can work together."""
        parties = check_parties(parties)
        noise = [
            np.broadcast_to(model_noise if p.noise_variance is None else p.noise_variance, len(p))
            for p in parties
        ]
        return cls(parties, np.concatenate(noise))

    @cached_property
    def X(self) -> FloatArray:
        """All inputs [m, p]."""
        return np.concatenate([p.X for p in self.parties])

    @cached_property
    def y(self) -> FloatArray:
        """All labels [m]."""
        return np.concatenate([p.y for p in self.parties])

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the inputs' columns, if any party's table has them."""
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
        """For each row [m], the index of the party that owns it."""
        return np.repeat(np.arange(len(self.parties)), self.sizes)

    def rows(self, mask: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows [m] belong to a coalition, given as a bitmask."""
        return np.isin(self.owner, members(mask))


def check_names(names: Sequence[str]) -> None:
    """Refuse a collaboration of nobody, and two parties of one name."""
    if not names:
        raise DataError("there are no parties; give at least one")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f'{Counter(names)[twice[0]]} parties are named "{twice[0]}"; names must differ'
        )


def check_parties(parties: Sequence[Party]) -> tuple[Party, ...]:
    """The parties as a tuple, when they can work together: distinct names, the same columns."""
    for party in (parties := tuple(parties)):
        if not isinstance(party, Party):
            raise DataError(f"{shown(party)} is not a Party; wrap each table as Party(name, X, y)")
    check_names([p.name for p in parties])
    first = next((party for party in parties if party.columns), parties[0])
    for party in parties:
        if party.X.shape[1] != first.X.shape[1]:
            raise DataError(
                f'party "{party.name}" has {party.X.shape[1]} columns but party "{first.name}" has'
                f" {first.X.shape[1]}; all parties need the same features in the same order"
            )
        if party.columns and first.columns and party.columns != first.columns:
            here, there = next(
                (a, b) for a, b in zip(party.columns, first.columns, strict=True) if a != b
            )
            raise DataError(
                f'party "{party.name}" has column "{here}" where party "{first.name}" has'
                f' "{there}";'
                " all parties need the same features in the same order"
            )
    return parties
