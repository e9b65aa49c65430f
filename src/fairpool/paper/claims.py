"""What the paper says of each figure, and what came out here."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
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
    counts = {rho: _count(rows, rho) for rho in (1.0, 0.5)}
    (_, all_1), (positive, total) = counts[1.0], counts[0.5]
    more = Claim(
        figure,
        "more points satisfy individual rationality at ρ = 0.5 than at 1",
        "more",
        f"{total} against {all_1}",
        total > all_1,
    )
    share = positive / max(total, 1)
    known = {"fig3": 631, "fig3-fixed": 631, "fig9": 388, "fig9-fixed": 388}
    if figure in known:
        paper = f"{known[figure]} of 750 ({known[figure] / 750:.0%})"
        agrees = abs(share - known[figure] / 750) < 0.05
    else:
        paper, agrees = (
            "usually positive" + (", negative around 15% of the time" if figure == "fig5" else ""),
            share > 0.5,
        )
        agrees = abs(share - 0.85) < 0.05 if figure == "fig5" else agrees
    claims = [
        Claim(
            figure,
            "positive improvement in MNLP at ρ = 0.5",
            paper,
            f"{positive} of {total} ({share:.0%})",
            agrees,
        ),
        more,
    ]
    best = max((row["mnlp_most"] for row in rows), default=0.0)
    if figure in ("fig8", "fig10"):
        expected = 1.0 if figure == "fig8" else 0.2
        near = abs(best - expected) <= 0.5 * expected
        claims.append(
            Claim(
                figure,
                "largest maximal improvement in MNLP",
                f"around {expected}",
                f"{best:.2f}",
                near,
            )
        )
    if figure == "fig6":
        gap = np.abs([row["shapley_sampled"] - row["shapley"] for row in rows])
        size = float(np.mean([row["shapley"] for row in rows]))
        claims.append(
            Claim(
                figure,
                "3000 sampled permutations approximate the exact Shapley values",
                "not stated",
                f"off by {gap.mean():.2f} on average and {gap.max():.2f} at most, of {size:.1f}",
                bool(gap.mean() < 0.05 * size),
            )
        )
    return claims


def _count(rows: Rows, rho: float) -> tuple[int, int]:
    at = [row for row in rows if row["rho"] == rho]
    return sum(row["mnlp"] > 0 for row in at), len(at)


def suitability_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 9: an unsuitable model improves less often."""
    suitable, unsuitable = (
        _count([row for row in rows if row["suitable"] is s], 0.5)[0] for s in (True, False)
    )
    fewer = Claim(
        figure,
        "fewer positive improvements at ρ = 0.5 with the unsuitable model",
        "388 against 631",
        f"{unsuitable} against {suitable}",
        unsuitable < suitable,
    )
    return [*scatter_claims(figure, [row for row in rows if not row["suitable"]]), fewer]


def along_rho_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 2's statements."""
    first = {i: [row for row in rows if row["party"] == i] for i in (1, 2, 3)}
    phi = [first[i][0]["shapley"] for i in (1, 2, 3)]
    total, rational, stable = (rows[0][k] for k in ("total", "rho_rational", "rho_stable"))
    constant = max(row["reward"] for row in first[1]) - min(row["reward"] for row in first[1])
    second = int(np.argsort(phi)[1]) + 1
    at = next((row for row in first[second] if abs(row["rho"] - stable) < 1e-9), None)
    falls = all(_falls([(row["rho"], row["mnlp"]) for row in first[i]]) for i in (2, 3))
    return [
        Claim(
            figure,
            "Shapley values of the three parties, party 1's the largest",
            "34.57, 29.24, 30.78",
            ", ".join(f"{p:.2f}" for p in phi),
            int(np.argmax(phi)) == 0,
        ),
        Claim(
            figure,
            "party 1's reward does not depend on ρ",
            "constant",
            f"changes by {constant:.1e}",
            constant < 1e-6 * total,
        ),
        Claim(
            figure,
            "individually rational at every ρ",
            "ρ_r ≥ 1",
            f"ρ_r = {rational:.3f}",
            rational >= 1,
        ),
        Claim(
            figure,
            "at ρ_s the reward of the second largest contributor equals the value of parties 2 and"
            " 3 together",
            "party 3's",
            f"party {second}'s: {at['reward']:.3f} and {at['value_23']:.3f}"
            if at
            else f"ρ_s = {stable:.3f} > 1",
            bool(at and abs(at["reward"] - at["value_23"]) < 1e-6 * total),
        ),
        Claim(figure, "MNLP falls as ρ falls", "falls", "falls" if falls else "does not", falls),
    ]


def _falls(points: list[tuple[float, float]]) -> bool:
    """Whether the second goes up with the first, on the whole (its rank correlation is above 0.9)."""
    ranks = np.argsort(np.argsort(np.array(points), axis=0), axis=0)
    return _correlation(ranks[:, 0], ranks[:, 1]) > 0.9


def overview_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 1: stability implies rationality, and welfare rises as rho falls."""
    implied = all(row["rational"] for row in rows if row["stable"])
    welfare = [(row["rho"], -row["welfare"]) for row in rows if row["party"] == 1]
    return [
        Claim(
            figure,
            "stability implies individual rationality",
            "implies",
            "implies" if implied else "does not",
            implied,
        ),
        Claim(
            figure,
            "group welfare rises as ρ falls",
            "rises",
            "rises" if _falls(welfare) else "does not",
            _falls(welfare),
        ),
    ]


def valuation_claims(figure: str, rows: Rows) -> list[Claim]:
    """Fig. 11: MNLP-based values spread with the validation set, and far data is valued lower."""
    claims = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        groups: dict[tuple[int, int], list[float]] = defaultdict(list)
        for row in own:
            groups[row["partition"], row["party"]].append(row["shapley_mnlp"])
        spread = float(
            np.mean(
                [(max(values) - min(values)) / abs(np.mean(values)) for values in groups.values()]
            )
        )
        # Within each party: do validation sets farther from its data value it lower than nearer
        # ones?
        far = np.array([row["distance"] for row in own])
        value = np.array([row["shapley_mnlp"] for row in own])
        member = [(row["partition"], row["party"]) for row in own]
        for group in groups:
            rows_of = np.array([m == group for m in member])
            far[rows_of] -= far[rows_of].mean()
            value[rows_of] -= value[rows_of].mean()
        near = _correlation(far, value)
        claims += [
            Claim(
                figure,
                f"{model}: MNLP-based Shapley values vary with the validation set (IG-based ones do"
                " not)",
                "large spread",
                f"a party's largest exceeds its smallest by {spread:.0%} of its mean",
                spread > 0.1,
            ),
            Claim(
                figure,
                f"{model}: a party is valued lower by validation sets far from its data",
                "lower",
                f"correlation with distance {near:.2f}",
                near < -0.1,
            ),
        ]
    return claims


def _correlation(a: Any, b: Any) -> float:
    return float(np.asarray(np.corrcoef(a, b))[0, 1])
