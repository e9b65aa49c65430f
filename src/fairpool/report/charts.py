"""Every chart of the report and the letters, by altair. Nothing is told by colour alone."""

import json
from typing import Any

import altair as alt
import numpy as np
import vl_convert

from fairpool.coalitions import names_of, sizes
from fairpool.outcome import Outcome
from fairpool.report.scores import Scores
from fairpool.report.words import as_percent

INK = "#1f2a37"
PALE = "#b8c4d6"
ACCENT = "#1f6f8b"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
DASHES = [[1, 0], [8, 4], [2, 2], [10, 3, 2, 3], [4, 4], [14, 4], [1, 4]]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
RHO_TITLE = "ρ, from equal rewards (0) to purely proportional ones (1)"
GRID = 101
"""Points along rho."""

LAST_OF_TWO_BYTES = "\uffff"
"""Letters beyond this one, such as emoji, are two characters to a script."""

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
            padding={"left": 28, "right": 40, "top": 6, "bottom": 6},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            gridColor="#e6eaf0",
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelLimit=220,  # said here, so that `as_svg` finds it: Vega has a limit of its own
        )
        .configure_legend(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=12,
            orient="bottom",
            symbolStrokeWidth=2,
            columns=3,
            labelLimit=220,
        )
    )


def as_svg(chart: Any) -> str:
    """A chart as an SVG element, to be put into a page."""
    specification = styled(chart).to_dict(format="vega-lite")
    if max(json.dumps(specification, ensure_ascii=False)) > LAST_OF_TWO_BYTES:
        # Vega would cut such a letter of a long label in two, and then fail to draw it.
        specification = _without_label_limits(specification)
    return str(vl_convert.vegalite_to_svg(specification))


def _without_label_limits(part: Any) -> Any:
    """A specification, or a part of it, in which labels may have any length."""
    if isinstance(part, list):
        return [_without_label_limits(item) for item in part]
    if not isinstance(part, dict):
        return part
    free = {}
    for key, value in part.items():
        free[key] = 0 if key == "labelLimit" else _without_label_limits(value)
    return free


def drawn_parties(result: Outcome) -> list[int]:
    """The parties that charts show.

    They are all, or of many a selection, from the largest reward to the smallest.
    """
    n = result.game.n
    if n <= MOST_DRAWN:
        return list(range(n))
    order = np.argsort(-result.rewards, kind="stable")
    ranks = np.linspace(0, n - 1, MOST_DRAWN).round().astype(int)
    return [int(i) for i in order[ranks]]


def rewards_chart(result: Outcome) -> Any:
    """Per party: what it has alone, what it receives, and what all have together."""
    game = result.game
    names = []
    rows = []
    for i in drawn_parties(result):
        name = game.names[i]
        names.append(name)
        rows.append({"party": name, "what": "alone", "value": float(game.alone[i])})
        rows.append({"party": name, "what": "receives", "value": float(result.rewards[i])})
    base = alt.Chart(_data(rows)).encode(
        y=alt.Y("party:N", sort=names, title=None, axis=alt.Axis(labelLimit=220)),
        yOffset=alt.YOffset("what:N", sort=["alone", "receives"]),
        x=alt.X("value:Q", title="information (nats)", scale=alt.Scale(domainMin=0)),
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        color=alt.Color(
            "what:N",
            scale=alt.Scale(domain=["alone", "receives"], range=[PALE, ACCENT]),
            legend=None,
        )
    )
    labelled = base.encode(text="label:N").transform_calculate(
        label="datum.what + ' ' + format(datum.value, '.1f')"
    )
    # White behind the labels, so that no line strikes them through.
    halo = labelled.mark_text(align="left", dx=4, fontSize=12, stroke="white", strokeWidth=4)
    labels = labelled.mark_text(align="left", dx=4, color=INK, fontSize=12)
    together = _data([{"value": game.total, "label": f"all together {game.total:.1f}"}])
    line = alt.Chart(together).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="value:Q")
    note = (
        alt.Chart(together)
        .mark_text(align="right", dx=-6, dy=-6, baseline="bottom", color=INK)
        .encode(x="value:Q", y=alt.value(0), text="label:N")
    )
    return (bars + line + halo + labels + note).properties(width=480, height=alt.Step(24))


def rho_chart(result: Outcome) -> Any:
    """Each party's reward along rho, with rho_r, rho_s and the chosen rho marked.

    `rho` is a signal, which the report's slider moves.
    """
    drawn = drawn_parties(result)
    names = [result.game.names[i] for i in drawn]
    lines = []
    for rho in np.linspace(0, 1, GRID).tolist():
        rewards = result.rewards_at(rho)
        for i, name in zip(drawn, names, strict=True):
            lines.append({"rho": rho, "party": name, "reward": float(rewards[i])})
    marks = _rho_marks(result)
    chosen = alt.param(name="rho", value=result.rho)
    x = alt.X("rho:Q", title=RHO_TITLE, scale=alt.Scale(domain=[0, 1]))
    curves = (
        alt.Chart(_data(lines))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=alt.Y("reward:Q", title="reward (nats)", scale=alt.Scale(zero=True)),
            color=alt.Color("party:N", title=None, scale=alt.Scale(domain=names, scheme="dark2")),
            strokeDash=alt.StrokeDash(
                "party:N", title=None, scale=alt.Scale(domain=names, range=DASHES)
            ),
        )
    )
    rules = alt.Chart(_data(marks)).mark_rule(color="#6b7280", strokeDash=[3, 3]).encode(x=x)
    texts = (
        alt.Chart(_data(marks))
        .mark_text(align="right", dx=-3, baseline="top", color=INK, fontSize=12)
        .encode(x=x, y=alt.value(2), text="label:N")
    )
    cursor = (
        alt.Chart(_data([{}]))
        .mark_rule(color=ACCENT, strokeWidth=2)
        .encode(x=alt.X("at:Q", title=RHO_TITLE))
        .transform_calculate(at="rho")
    )
    return (curves + rules + texts + cursor).add_params(chosen).properties(width=520, height=260)


def _rho_marks(result: Outcome) -> list[dict[str, Any]]:
    """Marks of the chosen rho, rho_s and rho_r; those at the same place share one."""
    named = {
        "chosen": result.rho,
        "ρ_s": result.scheme.rho_stable,
        "ρ_r": result.scheme.rho_rational,
    }
    labels_at: dict[float, list[str]] = {}
    for label, rho in named.items():
        if 0 <= rho <= 1:
            labels_at.setdefault(round(rho, 3), []).append(label)
    return [{"rho": rho, "label": " = ".join(labels)} for rho, labels in labels_at.items()]


def coalitions_chart(result: Outcome) -> Any | None:
    """The value of every coalition, smallest first; None where there are too many to look at."""
    game = result.game
    if game.n > 5:
        return None
    size = sizes(game.n)
    v = game.values()
    # Smaller coalitions first; the empty one is worth nothing and is not shown.
    masks = sorted(range(1, 1 << game.n), key=lambda mask: (int(size[mask]), float(v[mask])))
    rows = []
    order = []
    for mask in masks:
        name = " + ".join(names_of(mask, game.names))
        order.append(name)
        rows.append({"coalition": name, "value": float(v[mask]), "parties": int(size[mask])})
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("value:Q", title="information (nats)"),
        y=alt.Y("coalition:N", sort=order, title=None, axis=alt.Axis(labelLimit=320)),
    )
    labels = base.mark_text(align="left", dx=4, color=INK, fontSize=12).encode(
        text=alt.Text("value:Q", format=".1f")
    )
    bars = base.mark_bar(color=PALE, cornerRadiusEnd=2)
    return (bars + labels).properties(width=420, height=alt.Step(20))


def scores_chart(result: Outcome, scores: Scores) -> Any:
    """Information against prediction error on test data: alone, rewarded, and everybody's model."""
    measure = scores.target.measures[0]
    key = measure.key
    rows = []
    for i, name in enumerate(result.game.names):
        alone = {"value": float(result.game.alone[i]), key: scores.alone[i][key]}
        reward = {"value": float(result.rewards[i]), key: scores.reward[i][key]}
        rows.append({"party": name, "model": "alone", **alone})
        rows.append({"party": name, "model": "reward", **reward})
    data = _data(rows)
    x = alt.X("value:Q", title="information (nats)", scale=alt.Scale(zero=False))
    title = f"{measure.title} on test data (lower is better)"
    y = alt.Y(f"{key}:Q", title=title, scale=alt.Scale(zero=False))
    names = list(result.game.names)
    color = alt.Color("party:N", title=None, scale=alt.Scale(domain=names, scheme="dark2"))
    arrows = alt.Chart(data).mark_line(strokeWidth=1, color=PALE).encode(x=x, y=y, detail="party:N")
    points = (
        alt.Chart(data)
        .mark_point(size=90, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=color,
            shape=alt.Shape("party:N", title=None, scale=alt.Scale(domain=names, range=SHAPES)),
            tooltip=["party:N", "model:N", "value:Q", f"{key}:Q"],
        )
    )
    labels = (
        alt.Chart(data)
        .mark_text(align="left", dx=9, color=INK, fontSize=11)
        .encode(x=x, y=y, text="model:N")
    )
    best = _data([{key: scores.everyone[key], "label": "everybody's model"}])
    line = alt.Chart(best).mark_rule(color=INK, strokeDash=[4, 3]).encode(y=f"{key}:Q")
    note = (
        alt.Chart(best)
        .mark_text(align="left", baseline="bottom", dx=2, dy=-2, color=INK)
        .encode(y=f"{key}:Q", x=alt.value(0), text="label:N")
    )
    return (arrows + points + labels + line + note).properties(width=480, height=280)


def share_chart(
    alone: float, reward: float, total: float, *, received: str = "the model you receive"
) -> Any:
    """One party's letter: how much of the best model's information it has alone, and receives.

    Args:
        alone: v_i.
        reward: What its model is worth.
        total: v_N.
        received: What to call that.
    """
    shares = {"your data alone": alone / total, received: reward / total, "the best model": 1.0}
    rows: list[dict[str, Any]] = []
    for what, share in shares.items():
        rows.append({"what": what, "share": share, "label": as_percent(share)})
    order = list(shares)
    # The axis goes beyond the longest bar, so that there is room for its label.
    longest = 1.12 * max(shares.values())
    base = alt.Chart(_data(rows)).encode(
        y=alt.Y(
            "what:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelLimit=220, ticks=False, domain=False),
        ),
        x=alt.X("share:Q", title=None, scale=alt.Scale(domain=[0, longest], nice=False), axis=None),
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        color=alt.Color(
            "what:N", scale=alt.Scale(domain=order, range=[PALE, ACCENT, "#4b5563"]), legend=None
        )
    )
    labels = base.mark_text(align="left", dx=4, color=INK, fontSize=12).encode(text="label:N")
    return (bars + labels).properties(width=400, height=alt.Step(26))
