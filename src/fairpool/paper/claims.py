"""What the paper says of each figure, and what came out here."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fairpool.paper.rows import Rows, column, where
from fairpool.tables.arrays import FloatArray

POSITIVE_OF_750 = {"fig3": 631, "fig3-fixed": 631, "fig9": 388, "fig9-fixed": 388}
"""The points with positive improvement in MNLP at rho = 0.5, where the paper counts them."""

LARGEST_IMPROVEMENT = {"fig8": 1.0, "fig10": 0.2}
"""The largest maximal improvement in MNLP, where the paper states it."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One line of the table.

    Attributes:
        figure: Where the paper shows it.
        text: The claim.
        paper: The paper's number, in words.
        ours: Ours, in words.
        agrees: Whether they do.
    """

    figure: str
    text: str
    paper: str
    ours: str
    agrees: bool


def scatter_claims(figure: str, rows: Rows) -> list[Claim]:
    """Counts of positive improvement, and more points at rho = 0.5."""
    claims = [_positive_improvement(figure, rows), _more_rational_points(figure, rows)]
    if figure in LARGEST_IMPROVEMENT:
        claims.append(_largest_improvement(figure, rows))
    if figure == "fig6":
        claims.append(_sampling_error(figure, rows))
    return claims


def _positive_improvement(figure: str, rows: Rows) -> Claim:
    count = _count(rows, 0.5)
    share = count.positive / max(count.total, 1)
    if figure in POSITIVE_OF_750:
        positive = POSITIVE_OF_750[figure]
        paper = f"{positive} of 750 ({positive / 750:.0%})"
        agrees = abs(share - positive / 750) < 0.05
    elif figure == "fig5":
        paper = "usually positive, negative around 15% of the time"
        agrees = abs(share - 0.85) < 0.05
    else:
        paper = "usually positive"
        agrees = share > 0.5
    return Claim(
        figure=figure,
        text="positive improvement in MNLP at ρ = 0.5",
        paper=paper,
        ours=f"{count.positive} of {count.total} ({share:.0%})",
        agrees=agrees,
    )


def _more_rational_points(figure: str, rows: Rows) -> Claim:
    # The figures show only the points that satisfy individual rationality.
    at_1 = _count(rows, 1.0).total
    at_half = _count(rows, 0.5).total
    return Claim(
        figure=figure,
        text="more points satisfy individual rationality at ρ = 0.5 than at 1",
        paper="more",
        ours=f"{at_half} against {at_1}",
        agrees=at_half > at_1,
    )


def _largest_improvement(figure: str, rows: Rows) -> Claim:
    expected = LARGEST_IMPROVEMENT[figure]
    largest = max(column(rows, "mnlp_most"), default=0.0)
    return Claim(
        figure=figure,
        text="largest maximal improvement in MNLP",
        paper=f"around {expected}",
        ours=f"{largest:.2f}",
        agrees=abs(largest - expected) <= 0.5 * expected,
    )


def _sampling_error(figure: str, rows: Rows) -> Claim:
    exact = np.array(column(rows, "shapley"))
    error = np.abs(np.array(column(rows, "shapley_sampled")) - exact)
    size = float(exact.mean())
    return Claim(
        figure=figure,
        text="3000 sampled permutations approximate the exact Shapley values",
        paper="not stated",
        ours=f"off by {error.mean():.2f} on average and {error.max():.2f} at most, of {size:.1f}",
        agrees=bool(error.mean() < 0.05 * size),
    )


class _Count(NamedTuple):
    """How many points improve in MNLP, and how many there are."""

    positive: int
    total: int


def _count(rows: Rows, rho: float) -> _Count:
    improvements = column(where(rows, rho=rho), "mnlp")
    positive = sum(improvement > 0 for improvement in improvements)
    return _Count(positive=positive, total=len(improvements))


def suitability_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 9: an unsuitable model improves less often."""
    of_unsuitable = where(rows, suitable=False)
    suitable = _count(where(rows, suitable=True), 0.5).positive
    unsuitable = _count(of_unsuitable, 0.5).positive
    fewer = Claim(
        figure=figure,
        text="fewer positive improvements at ρ = 0.5 with the unsuitable model",
        paper="388 against 631",
        ours=f"{unsuitable} against {suitable}",
        agrees=unsuitable < suitable,
    )
    return [*scatter_claims(figure, of_unsuitable), fewer]


def along_rho_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 2's statements."""
    of_party = {i: where(rows, party=i) for i in (1, 2, 3)}
    total = rows[0]["total"]
    rho_rational = rows[0]["rho_rational"]
    phi = [of_party[i][0]["shapley"] for i in (1, 2, 3)]
    rewards_1 = column(of_party[1], "reward")
    change = max(rewards_1) - min(rewards_1)
    # Party 1 contributes most and has the best model at every rho, whose MNLP does not change.
    falls = True
    for i in (2, 3):
        falls &= _falls(column(of_party[i], "rho"), column(of_party[i], "mnlp"))
    second = int(np.argsort(phi)[1]) + 1
    return [
        Claim(
            figure=figure,
            text="Shapley values of the three parties, party 1's the largest",
            paper="34.57, 29.24, 30.78",
            ours=", ".join(f"{p:.2f}" for p in phi),
            agrees=int(np.argmax(phi)) == 0,
        ),
        Claim(
            figure=figure,
            text="party 1's reward does not depend on ρ",
            paper="constant",
            ours=f"changes by {change:.1e}",
            agrees=change < 1e-6 * total,
        ),
        Claim(
            figure=figure,
            text="individually rational at every ρ",
            paper="ρ_r ≥ 1",
            ours=f"ρ_r = {rho_rational:.3f}",
            agrees=rho_rational >= 1,
        ),
        _equal_at_rho_stable(figure, of_party[second], second),
        Claim(
            figure=figure,
            text="MNLP falls as ρ falls",
            paper="falls",
            ours="falls" if falls else "does not",
            agrees=falls,
        ),
    ]


def _equal_at_rho_stable(figure: str, rows: Rows, party: int) -> Claim:
    """What the paper says of the second largest contributor, whose rows these are."""
    rho_stable = rows[0]["rho_stable"]
    ours = f"ρ_s = {rho_stable:.3f} > 1"
    agrees = False
    for row in rows:
        if abs(row["rho"] - rho_stable) < 1e-9:
            ours = f"party {party}'s: {row['reward']:.3f} and {row['value_23']:.3f}"
            agrees = abs(row["reward"] - row["value_23"]) < 1e-6 * row["total"]
            break
    return Claim(
        figure=figure,
        text=(
            "at ρ_s the reward of the second largest contributor equals"
            " the value of parties 2 and 3 together"
        ),
        paper="party 3's",
        ours=ours,
        agrees=agrees,
    )


def _falls(rhos: list[float], values: list[float]) -> bool:
    """Whether values fall as rho falls, on the whole: their rank correlation is above 0.9."""
    points = np.column_stack([rhos, values])
    ranks = np.argsort(np.argsort(points, axis=0), axis=0)
    return _correlation(ranks[:, 0], ranks[:, 1]) > 0.9


def overview_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 1: stability implies rationality, and welfare rises as rho falls."""
    implied = all(column(where(rows, stable=True), "rational"))
    at_each_rho = where(rows, party=1)
    # Welfare rises where its negative falls.
    minus_welfare = [-welfare for welfare in column(at_each_rho, "welfare")]
    rises = _falls(column(at_each_rho, "rho"), minus_welfare)
    return [
        Claim(
            figure=figure,
            text="stability implies individual rationality",
            paper="implies",
            ours="implies" if implied else "does not",
            agrees=implied,
        ),
        Claim(
            figure=figure,
            text="group welfare rises as ρ falls",
            paper="rises",
            ours="rises" if rises else "does not",
            agrees=rises,
        ),
    ]


def valuation_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 11: MNLP-based values spread with the validation set, and far data is valued lower."""
    claims = []
    for model in dict.fromkeys(column(rows, "model")):
        of_model = where(rows, model=model)
        claims.append(_spread(figure, model, of_model))
        claims.append(_lower_where_far(figure, model, of_model))
    return claims


def _spread(figure: str, model: str, rows: Rows) -> Claim:
    values_of: dict[tuple[int, int], list[float]] = defaultdict(list)
    for row in rows:
        values_of[row["partition"], row["party"]].append(row["shapley_mnlp"])
    spreads = []
    for values in values_of.values():
        width = max(values) - min(values)
        spreads.append(width / abs(np.mean(values)))
    spread = float(np.mean(spreads))
    return Claim(
        figure=figure,
        text=(
            f"{model}: MNLP-based Shapley values vary with the validation set"
            " (IG-based ones do not)"
        ),
        paper="large spread",
        ours=f"a party's largest exceeds its smallest by {spread:.0%} of its mean",
        agrees=spread > 0.1,
    )


def _lower_where_far(figure: str, model: str, rows: Rows) -> Claim:
    """Within each party: do validation sets farther from its data value it lower than nearer ones?

    Its own means are taken off first, so that large and small parties can be looked at together.
    """
    # A party of one partition is another than that of the next.
    party = list(zip(column(rows, "partition"), column(rows, "party"), strict=True))
    distances = _centred(column(rows, "distance"), party)
    values = _centred(column(rows, "shapley_mnlp"), party)
    correlation = _correlation(distances, values)
    return Claim(
        figure=figure,
        text=f"{model}: a party is valued lower by validation sets far from its data",
        paper="lower",
        ours=f"correlation with distance {correlation:.2f}",
        agrees=correlation < -0.1,
    )


def _centred(numbers: list[float], groups: list[tuple[int, int]]) -> FloatArray:
    """Each number less the mean of its group."""
    centred = np.array(numbers)
    for group in dict.fromkeys(groups):
        own = np.array([other == group for other in groups])
        centred[own] -= centred[own].mean()
    return centred


def _correlation(a: Any, b: Any) -> float:
    return float(np.asarray(np.corrcoef(a, b))[0, 1])
