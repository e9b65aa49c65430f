"""Simulated collaborations, honest ones and such with one party that is not: who is flagged?

`python -m tests.support.collaborations 200` prints the table of docs/trust.md.
"""

import sys
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.audit.evidence import judge_evidence

ATTACKED = 1
ROWS = 70


def friedman(rng, rows):
    X, y = make_friedman1(4 * rows, 6, noise=1.0, random_state=int(rng.integers(2**31)))
    return X, y


def diabetes(rng, rows):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    chosen = rng.permutation(len(y))
    return X[chosen], y[chosen]


DATA = {"friedman": friedman, "diabetes": diabetes}


def honest(rng, *, data="friedman", sizes=(ROWS, ROWS, ROWS), sorted_by=None):
    """Parties' rows: fair shares, or as in the paper neighbouring parts of a sorted column."""
    X, y = DATA[data](rng, sum(sizes))
    X, y = X[: sum(sizes)], y[: sum(sizes)]
    if sorted_by is not None:
        # Sorted with some disorder, so that parties overlap.
        order = np.argsort(
            X[:, sorted_by] + 0.3 * X[:, sorted_by].std() * rng.standard_normal(len(X))
        )
        X, y = X[order], y[order]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (y - y.mean()) / y.std()
    ends = np.cumsum(sizes)
    return [
        (X[end - size : end], y[end - size : end]) for end, size in zip(ends, sizes, strict=True)
    ]


def random_labels(rows, X, y, rng):
    return X, rng.standard_normal(len(y))


def permuted(rows, X, y, rng):
    return X, rng.permutation(y)


def reversed_labels(rows, X, y, rng):
    return X, -y


def offset(rows, X, y, rng):
    return X, y + 1


def noise_times_four(rows, X, y, rng):
    """The data's own noise variance is about a quarter (Friedman's) or half of the labels'."""
    return X, y + np.sqrt(3 * 0.25) * rng.standard_normal(len(y))


def invented(rows, X, y, rng):
    """600 rows of another party's columns, each drawn by itself."""
    others, labels = rows[0]
    made_up = np.column_stack([rng.choice(column, 600) for column in others.T])
    return made_up, rng.choice(labels, 600)


def ten_times(rows, X, y, rng):
    X = np.repeat(X, 10, axis=0)
    return X + 1e-6 * rng.standard_normal(X.shape), np.repeat(y, 10)


def wide_garbage(rows, X, y, rng):
    return 2 * rng.standard_normal((730, X.shape[1])), rng.standard_normal(730)


ATTACKS = {
    "none": None,
    "random labels": random_labels,
    "permuted labels": permuted,
    "reversed labels": reversed_labels,
    "labels off by one deviation": offset,
    "honest, four times the noise": noise_times_four,
    "600 invented rows": invented,
    "every row ten times, jittered": ten_times,
    "730 rows of wide garbage": wide_garbage,
}


def attacked(rows, attack, rng):
    rows = list(rows)
    if ATTACKS[attack] is not None:
        rows[ATTACKED] = ATTACKS[attack](rows, *rows[ATTACKED], rng)
    return rows


def learned_model(rows, points=40):
    """A sparse process, learned as a run does it: from as many rows of everybody."""
    most = max(100, int(np.median([len(y) for _, y in rows])))
    rng = np.random.default_rng(0)
    picked = []
    for X, y in rows:
        some = rng.permutation(len(y))[:most]
        picked.append((X[some], y[some]))
    X = np.concatenate([X for X, _ in picked])
    y = np.concatenate([y for _, y in picked])
    U = fp.inducing_points(X, points, rng=0)
    start = fp.SparseGaussianProcess(1.0 * RBF(np.full(X.shape[1], 3.0)), 0.5, U)
    return start.learn(X, y).model


def judged(rows, *, rng, simulations=600, model=None):
    model = model or learned_model(rows)
    parties = [fp.Party(f"p{i}", X, y) for i, (X, y) in enumerate(rows)]
    return judge_evidence(fp.EvidenceGain(model, parties), rng=rng, simulations=simulations)


@dataclass
class Rates:
    """Of some collaborations, how often the altered party and its neighbours were flagged."""

    runs: int = 0
    flagged: int = 0
    noisy: int = 0
    disputed: int = 0
    helps: int = 0
    neighbours: int = 0
    any_neighbour: int = 0

    def add(self, evidence):
        verdicts = [one.verdict for one in evidence.parties]
        others = [v for i, v in enumerate(verdicts) if i != ATTACKED]
        self.runs += 1
        self.flagged += verdicts[ATTACKED] == "harms"
        self.disputed += verdicts[ATTACKED] == "disputed"
        self.noisy += verdicts[ATTACKED] == "noisy"
        self.helps += verdicts[ATTACKED] == "helps"
        self.neighbours += sum(v == "harms" for v in others)
        self.any_neighbour += any(v == "harms" for v in others)


def rates(attack, *, runs, seed=0, **shape):
    """Over so many collaborations."""
    result = Rates()
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        rows = attacked(honest(rng, **shape), attack, rng)
        result.add(judged(rows, rng=rng))
    return result


SHAPES = {
    "Friedman, fair shares": {"data": "friedman"},
    "Friedman, sorted": {"data": "friedman", "sorted_by": 3},
    "Friedman, six parties of 35 to 140": {
        "data": "friedman",
        "sizes": (50, 70, 35, 60, 140, 50),
    },
    "diabetes, fair shares": {"data": "diabetes"},
    "diabetes, sorted by BMI": {"data": "diabetes", "sorted_by": 2},
}
"""Collaborations: whose data, how many rows each, and whether inputs differ between parties."""


def main(runs):
    for shape_name, shape in SHAPES.items():
        for attack in ATTACKS:
            r = rates(attack, runs=runs, **shape)
            print(
                f"| {shape_name} | {attack} | {r.flagged / runs:.0%} | {r.noisy / runs:.0%} |"
                f" {r.disputed / runs:.0%} | {r.helps / runs:.0%} | {r.any_neighbour / runs:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]))
