"""The paper's figures, in its arrangement: the same panels, axes, colours by phi_i / phi*, identity
line, counts.
"""

from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from fairpool.paper.partitioning import partition

Rows = list[dict[str, Any]]
SIZE = 230


def scatter_figure(rows: Rows) -> Any:
    """Figs. 3, 5-10: (a-b) improvement in IG, (c-d) in MNLP, at rho = 1 and 0.5."""
    panels = [
        _panel(
            [row for row in rows if row["rho"] == rho],
            f"{measure}_most",
            measure,
            f"({letter}) {name}, ρ = {rho:g}",
            name,
        )
        for letter, measure, name, rho in (
            ("a", "ig", "IG", 1.0),
            ("b", "ig", "IG", 0.5),
            ("c", "mnlp", "MNLP", 1.0),
            ("d", "mnlp", "MNLP", 0.5),
        )
    ]
    return (panels[0] | panels[1]) & (panels[2] | panels[3])


def informative_figure(rows: Rows) -> Any:
    """Fig. 10: improvement in MNLP at rho = 1 and 0.5."""
    panels = [
        _panel(
            [row for row in rows if row["rho"] == rho],
            "mnlp_most",
            "mnlp",
            f"({letter}) MNLP, ρ = {rho:g}",
            "MNLP",
        )
        for letter, rho in (("a", 1.0), ("b", 0.5))
    ]
    return panels[0] | panels[1]


def suitability_figure(rows: Rows) -> Any:
    """Fig. 9: improvement in MNLP with (a-b) the suitable and (c-d) the unsuitable model, at rho = 1 and 0.5."""
    panels = [
        _panel(
            [row for row in rows if row["rho"] == rho and row["suitable"] == suitable],
            "mnlp_most",
            "mnlp",
            f"({letter}) ρ = {rho:g}, {'suitable' if suitable else 'unsuitable'} model",
            "MNLP",
        )
        for letter, rho, suitable in (
            ("a", 1.0, True),
            ("b", 0.5, True),
            ("c", 1.0, False),
            ("d", 0.5, False),
        )
    ]
    return (panels[0] | panels[1]) & (panels[2] | panels[3])


def _panel(rows: Rows, x: str, y: str, title: str, name: str) -> Any:
    positive = sum(row[y] > 0 for row in rows)
    values = [row[k] for row in rows for k in (x, y)] or [0.0, 1.0]
    low, high = min(0.0, *values), max(values)
    line = (
        alt.Chart(_data([{"v": low}, {"v": high}]))
        .mark_line(color="#888", strokeDash=[4, 3])
        .encode(x="v:Q", y="v:Q")
    )
    points = (
        alt.Chart(_data(rows))
        .mark_circle(size=22, opacity=0.75)
        .encode(
            x=alt.X(f"{x}:Q", title=f"maximal improvement in {name}", scale=alt.Scale(zero=False)),
            y=alt.Y(f"{y}:Q", title=f"improvement in {name}", scale=alt.Scale(zero=False)),
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


def along_rho_figure(rows: Rows) -> Any:
    """Fig. 2: (a) IG and (b) MNLP along rho, which falls to the right as in the paper."""
    x = alt.X("rho:Q", title="ρ", scale=alt.Scale(domain=[0, 1], reverse=True))
    parties = alt.Color("name:N", title=None, scale=alt.Scale(scheme="dark2"))
    lines = [row | {"name": f"party {row['party']}"} for row in rows]
    ends = _data(lines)
    first = rows[0]
    reward = (
        alt.Chart(ends)
        .mark_line(strokeWidth=2)
        .encode(x=x, y=alt.Y("reward:Q", title="IG", scale=alt.Scale(zero=False)), color=parties)
    )
    alone = alt.Chart(ends).mark_line(strokeDash=[2, 3]).encode(x=x, y="alone:Q", color=parties)
    left = (
        reward
        + alone
        + _rule("y", first["value_23"], "v of parties 2 and 3")
        + _rule("x", first["rho_stable"], "ρ_s")
    )
    band = (
        alt.Chart(ends)
        .mark_area(opacity=0.25)
        .encode(
            x=x,
            y=alt.Y("mnlp_low:Q", title="MNLP", scale=alt.Scale(zero=False)),
            y2="mnlp_high:Q",
            color=parties,
        )
    )
    score = alt.Chart(ends).mark_line(strokeWidth=2).encode(x=x, y="mnlp:Q", color=parties)
    right = (
        band
        + score
        + _rule("y", first["mnlp_23"], "trained on 2 and 3")
        + _rule("x", first["rho_stable"], "ρ_s")
    )
    panels = [
        p.properties(width=SIZE + 60, height=SIZE)
        for p in (left.properties(title="(a) IG"), right.properties(title="(b) MNLP"))
    ]
    return alt.hconcat(*panels)


def _rule(axis: str, value: float, label: str) -> Any:
    data = _data([{axis: value, "label": label}])
    rule = alt.Chart(data).mark_rule(color="#555", strokeDash=[5, 3])
    text = alt.Chart(data).mark_text(align="left", baseline="bottom", dx=3, dy=-2, fontSize=11)
    if axis == "y":
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
    party = [row for row in rows if row["party"] == 1]
    middles = [(a["rho"] + b["rho"]) / 2 for a, b in pairwise(party)]
    cells = [
        {"start": start, "end": end, "incentive": name, "holds": "holds" if row[key] else "fails"}
        for row, start, end in zip(party, [0.0, *middles], [*middles, 1.0], strict=True)
        for key, name in names.items()
    ]
    title, scale = (
        "ρ: from maximum welfare (0) to pure Shapley fairness (1)",
        alt.Scale(domain=[0, 1]),
    )
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
        alt.Chart(_data(party))
        .mark_line(point=True)
        .encode(
            x=x, y=alt.Y("welfare:Q", title="welfare (share of most)", scale=alt.Scale(zero=False))
        )
    )
    first = rows[0]
    marks = [
        {"rho": min(value, 1.0), "label": label if value <= 1 else f"{label} = {value:.2f} > 1"}
        for label, value in (("ρ_s", first["rho_stable"]), ("ρ_r", first["rho_rational"]))
    ]
    rules = alt.Chart(_data(marks)).mark_rule(strokeDash=[4, 3]).encode(x=x)
    texts = (
        alt.Chart(_data(marks))
        .mark_text(align="center", dy=-4, baseline="bottom")
        .encode(x=x, y=alt.value(0), text="label:N")
    )
    return (bars + rules + texts).properties(width=460, height=110) & welfare.properties(
        width=460, height=120
    )


def partition_figure(seed: int) -> Any:
    """Fig. 4: one partially sorted data set, divided into three blocks."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (60, 1))
    found = partition(X, 3, 0.1, rng)
    order = np.concatenate(found.parties)
    owner = np.repeat([1, 2, 3], [len(p) for p in found.parties])
    rows = [
        {
            "position": k,
            "value": float(X[row, 0]),
            "party": f"party {owner[k]}",
            "d": "d" if row == found.point else "",
        }
        for k, row in enumerate(order)
    ]
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
    chosen = [row for row in rows if row["d"]]
    ring = (
        alt.Chart(_data(chosen)).mark_point(size=240, color="black", strokeWidth=2).encode(x=x, y=y)
    )
    name = (
        alt.Chart(_data(chosen)).mark_text(dx=12, dy=-12, fontSize=14).encode(x=x, y=y, text="d:N")
    )
    return (points + ring + name).properties(width=460, height=200)


def valuation_figure(rows: Rows) -> Any:
    """Fig. 11: MNLP-based against IG-based normalised (a-b) values and (c-d) Shapley values."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    panels = [
        _valuation_panel(
            [row for row in rows if row["model"] == model], measure, f"{model}: {name}"
        )
        for measure, name in (("value", "values of data"), ("shapley", "Shapley values"))
        for model in models
    ]
    return alt.concat(*panels, columns=len(models))


def _valuation_panel(rows: Rows, measure: str, title: str) -> Any:
    values = [row[measure] for row in rows]
    line = (
        alt.Chart(_data([{"v": min(values)}, {"v": max(values)}]))
        .mark_line(color="#888", strokeDash=[4, 3])
        .encode(x="v:Q", y="v:Q")
    )
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
