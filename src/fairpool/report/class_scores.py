"""Of classes, what a score does not tell: which are confused, and whether probabilities hold."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from fairpool.report.chart_names import names_in_charts
from fairpool.report.charts import legend_of
from fairpool.tables.arrays import FloatArray

BINS = 10
"""Groups of test rows, by the probability of their most probable class."""

EVERYBODY = "everybody's model"

MOST_TOLD_APART = 8
"""Of more models, the rewards have one colour."""


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Test rows to whose most probable class a model gave about the same probability.

    Attributes:
        model: Whose it is.
        predicted: The mean probability.
        observed: How often the class was right.
        rows: How many there are.
    """

    model: str
    predicted: float
    observed: float
    rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Confusion:
    """How often a model predicts each class, by the true one.

    Attributes:
        model: Whose it is.
        counts: [k, k], the true classes first.
    """

    model: str
    counts: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassDetails:
    """Of every reward and of everybody's model, on test rows.

    Attributes:
        levels: The classes.
        reliability: One entry for every group of rows that is not empty, of every model.
        confusion: One for every model.
    """

    levels: tuple[str, ...]
    reliability: tuple[Reliability, ...]
    confusion: tuple[Confusion, ...]

    @classmethod
    def of(
        cls, levels: tuple[str, ...], y: FloatArray, models: Sequence[tuple[str, FloatArray]]
    ) -> "ClassDetails":
        """From the probabilities [t, k] that models, by name, gave test rows of classes y [t]."""
        reliability: list[Reliability] = []
        confusion = []
        for name, p in models:
            reliability += _groups(name, y, p)
            counts = np.zeros((len(levels), len(levels)), dtype=np.int64)
            np.add.at(counts, (y.astype(np.intp), p.argmax(axis=1)), 1)
            confusion.append(Confusion(model=name, counts=counts))
        return cls(levels=levels, reliability=tuple(reliability), confusion=tuple(confusion))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        reliability = [asdict(one) for one in self.reliability]
        confusion = {one.model: one.counts.tolist() for one in self.confusion}
        return {"levels": list(self.levels), "reliability": reliability, "confusion": confusion}


def _groups(name: str, y: FloatArray, p: FloatArray) -> list[Reliability]:
    likely = p.max(axis=1)
    is_right = p.argmax(axis=1) == y
    place = np.minimum((likely * BINS).astype(int), BINS - 1)
    groups = []
    for group in np.unique(place):
        rows = place == group
        groups.append(
            Reliability(
                model=name,
                predicted=float(likely[rows].mean()),
                observed=float(is_right[rows].mean()),
                rows=int(rows.sum()),
            )
        )
    return groups


def reliability_chart(details: ClassDetails) -> Any:
    """How often classes are right against how probable they were said to be."""
    names = [one.model for one in details.confusion]
    called = dict(zip(names, names_in_charts(names), strict=True))
    if len(names) > MOST_TOLD_APART:  # by colours
        called = dict.fromkeys(names, "rewards") | {EVERYBODY: EVERYBODY}
    rows = [asdict(one) | {"model": called[one.model]} for one in details.reliability]
    percent = alt.Axis(format="%")
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("predicted:Q", title="probability that was predicted", axis=percent, scale=scale)
    y = alt.Y("observed:Q", title="how often it was right", axis=percent, scale=scale)
    models = list(dict.fromkeys(called.values()))
    color = alt.Color(
        "model:N",
        title=None,
        scale=alt.Scale(domain=models, scheme="dark2"),
        legend=legend_of(models),
    )
    size = alt.Size("rows:Q", title="test rows", legend=alt.Legend(orient="right", columns=1))
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, opacity=0.8)
        .encode(x=x, y=y, color=color, size=size)
    )
    ideal = [{"predicted": 0.0, "observed": 0.0}, {"predicted": 1.0, "observed": 1.0}]
    line = alt.Chart(alt.InlineData(values=ideal)).mark_line(strokeDash=[4, 3], color="#888888")
    return (line.encode(x=x, y=y) + points).properties(width=340, height=300)
