"""Pictures of what labels say: who agrees with whom, and three ways to measure contributions."""

from typing import Any

import altair as alt
import numpy as np

from fairpool.audit import Evidence
from fairpool.report.charts import ACCENT, INK, MOST_DRAWN
from fairpool.tables.arrays import FloatArray

WAYS = {
    "information": "information",
    "evidence": "evidence of labels",
    "validation": "test rows",
}
"""How contributions are measured."""

BAD = "#b3432b"
LONGEST_LABEL = 220


def pairs_chart(evidence: Evidence, names: tuple[str, ...]) -> Any | None:
    """How well each party's data predicts each other's labels, beside what is expected.

    None where there is nothing to compare, or too much to draw.
    """
    if not evidence.expected_pairs.any() or not evidence.exact:
        return None
    rows: list[dict[str, Any]] = []
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i == j:
                continue
            found = float(evidence.pairs[i, j])
            expected = float(evidence.expected_pairs[i, j])
            rows.append(
                {
                    "of": first,
                    "with": second,
                    "difference": found - expected,
                    "label": f"{found:.1f}",
                    "expected": f"({expected:.1f})",
                }
            )
    # Differences are small where they are small beside what is expected.
    apart = float(np.abs(evidence.pairs - evidence.expected_pairs).max())
    largest = max(apart, float(np.abs(evidence.expected_pairs).max()))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "with:N",
            sort=list(names),
            title=None,
            axis=alt.Axis(labelAngle=-30, orient="top", labelLimit=LONGEST_LABEL),
        ),
        y=alt.Y("of:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=LONGEST_LABEL)),
    )
    shades = alt.Scale(
        domain=[-largest, 0, largest], range=[BAD, "#f4f6f9", ACCENT], interpolate="rgb"
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color("difference:Q", scale=shades, legend=None)
    )
    dark = alt.condition(
        f"abs(datum.difference) > {0.55 * largest}", alt.value("white"), alt.value(INK)
    )
    side = 64 if len(names) <= 8 else 40
    layers = [squares, base.mark_text(fontSize=12, dy=-6).encode(text="label:N", color=dark)]
    layers.append(base.mark_text(fontSize=10, dy=9).encode(text="expected:N", color=dark))
    return alt.layer(*layers).properties(width=side * len(names), height=side * len(names))


def shares_chart(ways: dict[str, FloatArray], names: tuple[str, ...]) -> Any | None:
    """Each party's share of all contributions, by each way to measure them; None of too many."""
    if len(names) > MOST_DRAWN:
        return None
    rows = []
    for way, values in ways.items():
        whole = float(np.abs(values).sum()) or 1.0
        for name, value in zip(names, values.tolist(), strict=True):
            rows.append({"party": name, "way": WAYS[way], "share": value / whole})
    order = [WAYS[way] for way in ways]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y(
                "party:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=LONGEST_LABEL)
            ),
            yOffset=alt.YOffset("way:N", sort=order),
            x=alt.X(
                "share:Q",
                title="share of all contributions, measured so",
                axis=alt.Axis(format="%", tickCount=6),
            ),
            color=alt.Color(
                "way:N",
                sort=order,
                title=None,
                scale=alt.Scale(domain=order, range=[ACCENT, "#c98a1b", "#8c9bb0"][: len(order)]),
            ),
        )
        .properties(width=520, height=alt.Step(14))
    )
