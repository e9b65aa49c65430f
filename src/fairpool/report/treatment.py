"""What was done to somebody's table before anything was learned from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
    """

    owner: str
    read: int
    dropped: int = 0
    imputed: Mapping[str, int] = field(default_factory=dict)
    clipped: Mapping[str, int] = field(default_factory=dict)
    converted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    details: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the table was taken as it is."""
        return not self.dropped and not self.details

    def to_dict(self) -> dict[str, Any]:
        """The treatment as plain JSON."""
        return {
            "rows_read": self.read,
            "dropped": self.dropped,
            "imputed": dict(self.imputed),
            "clipped": dict(self.clipped),
            "converted": {name: list(units) for name, units in self.converted.items()},
        }

    def clause(self) -> str:
        """All of it, as it follows the number of rows that are used, to whoever's table it is."""
        if self.is_plain:
            return ", used as they came"
        done = list(self.details)
        if self.dropped:
            rows = f"{self.read:,} were read, and {self.dropped:,} of them left out"
            done.insert(0, f"{rows}, since something is missing in them")
        return f" (done to your table: {'; '.join(done)})"
