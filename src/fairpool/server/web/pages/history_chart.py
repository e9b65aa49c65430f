"""A small chart of what a party holds after each round, beside what its data have alone."""

from collections.abc import Sequence

from fairpool.report.words import as_percent
from fairpool.server.web.pages.received import Received
from fairpool.server.web.pages.result_views import Bar, HistoryChart

WIDTH, HEIGHT, BASE = 360, 170, 146
TALLEST = 122
"""Of a bar, which is the whole of the best model's information."""

MOST_BARS = 8
"""Rounds in the chart: the newest ones."""

WIDEST = 26
GAP = 2


def chart_of(every: Sequence[Received]) -> HistoryChart:
    """The newest rounds that have a share.

    Args:
        every: The first one first.
    """
    drawn = [one for one in every if one.share is not None and one.alone is not None][-MOST_BARS:]
    room = WIDTH / max(len(drawn), 4)
    bar = int(min(WIDEST, (room - 4 * GAP) / 2))
    bars = []
    words = []
    for place, one in enumerate(drawn):
        assert one.share is not None
        assert one.alone is not None
        left = place * room + (room - 2 * bar - GAP) / 2
        bars.append(
            Bar(
                x=round(left, 1),
                y=round(BASE - TALLEST * min(1.0, one.share), 1),
                alone_y=round(BASE - TALLEST * min(1.0, one.alone), 1),
                share=as_percent(one.share),
                label=f"round {one.number}" if len(drawn) <= 4 else str(one.number),
            )
        )
        words.append(
            f"round {one.number}: you hold {as_percent(one.share)}, your data alone have"
            f" {as_percent(one.alone)}"
        )
    return HistoryChart(
        width=WIDTH,
        height=HEIGHT,
        base=BASE,
        bar=bar,
        bars=tuple(bars),
        in_words="Of the best model's information, " + "; ".join(words) + ".",
    )
