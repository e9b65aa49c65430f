"""Which rewards tell too much of small parties to be written to a file.

A recipient knows its own rows, the model's features and what its file holds. It can solve for the
others' rows where the file has about as many numbers that depend on them as the rows have: the
bounds leave a factor of three. All others are taken to collude, so that every party is looked at by
itself. Above the bounds, a single row is located if its label is far from all others
(`fairpool.realisation.outlying`).
"""

from dataclasses import dataclass, field
from math import ceil

from fairpool.realisation.outlying import MOST, OutlyingRow, View

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
        outlying: Of each other party, the row whose label stands out, by name. Of parties whose
            rows are not known, only sums over them, nobody can say.
        view: What the recipient sees of labels; None if the model has no weights.
    """

    rows: dict[str, int]
    weights: int
    inputs: int
    hidden: bool
    outlying: dict[str, OutlyingRow] = field(default_factory=dict)
    view: View | None = field(default=None, repr=False, compare=False)

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

    @property
    def small(self) -> list[str]:
        """Whose rows are too few."""
        if not self.weights:
            return []
        fewest = self.fewest_rows
        return [name for name, rows in self.rows.items() if rows < fewest]

    def problems(self) -> list[str]:
        """Whose rows could be computed from the file, and what helps."""
        problems = [self._few_rows(name) for name in self.small]
        if self.weights:
            for name, row in self.outlying.items():
                if row.share > MOST:
                    problems.append(_located(name, row))
        return problems

    def _few_rows(self, name: str) -> str:
        covariance = "hidden" if self.hidden else "full"
        help_ = "use fewer weights or inducing points, add rows"
        if not self.hidden:
            help_ = f'use covariance = "hidden", {help_}'
        return (
            f'party "{name}" has {self.rows[name]} distinct row(s); a model of {self.weights}'
            f" weights on {self.inputs} inputs with a {covariance} covariance needs"
            f" {self.fewest_rows} of every party, since from fewer its rows could be computed;"
            f" {help_}, or, if all parties agreed to that, set share_inputs = true"
        )


def _located(name: str, row: OutlyingRow) -> str:
    return (
        f'party "{name}", {row.place}: its label is so far from all others that this row makes up'
        f" {row.share:.0%} of what the model tells of the party's labels, and its inputs could be"
        f" located; at most {MOST:.0%} is allowed; correct or clip the label, leave the row out,"
        " or, if all parties agreed to that, set share_inputs = true"
    )
