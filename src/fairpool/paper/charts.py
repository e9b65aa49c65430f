"""The paper's figures, in its arrangement.

They have the same panels and axes, colours by phi_i / phi*, the identity line, and the counts.
"""

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from fairpool.paper.partitioning import partition
from fairpool.paper.rows import Rows, column, where

SIZE = 230
"""Of a panel, in pixels."""


def scatter_figure(rows: Rows) -> Any:
    """Figs. 3, 5-10: (a-b) improvement in IG, (c-d) in MNLP, at rho = 1 and 0.5."""
    at_1 = where(rows, rho=1.0)
    at_half = where(rows, rho=0.5)
    a = _panel(at_1, "ig", "(a) IG, ρ = 1")
    b = _panel(at_half, "ig", "(b) IG, ρ = 0.5")
    c = _panel(at_1, "mnlp", "(c) MNLP, ρ = 1")
    d = _panel(at_half, "mnlp", "(d) MNLP, ρ = 0.5")
    return (a | b) & (c | d)


def informative_figure(rows: Rows) -> Any:
    """Fig. 10: improvement in MNLP at rho = 1 and 0.5."""
    a = _panel(where(rows, rho=1.0), "mnlp", "(a) MNLP, ρ = 1")
    b = _panel(where(rows, rho=0.5), "mnlp", "(b) MNLP, ρ = 0.5")
    return a | b


def suitability_figure(rows: Rows) -> Any:
    """Fig. 9: improvement in MNLP with (a-b) the suitable and (c-d) the unsuitable model.

    Each is shown at rho = 1 and 0.5.
    """
    suitable = where(rows, suitable=True)
    unsuitable = where(rows, suitable=False)
    a = _panel(where(suitable, rho=1.0), "mnlp", "(a) ρ = 1, suitable model")
    b = _panel(where(suitable, rho=0.5), "mnlp", "(b) ρ = 0.5, suitable model")
    c = _panel(where(unsuitable, rho=1.0), "mnlp", "(c) ρ = 1, unsuitable model")
    d = _panel(where(unsuitable, rho=0.5), "mnlp", "(d) ρ = 0.5, unsuitable model")
    return (a | b) & (c | d)


def _panel(rows: Rows, measure: str, title: str) -> Any:
    """Improvement against the largest possible one, by "ig" or "mnlp"."""
    name = measure.upper()
    most = f"{measure}_most"
    positive = sum(row[measure] > 0 for row in rows)
    line = _identity_line(*_extent([*column(rows, most), *column(rows, measure)]))
    points = (
        alt.Chart(_data(rows))
        .mark_circle(size=22, opacity=0.75)
        .encode(
            x=alt.X(
                f"{most}:Q", title=f"maximal improvement in {name}", scale=alt.Scale(zero=False)
            ),
            y=alt.Y(f"{measure}:Q", title=f"improvement in {name}", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "share:Q", title="φ_i/φ*", scale=alt.Scale(scheme="viridis", domain=[0, 1])
            ),
        )
    )
    count = (
        alt.Chart(_data([{"text": f"{positive} of {len(rows)}"}]))
        .mark_text(align="left", baseline="top", dx=6, dy=6, fontSize=13, fontWeight="bold")
        .encode(x=alt.value(0), y=alt.value(0), text="text:N")
    )
    return (line + points + count).properties(width=SIZE, height=SIZE, title=title)


def _extent(values: list[float]) -> tuple[float, float]:
    """From 0, or the least value where that is below 0, to the largest."""
    if not values:
        return 0.0, 1.0
    return min(0.0, *values), max(values)


def _identity_line(low: float, high: float) -> Any:
    return (
        alt.Chart(_data([{"v": low}, {"v": high}]))
        .mark_line(color="#888", strokeDash=[4, 3])
        .encode(x="v:Q", y="v:Q")
    )


def along_rho_figure(rows: Rows) -> Any:
    """Fig. 2: (a) IG and (b) MNLP along rho, which falls to the right as in the paper."""
    x = alt.X("rho:Q", title="ρ", scale=alt.Scale(domain=[0, 1], reverse=True))
    color = alt.Color("name:N", title=None, scale=alt.Scale(scheme="dark2"))
    data = _data([row | {"name": f"party {row['party']}"} for row in rows])
    first = rows[0]
    rho_stable = _rule("x", first["rho_stable"], "ρ_s")

    reward = (
        alt.Chart(data)
        .mark_line(strokeWidth=2)
        .encode(x=x, y=alt.Y("reward:Q", title="IG", scale=alt.Scale(zero=False)), color=color)
    )
    alone = alt.Chart(data).mark_line(strokeDash=[2, 3]).encode(x=x, y="alone:Q", color=color)
    value_23 = _rule("y", first["value_23"], "v of parties 2 and 3")
    by_ig = reward + alone + value_23 + rho_stable

    band = (
        alt.Chart(data)
        .mark_area(opacity=0.25)
        .encode(
            x=x,
            y=alt.Y("mnlp_low:Q", title="MNLP", scale=alt.Scale(zero=False)),
            y2="mnlp_high:Q",
            color=color,
        )
    )
    score = alt.Chart(data).mark_line(strokeWidth=2).encode(x=x, y="mnlp:Q", color=color)
    mnlp_23 = _rule("y", first["mnlp_23"], "trained on 2 and 3")
    by_mnlp = band + score + mnlp_23 + rho_stable

    return alt.hconcat(
        by_ig.properties(title="(a) IG", width=SIZE + 60, height=SIZE),
        by_mnlp.properties(title="(b) MNLP", width=SIZE + 60, height=SIZE),
    )


def _rule(axis: str, value: float, label: str) -> Any:
    data = _data([{axis: value, "label": label}])
    rule = alt.Chart(data).mark_rule(color="#555", strokeDash=[5, 3])
    text = alt.Chart(data).mark_text(align="left", baseline="bottom", dx=3, dy=-2, fontSize=11)
    if axis == "y":
        # The label stands at the left edge for a level, and below the top for a place along rho.
        return rule.encode(y="y:Q") + text.encode(y="y:Q", x=alt.value(0), text="label:N")
    at = alt.X("x:Q", scale=alt.Scale(domain=[0, 1], reverse=True), title="ρ")
    return rule.encode(x=at) + text.encode(x=at, y=alt.value(12), text="label:N")


def overview_figure(rows: Rows) -> Any:
    """Fig. 1: which incentives hold along rho, from a real run."""
    names = {
        "fair": "fairness (R5)",
        "stable": "stability (R6)",
        "rational": "individual rationality (R4)",
    }
    at_each_rho = where(rows, party=1)  # the verdicts are everybody's, and in each party's rows
    # Each rho that was computed stands for the stretch up to the middle between it and the next.
    middles = [(a["rho"] + b["rho"]) / 2 for a, b in pairwise(at_each_rho)]
    starts = [0.0, *middles]
    ends = [*middles, 1.0]
    cells = []
    for row, start, end in zip(at_each_rho, starts, ends, strict=True):
        for key, name in names.items():
            holds = "holds" if row[key] else "fails"
            cells.append({"start": start, "end": end, "incentive": name, "holds": holds})
    title = "ρ: from maximum welfare (0) to pure Shapley fairness (1)"
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("rho:Q", title=title, scale=scale)
    bars = (
        alt.Chart(_data(cells))
        .mark_bar(height=22)
        .encode(
            x=alt.X("start:Q", title=title, scale=scale),
            x2="end:Q",
            y=alt.Y("incentive:N", sort=list(names.values()), title=None),
            color=alt.Color(
                "holds:N",
                title=None,
                scale=alt.Scale(domain=["holds", "fails"], range=["#1f6f8b", "#d9dfe7"]),
            ),
        )
    )
    welfare = (
        alt.Chart(_data(at_each_rho))
        .mark_line(point=True)
        .encode(
            x=x, y=alt.Y("welfare:Q", title="welfare (share of most)", scale=alt.Scale(zero=False))
        )
    )
    marks = [_mark("ρ_s", rows[0]["rho_stable"]), _mark("ρ_r", rows[0]["rho_rational"])]
    rules = alt.Chart(_data(marks)).mark_rule(strokeDash=[4, 3]).encode(x=x)
    texts = (
        alt.Chart(_data(marks))
        .mark_text(align="center", dy=-4, baseline="bottom")
        .encode(x=x, y=alt.value(0), text="label:N")
    )
    incentives = (bars + rules + texts).properties(width=460, height=110)
    return incentives & welfare.properties(width=460, height=120)


def _mark(label: str, rho: float) -> dict[str, Any]:
    """A mark at rho, or at 1 with the number in words where rho is beyond the axis."""
    if rho > 1:
        label = f"{label} = {rho:.2f} > 1"
    return {"rho": min(rho, 1.0), "label": label}


def partition_figure(seed: int) -> Any:
    """Fig. 4: one partially sorted data set, divided into three blocks."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (60, 1))
    division = partition(X, 3, least=0.1, rng=rng)
    rows: Rows = []
    for number, block in enumerate(division.parties, start=1):
        for row in block:
            point = {
                "position": len(rows),
                "value": float(X[row, 0]),
                "party": f"party {number}",
                "d": "d" if row == division.point else "",
            }
            rows.append(point)
    x = alt.X("position:Q", title="position in the partially sorted data")
    y = alt.Y("value:Q", title="input feature a")
    points = (
        alt.Chart(_data(rows))
        .mark_point(filled=True, size=45)
        .encode(
            x=x,
            y=y,
            color=alt.Color("party:N", title=None, scale=alt.Scale(scheme="dark2")),
            shape=alt.Shape("party:N", title=None),
        )
    )
    # The paper puts a ring around the data point d, which is at its sorted position.
    base = alt.Chart(_data(where(rows, d="d"))).encode(x=x, y=y)
    ring = base.mark_point(size=240, color="black", strokeWidth=2)
    name = base.mark_text(dx=12, dy=-12, fontSize=14).encode(text="d:N")
    return (points + ring + name).properties(width=460, height=200)


def valuation_figure(rows: Rows) -> Any:
    """Fig. 11: MNLP-based against IG-based normalised (a-b) values and (c-d) Shapley values."""
    models = list(dict.fromkeys(column(rows, "model")))  # in their order, each once
    panels = []
    for measure, name in (("value", "values of data"), ("shapley", "Shapley values")):
        for model in models:
            of_model = where(rows, model=model)
            panels.append(_valuation_panel(of_model, measure, f"{model}: {name}"))
    return alt.concat(*panels, columns=len(models))


def _valuation_panel(rows: Rows, measure: str, title: str) -> Any:
    values = column(rows, measure)
    line = _identity_line(min(values), max(values))
    points = (
        alt.Chart(_data(rows))
        .mark_circle(size=26, opacity=0.8)
        .encode(
            x=alt.X(f"{measure}:Q", title="by IG", scale=alt.Scale(zero=False)),
            y=alt.Y(f"{measure}_mnlp:Q", title="by MNLP", scale=alt.Scale(zero=False)),
            color=alt.Color(
                "distance:Q", title="W", scale=alt.Scale(scheme="viridis", reverse=True)
            ),
        )
    )
    return (line + points).properties(width=SIZE, height=SIZE, title=title)


def _data(rows: Rows) -> Any:
    return alt.InlineData(values=rows)
