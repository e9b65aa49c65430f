"""How test rows are predicted, as a picture."""

from typing import Any

import altair as alt

from fairpool.outcome import Outcome
from fairpool.report.charts import ACCENT, INK, PALE, drawn_parties, names_of_drawn, padding_for
from fairpool.report.scores import Scores


def scores_chart(result: Outcome, scores: Scores) -> Any:
    """Prediction error on test data, of each party alone and with its reward.

    A line for each party, so that no labels meet, however many there are.
    """
    measure = scores.target.measures[0]
    key = measure.key
    points = []
    spans = []
    names = names_of_drawn(result)
    for i, name in zip(drawn_parties(result), names, strict=True):
        alone, reward = scores.alone[i][key], scores.reward[i][key]
        points.append({"party": name, "model": "alone", key: alone})
        points.append({"party": name, "model": "reward", key: reward})
        spans.append({"party": name, "from": alone, "to": reward})
    axis = alt.Axis(grid=True)
    y = alt.Y("party:N", sort=names, title=None, axis=axis)
    title = f"{measure.title} on test data (lower is better)"
    few = alt.Axis(tickCount=6)
    x = alt.X(f"{key}:Q", title=title, scale=alt.Scale(zero=False), axis=few)
    lines = (
        alt.Chart(alt.InlineData(values=spans))
        .mark_rule(strokeWidth=3, color=PALE)
        .encode(
            x=alt.X("from:Q", title=title, scale=alt.Scale(zero=False), axis=few), x2="to:Q", y=y
        )
    )
    models = alt.Scale(domain=["alone", "reward"], range=["white", ACCENT])
    marks = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(shape="circle", size=80, opacity=1, stroke=ACCENT, strokeWidth=2)
        .encode(x=x, y=y, fill=alt.Fill("model:N", title=None, scale=models))
    )
    best = alt.InlineData(values=[{key: scores.everyone[key], "label": "everybody's model"}])
    line = alt.Chart(best).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=f"{key}:Q")
    note = (
        alt.Chart(best)
        .mark_text(align="left", baseline="bottom", dx=-2, dy=-6, color=INK, fontSize=12)
        .encode(x=f"{key}:Q", y=alt.value(0), text="label:N")
    )
    layers = lines + line + marks + note
    return layers.properties(width=440, height=alt.Step(22), padding=padding_for(names))
