"""Several parties' values of one column, seen together: what a party is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from statistics import median

from fairpool.consortium.guessing.places import Quartiles
from fairpool.tables.units import Conversion

LIKE = 1.6
"""A spread up to this many times larger or smaller than the others' is like theirs."""


@dataclass(frozen=True)
class Crowd:
    """Where several parties' values lie; at least one party's."""

    places: tuple[Quartiles, ...]

    @classmethod
    def of(cls, places: Sequence[Quartiles]) -> "Crowd":
        """That of some places."""
        return cls(tuple(places))

    def __len__(self) -> int:
        return len(self.places)

    @property
    def low(self) -> float:
        """The least lower quartile."""
        return min(place.low for place in self.places)

    @property
    def high(self) -> float:
        """The largest upper quartile."""
        return max(place.high for place in self.places)

    @property
    def medians(self) -> list[float]:
        """The medians, from the least."""
        return sorted(place.median for place in self.places)

    @property
    def spreads(self) -> list[float]:
        """The spreads, from the least."""
        return sorted(place.spread for place in self.places)

    @property
    def apart(self) -> float:
        """How far the medians lie apart."""
        medians = self.medians
        return medians[-1] - medians[0]

    @property
    def typical_spread(self) -> float:
        """The median of the spreads."""
        return median(self.spreads)

    def in_logarithms(self) -> "Crowd":
        """The same on a logarithmic scale; all must be positive."""
        return Crowd.of([in_logarithms(place) for place in self.places])

    def spreads_like(self, place: Quartiles) -> bool:
        """Whether a party spreads about as these do."""
        spreads = self.spreads
        return spreads[0] / LIKE <= place.spread <= spreads[-1] * LIKE

    def is_reached_by(self, own: Quartiles, change: Conversion) -> bool:
        """Whether a conversion brings a party to where these are, with a spread like theirs."""
        converted = own.converted(change.factor, change.offset)
        medians = self.medians
        margin = self.typical_spread / 2
        is_there = medians[0] - margin <= converted.median <= medians[-1] + margin
        return is_there and self.spreads_like(converted)


def in_logarithms(place: Quartiles) -> Quartiles:
    """Where values lie on a logarithmic scale; all must be positive."""
    return Quartiles(
        low=log(place.low), median=log(place.median), high=log(place.high), count=place.count
    )
