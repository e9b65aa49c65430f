"""Since last time, as a picture: every party's change, factor by factor."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from fairpool.report.chart_names import names_in_charts
from fairpool.report.charts import INK, MOST_DRAWN, padding_for
from fairpool.report.since import TITLES, by_reward, signed
from fairpool.rounds import Changes, PartyChange
from fairpool.rounds.factors import JOINERS, LEAVERS, OTHERS_DATA, OWN_DATA, TERMS

COLOURS = {
    OWN_DATA: "#1f6f8b",
    OTHERS_DATA: "#e69f00",
    JOINERS: "#7cc4a4",
    LEAVERS: "#b3432b",
    TERMS: "#a9b4c4",
}
"""Hues that can be told apart without seeing red or green, and of different lightness."""

SHORT = {
    OWN_DATA: "own",
    OTHERS_DATA: "others",
    JOINERS: "joined",
    LEAVERS: "left",
    TERMS: "terms",
}
"""What is written into a piece of a bar, where there is room."""

DARK = (OWN_DATA, LEAVERS)
"""Pieces on which letters are white."""

WIDTH = 420
NUMBERS = 52
"""Width of the column of numbers between names and bars, in pixels."""

MARGIN = 10
"""Beyond the longest bars, so that a diamond at the end of one is whole, in pixels."""

LETTER = 6.2
"""Width of a letter in pieces of bars, in pixels."""

DIAMOND = 8
"""Half of what letters leave free for a diamond, in pixels."""

SMALLEST = 0.005
"""A change that a table with two digits would show as nothing."""


def drawn_changes(changes: Changes) -> list[PartyChange]:
    """The parties whose change is drawn: all that have parts, or of many those that moved most."""
    parties = [party for party in by_reward(changes) if party.parts is not None]
    if len(parties) <= MOST_DRAWN:
        return parties
    most = sorted(parties, key=_extent, reverse=True)[:MOST_DRAWN]
    return [party for party in parties if party in most]


def since_chart(changes: Changes) -> Any | None:
    """Per party a bar of its parts, to the right what rose and to the left what fell.

    The sum of it all is a diamond, and a number beside the name. None where nothing moved.
    """
    parties = drawn_changes(changes)
    left = min((_reach(party, below=True) for party in parties), default=0.0)
    right = max((_reach(party, below=False) for party in parties), default=0.0)
    if right - left < SMALLEST:
        return None
    nats_per_pixel = (right - left) / (WIDTH - 2 * MARGIN)
    listed = [party.name for party in by_reward(changes)]
    names = dict(zip(listed, names_in_charts(listed), strict=True))
    pieces = _pieces(parties, names, nats_per_pixel)
    sums = []
    for party in parties:
        moved = party.moved or 0.0
        sums.append({"party": names[party.name], "moved": moved, "label": signed(moved)})
    order = [names[party.name] for party in parties]
    axis = alt.Axis(ticks=False, domain=False, labelPadding=NUMBERS + 6)
    y = alt.Y("party:N", sort=order, title=None, axis=axis)
    ends = [left - MARGIN * nats_per_pixel, right + MARGIN * nats_per_pixel]
    x = alt.X(
        "start:Q",
        title="change of the reward (nats)",
        scale=alt.Scale(domain=ends, nice=False),
        axis=alt.Axis(tickCount=6),
    )
    of_pieces = alt.Chart(alt.InlineData(values=pieces)).encode(y=y)
    of_sums = alt.Chart(alt.InlineData(values=sums)).encode(y=y)
    zero = alt.Chart(alt.InlineData(values=[{"at": 0}])).mark_rule(color=INK).encode(x="at:Q")
    bars = of_pieces.mark_bar(stroke="white", strokeWidth=1, height={"band": 0.72}).encode(
        x=x, x2="end:Q", color=_colours(changes)
    )
    words = of_pieces.mark_text(fontSize=11).encode(
        x="at:Q",
        text="word:N",
        color=alt.condition("datum.dark", alt.value("white"), alt.value(INK)),
    )
    diamonds = of_sums.mark_point(
        shape="diamond", size=60, filled=True, fill="white", stroke=INK, strokeWidth=1.5, opacity=1
    ).encode(x="moved:Q")
    numbers = of_sums.mark_text(align="right", fontSize=12, color=INK, fontWeight="bold").encode(
        x=alt.value(-8), text="label:N"
    )
    layers = alt.layer(bars, zero, words, diamonds, numbers)
    return layers.properties(width=WIDTH, height=alt.Step(24), padding=padding_for(order))


def _colours(changes: Changes) -> Any:
    """A colour for each factor that moved somebody's reward."""
    titles = [TITLES[factor] for factor in changes.factors]
    colours = [COLOURS[factor] for factor in changes.factors]
    return alt.Color(
        "factor:N",
        title=None,
        scale=alt.Scale(domain=titles, range=colours),
        legend=alt.Legend(symbolType="square", symbolSize=140, columns=5, columnPadding=16),
    )


def _reach(party: PartyChange, *, below: bool) -> float:
    """How far a party's bar reaches to one side."""
    assert party.parts is not None
    parts = party.parts.by_factor.values()
    return sum(part for part in parts if (part < 0) == below)


def _extent(party: PartyChange) -> float:
    return _reach(party, below=False) - _reach(party, below=True)


def _pieces(
    parties: list[PartyChange], names: Mapping[str, str], nats_per_pixel: float
) -> list[dict[str, Any]]:
    """Every piece of every bar: from where to where, and what is written on it."""
    pieces = []
    for party in parties:
        assert party.parts is not None
        reached = {True: 0.0, False: 0.0}  # of what fell, and of what rose
        for factor, part in party.parts.by_factor.items():
            if part == 0:
                continue
            start = reached[part < 0]
            end = start + part
            reached[part < 0] = end
            low, high = _room(sorted((start, end)), party.moved or 0.0, DIAMOND * nats_per_pixel)
            needed = (LETTER * len(SHORT[factor]) + 6) * nats_per_pixel
            word = SHORT[factor] if high - low > needed else ""
            pieces.append(
                {
                    "party": names[party.name],
                    "factor": TITLES[factor],
                    "start": start,
                    "end": end,
                    "at": (low + high) / 2,
                    "word": word,
                    "dark": factor in DARK,
                }
            )
    return pieces


def _room(piece: list[float], diamond: float, half: float) -> tuple[float, float]:
    """The largest stretch of a piece that the diamond leaves free."""
    low, high = piece
    if not low - half < diamond < high + half:
        return low, high
    before = (low, max(low, diamond - half))
    behind = (min(high, diamond + half), high)
    return max(before, behind, key=lambda stretch: stretch[1] - stretch[0])
