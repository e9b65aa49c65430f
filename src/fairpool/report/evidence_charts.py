"""Pictures of what labels say: who agrees with whom, and three ways to measure contributions."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from fairpool.audit import Evidence
from fairpool.report.chart_names import names_in_charts
from fairpool.report.charts import ACCENT, INK, MOST_DRAWN, padding_for
from fairpool.tables.arrays import FloatArray

WAYS = {
    "information": "information",
    "evidence": "evidence of labels",
    "validation": "test rows",
}
"""How contributions are measured."""

BAD = "#b3432b"


def pairs_chart(evidence: Evidence, names: tuple[str, ...], order: Sequence[str]) -> Any | None:
    """How well each party's data predicts each other's labels, beside what is expected.

    None where there is nothing to compare, or too much to draw.

    Args:
        evidence: What labels say.
        names: The parties.
        order: The same, as they are to be listed.
    """
    if not evidence.expected_pairs.any() or not evidence.exact:
        return None
    called = dict(zip(names, names_in_charts(names), strict=True))
    listed = [called[name] for name in order]
    rows: list[dict[str, Any]] = []
    for i, first in enumerate(called.values()):
        for j, second in enumerate(called.values()):
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
            sort=listed,
            title=None,
            axis=alt.Axis(labelAngle=-30, orient="top"),
        ),
        y=alt.Y("of:N", sort=listed, title=None),
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
    whole = side * len(names)
    return alt.layer(*layers).properties(width=whole, height=whole, padding=padding_for(listed))


def shares_chart(
    ways: dict[str, FloatArray], names: tuple[str, ...], order: Sequence[str]
) -> Any | None:
    """Each party's share of all contributions, by each way to measure them; None of too many.

    Args:
        ways: Contributions [n] by each way.
        names: The parties.
        order: The same, as they are to be listed.
    """
    if len(names) > MOST_DRAWN:
        return None
    called = dict(zip(names, names_in_charts(names), strict=True))
    rows = []
    for way, values in ways.items():
        whole = float(np.abs(values).sum()) or 1.0
        for name, value in zip(called.values(), values.tolist(), strict=True):
            rows.append({"party": name, "way": WAYS[way], "share": value / whole})
    titles = [WAYS[way] for way in ways]
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y("party:N", sort=[called[name] for name in order], title=None),
            yOffset=alt.YOffset("way:N", sort=titles),
            x=alt.X(
                "share:Q",
                title="share of all contributions, measured so",
                axis=alt.Axis(format="%", tickCount=6),
            ),
            color=alt.Color(
                "way:N",
                sort=titles,
                title=None,
                scale=alt.Scale(domain=titles, range=[ACCENT, "#c98a1b", "#8c9bb0"][: len(titles)]),
            ),
        )
        .properties(width=520, height=alt.Step(14), padding=padding_for(list(called.values())))
    )
