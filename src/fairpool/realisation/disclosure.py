"""Which rewards tell too much of small parties to be written to a file.

A recipient knows its own rows, the model's features and what its file holds. It can solve for the
others' rows where the file has about as many numbers that depend on them as the rows have: the
bounds leave a factor of three. All others are taken to collude, so that every party is looked at by
itself, and every file that its rows went into counts. Above the bounds, a single row is located if
its label is far from all others (`fairpool.realisation.outlying`). `docs/privacy.md` has the
attacks around the bounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

from fairpool.realisation.outlying import MOST, OutlyingRow, View

FEWEST_ROWS = 10
"""Whatever the model, a party with fewer rows than this tells too much of each."""

SAFETY = 3
"""How many numbers must be hidden for every one that is disclosed."""


def files_together(recipients: int, colluding: int | None) -> int:
    """T, how many reward files that hold data of one party are taken to be in the same hands.

    Args:
        recipients: How many other parties receive a model with its data in it.
        colluding: How many of these may put their files together; None: all.
    """
    return recipients if colluding is None else min(colluding, recipients)


class RareClass(NamedTuple):
    """A class that a party has few rows of.

    Attributes:
        name: What the class is called.
        rows: How many there are.
    """

    name: str
    rows: int


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """What a reward file would tell, in numbers.

    Attributes:
        rows: How many distinct inputs each other party has, by name; those without any left out.
        releases: T of each of these parties, by name: how many files with its data in them,
            this one included, may be held together (`files_together`).
        weights: d, of the model; 0 if the file holds rows.
        inputs: p, the number of input columns.
        hidden: Whether the covariance hides the others' inputs.
        outlying: Of each other party, the row whose label stands out, by name. Of parties whose
            rows are not known, only sums over them, nobody can say.
        views: What the recipient sees of labels, of every class if there are classes; none if the
            model has no weights.
        classes: k, of a classifier, whose weights are those of all classes; 1 of numbers.
        rare: Of each other party, the class it has fewest rows of, and how many, where these are
            some, but fewer than ten; by name.
        tells_labels: Whether the file would tell labels whatever noise is on them: of classes, by a
            full covariance, or by the noise variances of rows.
    """

    rows: Mapping[str, int]
    releases: Mapping[str, int]
    weights: int
    inputs: int
    hidden: bool
    outlying: Mapping[str, OutlyingRow] = field(default_factory=dict)
    views: tuple[View, ...] = field(default=(), repr=False, compare=False)
    classes: int = 1
    rare: Mapping[str, RareClass] = field(default_factory=dict)
    tells_labels: bool = False

    def fewest_rows(self, releases: int) -> int:
        """How many distinct rows a party needs whose data are in so many files held together.

        With a hidden covariance each file's mean is d numbers that depend on the party's m (p + 1)
        inputs and labels. With a full one, the d (d + 1) / 2 of the Gram matrix depend on the m p
        inputs; they are the same in every file. Each mean then adds d numbers, and m labels with
        noise of their own: m >= 3 d is enough for any number of files.

        Of k classes, there are k means and k Gram matrices; the weights here are those of all of
        them, d k.

        Files with full covariances tell all that such with hidden ones do, so that hidden ones
        never need more rows.
        """
        d, p = self.weights, max(self.inputs, 1)
        of_class = d // self.classes
        full = max(FEWEST_ROWS, SAFETY * d, ceil(SAFETY * d * (of_class + 1) / 2 / p))
        if not self.hidden:
            return full
        return min(full, max(FEWEST_ROWS, ceil(SAFETY * d * releases / (p + 1))))

    @property
    def small(self) -> list[str]:
        """Whose rows are too few."""
        if not self.weights:
            return []
        small = []
        for name, rows in self.rows.items():
            if rows < self.fewest_rows(self.releases[name]):
                small.append(name)
        return small

    def problems(self) -> list[str]:
        """Whose rows could be computed from the file, and what helps."""
        problems = [self._few_rows(name) for name in self.small]
        if self.weights:
            for name, row in self.outlying.items():
                if row.share > MOST:
                    problems.append(_located(name, row))
            for name, rare in self.rare.items():
                problems.append(_few_of_class(name, rare))
        return problems

    @property
    def _weights_in_words(self) -> str:
        if self.classes == 1:
            return f"{self.weights} weights"
        return f"{self.weights // self.classes} weights for each of {self.classes} classes"

    def _few_rows(self, name: str) -> str:
        T = self.releases[name]
        covariance = "hidden" if self.hidden else "full"
        files = "a reward file with its data in it is"
        help_ = "add rows"
        most = most_weights(self, self.rows[name], T)
        if most:
            help_ = f"use at most {most // self.classes} weights or inducing points, add rows"
        if T > 1:
            files = f"{T} reward files with its data in them, which may be held together, are each"
        if T > 1 and self.hidden:
            help_ += ", set colluding if fewer parties than these would put their files together"
        if not self.hidden:
            help_ = f'use covariance = "hidden", {help_}'
        return (
            f'party "{name}" has {self.rows[name]} distinct row(s), and needs'
            f" {self.fewest_rows(T)}: {files} a model of {self._weights_in_words} on {self.inputs}"
            f" inputs with a {covariance} covariance, and from fewer its rows could be computed;"
            f" {help_}, or, if all parties agreed to that, set share_inputs = true"
        )


def most_weights(exposure: Exposure, rows: int, releases: int) -> int:
    """How many weights a model may have, at most as many as it has; 0: no model is small enough.

    Args:
        exposure: Of the model.
        rows: How many distinct rows a party has.
        releases: T of that party.
    """
    most = exposure.weights
    while most and replace(exposure, weights=most).fewest_rows(releases) > rows:
        most -= exposure.classes
    return most


def _located(name: str, row: OutlyingRow) -> str:
    return (
        f'party "{name}", {row.place}: its label is so far from all others that this row makes up'
        f" {row.share:.0%} of what the model tells of the party's labels, and its inputs could be"
        f" located; at most {MOST:.0%} is allowed; correct or clip the label, leave the row out,"
        " or, if all parties agreed to that, set share_inputs = true"
    )


def _few_of_class(name: str, rare: RareClass) -> str:
    return (
        f'party "{name}" has {rare.rows} row(s) of class {rare.name}, and needs'
        f" {FEWEST_ROWS}, or none: sums over fewer tell too much of each; merge the class with"
        ' others (in [target], leave it out of levels and say other = "..."), leave these rows out,'
        " or, if all parties agreed to that, set share_inputs = true"
    )
