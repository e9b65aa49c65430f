"""The charts of a collaboration, by altair. Nothing is told by colour alone."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from fairpool.errors import DataError, shown
from fairpool.outcome import Outcome
from fairpool.report.chart_names import columns_of, names_in_charts
from fairpool.report.held import somebody_keeps
from fairpool.report.order import by_reward
from fairpool.report.rho_marks import marks_chart, marks_of

INK = "#1f2a37"
PALE = "#b8c4d6"
ACCENT = "#1f6f8b"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
DASHES = [[1, 0], [8, 4], [2, 2], [10, 3, 2, 3], [4, 4], [14, 4], [1, 4]]
RHO_TITLE = ["ρ, from equal rewards (0)", "to purely proportional ones (1)"]
PADDING = {"left": 28, "right": 40, "top": 6, "bottom": 6}
GRID = 101
"""Points along rho."""

RHO_HEIGHT = 260
BARS_WIDTH = 480
LINE_OF_TEXT = 14
LETTER = 7.0
BESIDE_NAME = 50
"""Of a legend's entry, without the name."""

PHONE = 320
"""All in pixels: the last is what a chart has on a phone."""

NO_LIMIT = 0
"""Of labels: `names_in_charts` cuts them, and leaves them different. Vega would cut an emoji in
two, and then fail.
"""

MOST_DRAWN = 24
"""Of more parties, a chart shows a selection: the table has them all."""


def _data(rows: list[dict[str, Any]]) -> Any:
    return alt.InlineData(values=rows)


def styled(chart: Any) -> Any:
    """The same quiet look for all."""
    return (
        chart.configure(
            font=FONT,
            background="transparent",
            padding=PADDING,
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            gridColor="#e6eaf0",
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelLimit=NO_LIMIT,
        )
        .configure_legend(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=12,
            orient="bottom",
            symbolStrokeWidth=2,
            columns=3,
            columnPadding=18,
            labelLimit=NO_LIMIT,
        )
    )


def padding_for(labels: Sequence[str]) -> dict[str, int]:
    """What is left free around a chart with these labels on its left.

    Browsers' fonts are wider than that with which labels are measured, by a pixel for a letter or
    so: the longer they are, the more they would be cut.
    """
    return PADDING | {"left": max(PADDING["left"], *map(columns_of, labels))}


def specification(chart: Any) -> dict[str, Any]:
    """A chart in the quiet look, as Vega-Lite.

    It is not held against Vega-Lite's schema here: that takes as long as drawing it, and every kind
    of chart is in the tests.
    """
    found: dict[str, Any] = styled(chart).to_dict(format="vega-lite", validate=False)
    return found


def as_svg(chart: Any) -> str:
    """A chart as an SVG element, to be put into a page."""
    return str(vl_convert.vegalite_to_svg(specification(chart)))


def drawn_parties(result: Outcome) -> list[int]:
    """The parties that charts show.

    They are all, or of many a selection, from the largest reward to the smallest.
    """
    n = result.game.n
    order = by_reward(result)
    if n <= MOST_DRAWN:
        return order
    ranks = np.linspace(0, n - 1, MOST_DRAWN).round().astype(int)
    return [order[rank] for rank in ranks]


def names_of_drawn(result: Outcome) -> list[str]:
    """What they are called in a chart."""
    # All are looked at: a name that is cut must not be taken for one that is not drawn.
    names = names_in_charts(result.game.names)
    return [names[i] for i in drawn_parties(result)]


def rewards_chart(result: Outcome) -> Any:
    """Per party: what it has alone, what it receives, and what all have together."""
    game = result.game
    # Who keeps the model that it has is due a share, and receives nothing.
    due = "share" if somebody_keeps(result) else "receives"
    names = names_of_drawn(result)
    rows = []
    for i, name in zip(drawn_parties(result), names, strict=True):
        for what, values in (("alone", game.alone), (due, result.rewards)):
            value = float(values[i])
            label = f"{what} {value:.1f}"
            # At the beginning of its bar, where no line strikes it through, and which is also seen
            # where a phone shows half of the chart. A bar may be too short for that.
            within = value / _top(result) * BARS_WIDTH > LETTER * (len(label) + 2)
            rows.append(
                {"party": name, "what": what, "value": value, "label": label, "within": within}
            )
    x = alt.X(
        "value:Q",
        title="information (nats)",
        scale=alt.Scale(domain=[0, _top(result)], nice=False),
        axis=alt.Axis(tickCount=8),
    )
    base = alt.Chart(_data(rows)).encode(
        y=alt.Y("party:N", sort=names, title=None),
        yOffset=alt.YOffset("what:N", sort=["alone", due]),
        x=x,
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        color=alt.Color(
            "what:N",
            scale=alt.Scale(domain=["alone", due], range=[PALE, ACCENT]),
            legend=None,
        )
    )
    within_bars = (
        base.transform_filter("datum.within")
        .mark_text(align="left", fontSize=12)
        .encode(
            x=alt.value(7),
            text="label:N",
            color=alt.condition("datum.what == 'alone'", alt.value(INK), alt.value("white")),
        )
    )
    beside_bars = (
        base.transform_filter("!datum.within")
        .mark_text(align="left", dx=4, color=INK, fontSize=12)
        .encode(text="label:N")
    )
    together = _data([{"value": game.total, "label": f"all together {game.total:.1f}"}])
    line = alt.Chart(together).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="value:Q")
    note = (
        alt.Chart(together)
        .mark_text(align="right", dx=-6, dy=-6, baseline="bottom", color=INK)
        .encode(x="value:Q", y=alt.value(0), text="label:N")
    )
    layers = bars + line + within_bars + beside_bars + note
    return layers.properties(width=BARS_WIDTH, height=alt.Step(24), padding=padding_for(names))


def rho_chart(result: Outcome) -> Any:
    """Each party's reward along rho, with rho_r, rho_s and the chosen rho marked.

    `rho` is a signal, which the report's slider moves.
    """
    drawn = drawn_parties(result)
    names = names_of_drawn(result)
    lines = []
    for rho in np.linspace(0, 1, GRID).tolist():
        rewards = result.rewards_at(rho)
        for i, name in zip(drawn, names, strict=True):
            lines.append({"rho": rho, "party": name, "reward": float(rewards[i])})
    chosen = alt.param(name="rho", value=result.rho)
    fifths = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f")
    x = alt.X("rho:Q", title=RHO_TITLE, scale=alt.Scale(domain=[0, 1]), axis=fifths)
    # With room for the name of the highest line.
    top = (1 + (LINE_OF_TEXT + 2) / RHO_HEIGHT) * _top(result)
    y = alt.Y("reward:Q", title="reward (nats)", scale=alt.Scale(domain=[0, top], nice=False))
    if len(names) <= len(DASHES):
        curves, named = _told_apart(lines, names, x, y), []
    else:
        curves, named = _alike(lines, x, y), _names_at_the_end(lines, x, y)
    marks = marks_chart(marks_of(result), x, height=RHO_HEIGHT, ink=INK)
    cursor = (
        alt.Chart(_data([{}]))
        .mark_rule(color=ACCENT, strokeWidth=2)
        .encode(x=alt.X("at:Q", title=RHO_TITLE, axis=fifths))
        .transform_calculate(at="rho")
    )
    # Names last, so that no line goes through them.
    layers = alt.layer(curves, *marks, cursor, *named).add_params(chosen)
    return layers.properties(width=520, height=RHO_HEIGHT)


def _top(result: Outcome) -> float:
    """Where the axis of rewards ends; there is one even where there is nothing to give."""
    return 1.02 * result.game.total or 1.0


def _told_apart(lines: list[dict[str, Any]], names: list[str], x: Any, y: Any) -> Any:
    """Lines of few parties, by colour and dashes, with a legend."""
    return (
        alt.Chart(_data(lines))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "party:N",
                title=None,
                scale=alt.Scale(domain=names, scheme="dark2"),
                legend=legend_of(names),
            ),
            strokeDash=alt.StrokeDash(
                "party:N",
                title=None,
                scale=alt.Scale(domain=names, range=DASHES),
                legend=legend_of(names),
            ),
        )
    )


def legend_of(names: Sequence[str]) -> alt.Legend:
    """In so many columns that it fits on a phone."""
    widest = LETTER * max(map(columns_of, names)) + BESIDE_NAME
    return alt.Legend(columns=int(np.clip(PHONE / widest, 1, 3)))


def _alike(lines: list[dict[str, Any]], x: Any, y: Any) -> Any:
    """Lines of many parties, which no colours tell apart."""
    return (
        alt.Chart(_data(lines))
        .mark_line(strokeWidth=1.2, color=ACCENT, opacity=0.7)
        .encode(x=x, y=y, detail="party:N")
    )


def _names_at_the_end(lines: list[dict[str, Any]], x: Any, y: Any) -> list[Any]:
    """The names of lines at their right ends, where names have room."""
    ends = alt.Chart(_data(apart([line for line in lines if line["rho"] == 1]))).encode(
        x=x, y=y, text="party:N"
    )
    style: dict[str, Any] = {"align": "right", "dx": -4, "dy": -2, "baseline": "bottom"}
    style["fontSize"] = 11
    halo = ends.mark_text(stroke="white", strokeWidth=5, strokeJoin="round", **style)
    return [halo, ends.mark_text(color=INK, **style)]


def apart(ends: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of the ends of lines those that can be named without names on top of each other."""
    top = max((end["reward"] for end in ends), default=0.0)
    nats = LINE_OF_TEXT * top / RHO_HEIGHT
    kept: list[dict[str, Any]] = []
    for end in sorted(ends, key=lambda end: -end["reward"]):
        if not kept or kept[-1]["reward"] - end["reward"] >= nats:
            kept.append(end)
    return kept


OF_A_NOTEBOOK = {"rewards": rewards_chart, "rho": rho_chart}
"""The charts that are asked for by name."""


def chart_of(result: Outcome, what: str) -> Any:
    """One of these charts, with the look of the report's."""
    if what not in OF_A_NOTEBOOK:
        raise DataError(
            f"there is no chart {shown(what)}; give one of {', '.join(OF_A_NOTEBOOK)}, or write the"
            " whole report"
        )
    return styled(OF_A_NOTEBOOK[what](result))
