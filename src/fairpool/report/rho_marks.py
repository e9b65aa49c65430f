"""Marks along rho: the chosen one, rho_s and rho_r, each with a label above the chart.

They may be anywhere and as near to each other as they like. No label is written over another one,
and no line goes through one, on a screen as narrow as a phone's either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import altair as alt

from fairpool.outcome import Outcome

NARROWEST = 230
"""Pixels from rho = 0 to rho = 1 on a phone."""

LETTER = 7.0
"""Pixels of a letter at most, and .."""

GAP = 10
""".. between two labels."""

LINE = 15
"""Pixels from one line of labels to the next."""

BESIDE = 0.15
"""How far a label may reach beyond either end, as a share of the axis."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A mark, and where its label is.

    Attributes:
        rho: Where it is.
        label: What is written.
        line: The line of labels, counted from the chart upwards.
        is_left: Whether the label is to the left of the mark.
    """

    rho: float
    label: str
    line: int
    is_left: bool

    @property
    def reach(self) -> tuple[float, float]:
        """From where to where the label is, on the narrowest screen."""
        width = (LETTER * len(self.label) + GAP) / NARROWEST
        return (self.rho - width, self.rho) if self.is_left else (self.rho, self.rho + width)


def marks_of(result: Outcome) -> tuple[Mark, ...]:
    """The chosen rho, rho_s and rho_r, as far as they are on the axis; equal ones share a label."""
    named = {
        "chosen": result.rho,
        "ρ_s": result.scheme.rho_stable,
        "ρ_r": result.scheme.rho_rational,
    }
    labels_at: dict[float, list[str]] = {}
    for label, rho in named.items():
        if 0 <= rho <= 1:
            labels_at.setdefault(round(rho, 3), []).append(label)
    return placed({rho: " = ".join(labels) for rho, labels in labels_at.items()})


def placed(labels: dict[float, str]) -> tuple[Mark, ...]:
    """A place for each of a few labels, by rho: the best of all ways to place them.

    >>> [(mark.line, mark.is_left) for mark in placed({0.30: "ρ_s", 0.31: "ρ_r", 0.9: "chosen"})]
    [(0, True), (0, False), (0, True)]
    """
    places = list(product(range(len(labels)), (True, False)))
    ways = []
    for way in product(places, repeat=len(labels)):
        marks = []
        for (rho, label), (line, is_left) in zip(labels.items(), way, strict=True):
            marks.append(Mark(rho=rho, label=label, line=line, is_left=is_left))
        ways.append(tuple(marks))
    return min(ways, key=_faults)


def _faults(marks: Sequence[Mark]) -> tuple[int, float, int, int]:
    """What is wrong with a way to place labels, the worst first."""
    met = 0
    for one, other in permutations(marks, 2):
        low, high = one.reach
        from_, to = other.reach
        if one.line == other.line:
            met += low < to and from_ < high
        elif other.line > one.line:  # its line goes past this label
            met += low < other.rho < high
    beyond = 0.0
    for mark in marks:
        low, high = mark.reach
        beyond += max(0.0, -BESIDE - low) + max(0.0, high - 1 - BESIDE)
    return met, beyond, sum(mark.line for mark in marks), sum(not mark.is_left for mark in marks)


def marks_chart(marks: Sequence[Mark], x: alt.X, *, height: int, ink: str) -> list[Any]:
    """The layers of a chart along rho that show them.

    Args:
        marks: What to show.
        x: The axis, of a field `rho`.
        height: Of the chart, in pixels.
        ink: The colour of labels.
    """
    layers: list[Any] = []
    for mark in marks:
        base = alt.Chart(alt.InlineData(values=[{"rho": mark.rho, "label": mark.label}]))
        top = -LINE * (mark.line + 1)
        rule = base.mark_rule(color="#6b7280", strokeDash=[3, 3]).encode(
            x=x, y=alt.value(top), y2=alt.value(height)
        )
        side: dict[str, Any] = {"align": "left", "dx": 4}
        if mark.is_left:
            side = {"align": "right", "dx": -4}
        text = base.mark_text(baseline="middle", color=ink, fontSize=12, **side).encode(
            x=x, y=alt.value(top + LINE / 2), text="label:N"
        )
        layers += [rule, text]
    return layers
