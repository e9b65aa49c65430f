"""What was done to somebody's table before anything was learned from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairpool.parties.rough_counts import roughly

DIGITS = 16
"""So many of a contribution's digest tell it from others to a reader."""


@dataclass(frozen=True, kw_only=True)
class Treatment:
    """What was done to one table; the report has everybody's, a letter that of its own.

    Attributes:
        owner: Whose table it is.
        read: How many rows it has.
        dropped: How many of them were left out, since something is missing in them.
        imputed: How many missing values were filled in, by column.
        clipped: How many values were taken to be the nearer end of a range, by column.
        converted: From which unit to which, by column.
        details: The same and more, a clause for each thing that was done.
        contributions: The digests of the sums that came instead of a table, of which nothing else
            is known.
        epsilons: Of those of them that have noise, by how much one row can change the odds of what
            is seen.
        shown_rows: How many rows are in contributions that have no noise, or too little to hide
            them.
    """

    owner: str
    read: int
    dropped: int = 0
    imputed: Mapping[str, int] = field(default_factory=dict)
    clipped: Mapping[str, int] = field(default_factory=dict)
    converted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    details: tuple[str, ...] = ()
    contributions: tuple[str, ...] = ()
    epsilons: tuple[float, ...] = ()
    shown_rows: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether the table was taken as it is."""
        return not self.dropped and not self.details

    @property
    def is_as_it_came(self) -> bool:
        """Whether it is a table, and not sums over one, and was taken as it is."""
        return self.is_plain and not self.contributions

    def to_dict(self) -> dict[str, Any]:
        """The treatment as plain JSON."""
        return {
            "rows_read": self.read,
            "dropped": self.dropped,
            "imputed": dict(self.imputed),
            "clipped": dict(self.clipped),
            "converted": {name: list(units) for name, units in self.converted.items()},
            "contributions": list(self.contributions),
            "epsilons": list(self.epsilons),
        }

    def noise(self) -> str:
        """How well the noise on contributions hides rows; empty: there is none."""
        if not self.epsilons:
            return ""
        named = ", ".join(f"epsilon {epsilon:g}" for epsilon in self.epsilons)
        if not self.shown_rows:
            return f"with noise that hides every row ({named})"
        noisy = f"{len(self.epsilons)} of {len(self.contributions)} contributions"
        return (
            f"with noise on {noisy} ({named}), which does not hide every row: {self.shown_rows:,}"
            " rows are in sums without noise, or with too little"
        )

    @property
    def read_in_words(self) -> str:
        """How many rows it has; of sums with noise nobody but their party knows."""
        return f"{roughly(bool(self.epsilons))}{self.read:,}"

    def clause(self) -> str:
        """All of it, as it follows the number of rows that are used, to whoever's table it is."""
        if self.contributions:
            named = ", ".join(digest[:DIGITS] for digest in self.contributions)
            many = "contributions" if len(self.contributions) > 1 else "contribution"
            came = f", which stayed with you: sums over them came instead ({many} {named})"
            if not self.epsilons:
                return came
            return f"{came}, {self.noise()}; so your data count for less than without noise"
        if self.is_plain:
            return ", used as they came"
        done = list(self.details)
        if self.dropped:
            rows = f"{self.read:,} were read, and {self.dropped:,} of them left out"
            done.insert(0, f"{rows}, since something is missing in them")
        return f" (done to your table: {'; '.join(done)})"
