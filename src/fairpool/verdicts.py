"""What a check answers: a condition holds, or it fails and why, or it cannot be decided and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import SupportsIndex, overload

from fairpool.markup import html_table

ANSWERS = {True: "holds", False: "fails", None: "undecided"}
"""A verdict's answer as one word."""


@dataclass(frozen=True, kw_only=True)
class Witness:
    """What shows that a condition fails.

    Attributes:
        parties: The parties concerned.
        coalition: The coalition concerned.
        numbers: What was compared, by name.
    """

    parties: tuple[str, ...] = ()
    coalition: tuple[str, ...] | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer to one condition.

    Attributes:
        condition: "R1".."R7", "F1".."F4", "stable", or a property's name.
        holds: True, False, or None when it cannot be decided.
        why: One sentence in plain words.
        witness: What shows that it fails (None unless `holds` is False).
    """

    condition: str
    holds: bool | None
    why: str
    witness: Witness | None = None

    def __str__(self) -> str:
        return f"{self.condition}: {ANSWERS[self.holds]} -- {self.why}"


class Verdicts(tuple[Verdict, ...]):
    """Several verdicts in order; each can also be had by its condition's name: `verdicts["R4"]`."""

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Verdict: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Verdict, ...]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> Verdict | tuple[Verdict, ...]:
        """By position, or by the condition's name."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for verdict in self:
            if verdict.condition == key:
                return verdict
        raise KeyError(f"{key!r}; there are {', '.join(v.condition for v in self)}")

    def _repr_html_(self) -> str:
        rows = [(one.condition, ANSWERS[one.holds], one.why) for one in self]
        return html_table(("condition", "answer", "why"), rows)

    def __str__(self) -> str:
        return "\n".join(map(str, self))
