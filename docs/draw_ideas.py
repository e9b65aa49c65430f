"""Draw the pictures of docs/how-it-works.md, from the code on that page.

Usage: `python -m docs.draw_ideas [FOLDER]`.
"""

import sys
from contextlib import redirect_stdout
from io import StringIO
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import altair as alt
import numpy as np

import fairpool as fp
from fairpool.report.charts import as_svg, rho_chart
from tests.support.pages import blocks, page_text

FOLDER = Path(__file__).parent / "ideas"
COLOURS = {"north": "#1b9e77", "south": "#7570b3", "east": "#d95f02"}
"""As the chart of rewards, which is that of reports, has them."""

ALONG = np.linspace(-0.5, 10.5, 121)


def page_names():
    """What the page's code has defined."""
    names = {}
    with redirect_stdout(StringIO()):
        for block in blocks(page_text("how-it-works")):
            if block.language == "python":
                exec(compile(block.text, "how-it-works.md", "exec"), names)
    return SimpleNamespace(**names)


def panel(title, predict, parties):
    """What a model expects along x, how unsure it is of the curve, and rows that it has seen."""
    mean, variance = predict(ALONG[:, None])
    deviation = np.sqrt(variance)
    band = []
    for x, m, s in zip(ALONG.tolist(), mean.tolist(), deviation.tolist(), strict=True):
        band.append({"x": x, "mean": m, "low": m - 2 * s, "high": m + 2 * s})
    rows = []
    for party in parties:
        for x, y in zip(party.X[:, 0].tolist(), party.y.tolist(), strict=True):
            rows.append({"x": x, "y": y, "party": party.name})
    x = alt.X("x:Q", title="x", scale=alt.Scale(domain=[-0.5, 10.5], nice=False))
    scale = alt.Scale(domain=[-3, 3], clamp=True)
    base = alt.Chart(alt.InlineData(values=band))
    area = base.mark_area(opacity=0.25, color="#64748b").encode(
        x=x, y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
    )
    line = base.mark_line(color="#334155").encode(x=x, y=alt.Y("mean:Q", scale=scale))
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_circle(size=45, opacity=1)
        .encode(
            x=x,
            y=alt.Y("y:Q", scale=scale),
            color=alt.Color(
                "party:N",
                title=None,
                scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
            ),
        )
    )
    return (area + line + points).properties(width=210, height=170, title=title)


def posterior_of(page, parties):
    """The model, trained on some parties' rows."""
    X = np.concatenate([party.X for party in parties])
    y = np.concatenate([party.y for party in parties])
    return page.model.posterior(X, y).predict


def parties_chart(page):
    panels = [panel(one.name, posterior_of(page, [one]), [one]) for one in page.parties]
    panels.append(panel("all", posterior_of(page, page.parties), page.parties))
    return alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:]))


def coalitions_chart(page):
    rows = []
    for size in (1, 2, 3):
        for group in combinations(range(3), size):
            name = " + ".join(page.names[i] for i in group)
            rows.append({"group": name, "value": page.game.value(set(group))})
    return (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color="#64748b")
        .encode(
            x=alt.X("value:Q", title="nats"),
            y=alt.Y("group:N", title=None, sort=[row["group"] for row in rows]),
        )
        .properties(width=420, height=180)
    )


def rewards_chart(page):
    return rho_chart(fp.collaborate(page.parties, page.model, rho="stable", rng=1))


def noise_chart(page):
    south = page.parties[1]
    return alt.hconcat(
        panel("alone", posterior_of(page, [south]), [south]),
        panel("its reward", page.models[1].predict, [south]),
        panel("the best model", posterior_of(page, page.parties), page.parties),
    )


CHARTS = {
    "parties": parties_chart,
    "coalitions": coalitions_chart,
    "rewards": rewards_chart,
    "noise": noise_chart,
}


def draw(folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    page = page_names()
    for name, chart in CHARTS.items():
        (folder / f"{name}.svg").write_text(as_svg(chart(page)), encoding="utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
