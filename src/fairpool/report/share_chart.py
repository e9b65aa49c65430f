"""The chart of a letter: how much of the best model's information a party has, and receives."""

import json
from functools import cache
from typing import Any

import altair as alt
import vl_convert

from fairpool.report.charts import ACCENT, INK, PALE, styled
from fairpool.report.words import as_percent

WIDTH = 195
"""Pixels of the bars: with what stands beside them, as much as a phone has."""

BEST = "the best model"

DECIMALS = 3
"""Of shares: less than a pixel. All digits of a share would be all digits of v_N, which a letter
does not tell."""


def share_svg(
    alone: float, reward: float, total: float, *, received: str = "the model you receive"
) -> str:
    """One party's letter: how much of the best model's information it has alone, and receives.

    Args:
        alone: v_i.
        reward: What its model is worth.
        total: v_N.
        received: What to call that.
    """
    shares = {"your data alone": alone / total, received: reward / total, BEST: 1.0}
    specification = json.loads(_specification(tuple(shares)))
    drawn = {what: round(share, DECIMALS) for what, share in shares.items()}
    rows = [
        {"what": what, "share": drawn[what], "label": as_percent(share)}
        for what, share in shares.items()
    ]
    specification["datasets"] = {"shares": rows}
    # The axis goes beyond the longest bar, so that there is room for its label.
    longest = {"name": "longest", "value": 1.15 * max(drawn.values())}
    specification["params"] = [longest]
    return str(vl_convert.vegalite_to_svg(specification))


@cache
def _specification(order: tuple[str, ...]) -> str:
    """The chart without its numbers, as JSON: made once, since there is a letter for each party."""
    axis = alt.Axis(ticks=False, domain=False)
    scale = alt.Scale(domainMin=0, domainMax=alt.ExprRef("longest"), nice=False)
    base = alt.Chart(alt.NamedData("shares")).encode(
        y=alt.Y("what:N", sort=list(order), title=None, axis=axis),
        x=alt.X("share:Q", title=None, scale=scale, axis=None),
    )
    colours = alt.Scale(domain=list(order), range=[PALE, ACCENT, "#4b5563"])
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        color=alt.Color("what:N", scale=colours, legend=None)
    )
    labels = base.mark_text(align="left", dx=4, color=INK, fontSize=12).encode(text="label:N")
    chart: Any = (bars + labels).properties(width=WIDTH, height=alt.Step(26))
    narrow = styled(chart).properties(padding={"left": 26, "right": 10, "top": 6, "bottom": 6})
    return json.dumps(narrow.to_dict(format="vega-lite"))
