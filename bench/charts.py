"""Charts of cost against the number of parties n, the rows per party m and the weights d."""

from pathlib import Path

import altair as alt
import vl_convert

COLOURS = {
    "fairpool": "#0b6e4f",
    "one Cholesky per coalition": "#c05621",
    "batched Cholesky alone": "#718096",
}
DECADES = [10.0**power for power in range(-6, 4)]
CHARTS = {
    "n-kernel": ("parties n", "Gaussian process, 30 rows per party", False),
    "n-weight": ("parties n", "weight space, d = 50", False),
    "m": ("rows per party m", "Gaussian process, 8 parties", True),
    "d": ("weights d", "weight space, 10 parties", True),
}
"""Per chart: the horizontal axis, what was valued, and whether that axis is logarithmic."""


def write_charts(points: list[dict], folder: Path) -> list[str]:
    """One SVG per chart that has points; their names."""
    folder.mkdir(parents=True, exist_ok=True)
    found = [name for name in CHARTS if any(point["chart"] == name for point in points)]
    for name in found:
        specification = chart(name, [point for point in points if point["chart"] == name]).to_json()
        (folder / f"{name}.svg").write_text(vl_convert.vegalite_to_svg(specification))
    return found


def chart(name: str, points: list[dict]) -> alt.Chart:
    """Seconds for all 2^n values, both axes as in `CHARTS`."""
    across, what, logarithmic = CHARTS[name]
    places = sorted({point["x"] for point in points})
    ways = [way for way in COLOURS if any(point["way"] == way for point in points)]
    x_scale = alt.Scale(
        type="log" if logarithmic else "linear", domain=[places[0], places[-1]], nice=False
    )
    return (
        alt.Chart(
            alt.Data(values=points), title=alt.Title("All 2ⁿ values", subtitle=what, anchor="start")
        )
        .mark_line(point=alt.OverlayMarkDef(size=40))
        .encode(
            x=alt.X(
                "x:Q",
                title=across,
                scale=x_scale,
                axis=alt.Axis(values=places, format="d", labelFlush=False),
            ),
            y=alt.Y(
                "y:Q",
                title="seconds",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(values=DECADES, format="~g"),
            ),
            color=alt.Color(
                "way:N",
                title=None,
                scale=alt.Scale(domain=ways, range=[COLOURS[way] for way in ways]),
                legend=alt.Legend(orient="bottom", direction="horizontal", labelLimit=300),
            ),
        )
        .properties(width=420, height=260, padding=10, background="white")
        .configure_axis(labelFontSize=12, titleFontSize=12, gridColor="#e2e8f0")
        .configure_legend(labelFontSize=12)
        .configure_title(fontSize=14, subtitleFontSize=12)
        .configure_view(stroke=None)
    )
