"""By what a reward moves from one round to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

OWN_DATA = "own_data"
OTHERS_DATA = "others_data"
JOINERS = "joiners"
LEAVERS = "leavers"
TERMS = "terms"

FACTORS = (OWN_DATA, OTHERS_DATA, JOINERS, LEAVERS, TERMS)
"""What may change between two rounds, as one party sees it."""


@dataclass(frozen=True, kw_only=True)
class ByFactor:
    """How much of a party's change is due to each factor, in nats; or the errors of these numbers.

    Attributes:
        own_data: Its own data.
        others_data: The data of others who take part in both rounds.
        joiners: Those who take part in the second round only.
        leavers: Those who took part in the first round only.
        terms: rho as asked, how contributions are measured, and what is kept where labels harm.
    """

    own_data: float = 0.0
    others_data: float = 0.0
    joiners: float = 0.0
    leavers: float = 0.0
    terms: float = 0.0

    @property
    def total(self) -> float:
        """All of them together."""
        return sum(self.by_factor.values())

    @property
    def others(self) -> float:
        """All that is due to other parties, whoever they are: a letter tells no more."""
        return self.others_data + self.joiners + self.leavers

    @property
    def by_factor(self) -> Mapping[str, float]:
        """The same by the factors' names, in their order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
