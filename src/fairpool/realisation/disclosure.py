"""Which rewards tell too much of small parties to be written to a file.

A recipient knows its own rows, the model's features and what its file holds. It can solve for the
others' rows where the file has about as many numbers that depend on them as the rows have: the
bounds leave a factor of three. All others are taken to collude, so that every party is looked at by
itself.
"""

from dataclasses import dataclass
from math import ceil

FEWEST_ROWS = 10
"""Whatever the model, a party with fewer rows than this tells too much of each."""

SAFETY = 3
"""How many numbers must be hidden for every one that is disclosed."""


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """What a reward file would tell, in numbers.

    Attributes:
        rows: How many distinct inputs each other party has, by name; those without any left out.
        weights: d, of the model; 0 if the file holds rows.
        inputs: p, the number of input columns.
        hidden: Whether the covariance hides the others' inputs.
    """

    rows: dict[str, int]
    weights: int
    inputs: int
    hidden: bool

    @property
    def fewest_rows(self) -> int:
        """How many distinct rows every party needs at least.

        With a hidden covariance, d numbers depend on a party's m (p + 1) inputs and labels. With a
        full one, the d (d + 1) / 2 of the Gram matrix do as well, and depend on m p inputs.
        """
        d, p = self.weights, max(self.inputs, 1)
        if self.hidden:
            return max(FEWEST_ROWS, ceil(SAFETY * d / (p + 1)))
        return max(FEWEST_ROWS, SAFETY * d, ceil(SAFETY * d * (d + 1) / 2 / p))

    def problems(self) -> list[str]:
        """Whose rows could be computed from the file, and what helps."""
        if not self.weights:
            return []
        fewest = self.fewest_rows
        problems = []
        for name, rows in self.rows.items():
            if rows >= fewest:
                continue
            covariance = "hidden" if self.hidden else "full"
            help_ = "use fewer weights or inducing points, add rows"
            if not self.hidden:
                help_ = f'use covariance = "hidden", {help_}'
            problems.append(
                f'party "{name}" has {rows} distinct row(s); a model of {self.weights} weights on'
                f" {self.inputs} inputs with a {covariance} covariance needs {fewest} of every"
                f" party, since from fewer its rows could be computed; {help_}, or, if all parties"
                " agreed to that, set share_inputs = true"
            )
        return problems
