"""What every group's data is worth, as a picture."""

from typing import Any

import altair as alt

from fairpool.coalitions import names_of, sizes
from fairpool.outcome import Outcome
from fairpool.report.chart_names import names_in_charts
from fairpool.report.charts import INK, PALE, padding_for

LONGEST = 14
"""Columns of a party's name, where those of several stand in a row."""


def coalitions_chart(result: Outcome) -> Any | None:
    """The value of every coalition, smallest first; None where there are too many to look at."""
    game = result.game
    if game.n > 5:
        return None
    size = sizes(game.n)
    v = game.values()
    # Smaller coalitions first; the empty one is worth nothing and is not shown.
    masks = sorted(range(1, 1 << game.n), key=lambda mask: (int(size[mask]), float(v[mask])))
    names = names_in_charts(game.names, LONGEST)
    rows = []
    order = []
    for mask in masks:
        name = " + ".join(names_of(mask, names))
        order.append(name)
        rows.append({"coalition": name, "value": float(v[mask]), "parties": int(size[mask])})
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("value:Q", title="information (nats)"),
        y=alt.Y("coalition:N", sort=order, title=None),
    )
    labels = base.mark_text(align="left", dx=4, color=INK, fontSize=12).encode(
        text=alt.Text("value:Q", format=".1f")
    )
    bars = base.mark_bar(color=PALE, cornerRadiusEnd=2)
    return (bars + labels).properties(width=420, height=alt.Step(20), padding=padding_for(order))
