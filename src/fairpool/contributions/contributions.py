"""What every way to measure contributions returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.tables.arrays import FloatArray, as_numbers, read_only


@dataclass(frozen=True, eq=False)
class Contributions:
    """Each party's contribution phi_i.

    Attributes:
        values: phi [n].
        standard_errors: [n]; 0 where phi is exact.
        method: "exact" or "sampled" (Shapley values), "banzhaf", "banzhaf sampled", "standalone",
            "leave one out" or "given".
        evaluations: How many coalitions were valued to sample phi (0 where phi is exact).
    """

    values: FloatArray
    standard_errors: FloatArray
    method: str
    evaluations: int = 0

    @property
    def exact(self) -> bool:
        """Whether there is no sampling error."""
        return self.evaluations == 0

    def __repr__(self) -> str:
        errors = ""
        if not self.exact:
            # Two digits of each, however small: rounded to decimals, they would read as none.
            errors = f" +- [{' '.join(f'{error:.2g}' for error in self.standard_errors)}]"
        return f"Contributions({np.array2string(self.values, precision=6)}{errors}, {self.method})"


def exactly(values: Any, method: str) -> Contributions:
    """Contributions without sampling error."""
    values = read_only(values)
    return Contributions(values, read_only(np.zeros(len(values))), method)


def as_contributions(phi: "Contributions | Any", n: int) -> Contributions:
    """Contributions of n parties, from themselves or from plain numbers [n] (taken as exact)."""
    contributions = (
        phi
        if isinstance(phi, Contributions)
        else exactly(as_numbers(phi, n, "contributions"), "given")
    )
    as_numbers(contributions.values, n, "contributions")
    return contributions
