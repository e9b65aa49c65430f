"""What every way to measure contributions returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairpool.contributions.concept import GIVEN, Concept
from fairpool.markup import html_table
from fairpool.tables.arrays import FloatArray, as_numbers, read_only


@dataclass(frozen=True, eq=False)
class Contributions:
    """Each party's contribution phi_i.

    Attributes:
        values: phi [n].
        standard_errors: [n]; 0 where phi is exact.
        method: "exact" or "sampled" (Shapley values), "banzhaf", "banzhaf sampled", "standalone",
            "leave one out" or "given". For people: code that decides asks the concept.
        evaluations: How many coalitions were valued to sample phi (0 where phi is exact).
        concept: What phi is, and what that guarantees; nothing, of numbers that somebody gave.
    """

    values: FloatArray
    standard_errors: FloatArray
    method: str
    evaluations: int = 0
    concept: Concept = field(default=GIVEN, kw_only=True)

    @property
    def exact(self) -> bool:
        """Whether there is no sampling error."""
        return self.evaluations == 0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """Phi [n], as `np.asarray` asks for it."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def _repr_html_(self) -> str:
        columns = ["party", "phi_i"]
        rows = [[str(i), f"{phi:.6g}"] for i, phi in enumerate(self.values)]
        if not self.exact:
            columns.append("standard error")
            for row, error in zip(rows, self.standard_errors, strict=True):
                row.append(f"{error:.2g}")
        return html_table(columns, rows, caption=f"Contributions ({self.method})")

    def __repr__(self) -> str:
        errors = ""
        if not self.exact:
            # Two digits of each, however small: rounded to decimals, they would read as none.
            digits = " ".join(f"{error:.2g}" for error in self.standard_errors)
            errors = f" +- [{digits}]"
        return f"Contributions({np.array2string(self.values, precision=6)}{errors}, {self.method})"


def exactly(values: Any, method: str, concept: Concept) -> Contributions:
    """Contributions without sampling error.

    Args:
        values: phi [n].
        method: What to call them.
        concept: What they are.
    """
    values = read_only(values)
    no_errors = read_only(np.zeros(len(values)))
    return Contributions(values, no_errors, method, concept=concept)


def as_contributions(phi: Contributions | Any, n: int) -> Contributions:
    """Contributions of n parties, from themselves or from plain numbers [n] (taken as exact)."""
    if isinstance(phi, Contributions):
        as_numbers(phi.values, n, "contributions")
        return phi
    return exactly(as_numbers(phi, n, "contributions"), "given", GIVEN)
