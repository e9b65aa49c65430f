"""Simulated collaborations of classes, honest ones and such with one party that is not.

`python -m tests.support.class_collaborations 100` prints the table of docs/classification.md, in
about twenty minutes.
"""

import sys
from dataclasses import dataclass, field

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.consortium.class_example import FEATURES

ATTACKED = 1


def clusters(rng, rows):
    """Three classes around the corners of a triangle, which overlap."""
    y = rng.integers(0, 3, rows).astype(float)
    angle = 2 * np.pi * y / 3
    X = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + rng.normal(0, 0.9, X.shape), y


def breast_cancer(rng, rows):
    """The columns of `fairpool demo --classes`, of other rows each time."""
    cancer = load_breast_cancer()
    columns = [list(cancer.feature_names).index(name) for name in FEATURES]
    chosen = rng.permutation(len(cancer.target))[:rows]
    return cancer.data[chosen][:, columns], cancer.target[chosen].astype(float)


def wine(rng, rows):
    """Three classes that hardly overlap."""
    X, y = load_wine(return_X_y=True)
    chosen = rng.permutation(len(y))[:rows]
    return X[chosen], y[chosen].astype(float)


SHAPES = {
    "three clusters, 3 x 70 rows": {"data": clusters, "sizes": (70, 70, 70)},
    "three clusters, sorted": {"data": clusters, "sizes": (70, 70, 70), "sorted_by": 0},
    "three clusters, six parties of 35 to 140": {
        "data": clusters,
        "sizes": (50, 70, 35, 60, 140, 50),
    },
    "breast cancer, 3 x 90 rows": {"data": breast_cancer, "sizes": (90, 90, 90)},
    "wine, 3 x 55 rows": {"data": wine, "sizes": (55, 55, 55)},
}
"""Collaborations: whose data, how many rows each, and whether inputs differ between parties."""


def honest(rng, *, data, sizes, sorted_by=None):
    """Parties' rows: fair shares, or neighbouring parts of a sorted column, with some overlap."""
    X, y = data(rng, sum(sizes))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if sorted_by is not None:
        order = np.argsort(X[:, sorted_by] + 0.3 * rng.standard_normal(len(X)))
        X, y = X[order], y[order]
    ends = np.cumsum(sizes)
    return [
        (X[end - size : end], y[end - size : end]) for end, size in zip(ends, sizes, strict=True)
    ]


def random_labels(y, k, rng):
    return rng.integers(0, k, len(y)).astype(float)


def permuted(y, k, rng):
    return rng.permutation(y)


def exchanged(y, k, rng):
    """Every class is called like the next one."""
    return (y + 1) % k


ATTACKS = {
    "none": None,
    "random labels": random_labels,
    "permuted labels": permuted,
    "exchanged classes": exchanged,
}


def attacked(rows, attack, *, k, rng):
    rows = list(rows)
    if ATTACKS[attack] is not None:
        X, y = rows[ATTACKED]
        rows[ATTACKED] = (X, ATTACKS[attack](y, k, rng))
    return rows


def learned_model(rows, kind, k):
    """A classifier, learned from everybody's rows as in a run."""
    X = np.concatenate([X for X, _ in rows])
    y = np.concatenate([y for _, y in rows])
    base = fp.BayesianLinearRegression(1.0)
    if kind == "sparse_gp":
        U = fp.inducing_points(X, 40, rng=0)
        base = fp.SparseGaussianProcess(1.0 * RBF(np.full(X.shape[1], 3.0)), 1.0, U)
    return fp.Classifier(base, k).learn(X, y).model


@dataclass
class Rates:
    """Of some collaborations, how often the altered party and its neighbours were named.

    Attributes:
        runs: How many collaborations there were.
        harms: How often the altered party was said to harm.
        noisy: How often it was said to be noisier than the others, and not to harm.
        disputed: How often it was in a dispute with one other.
        helps: How often it was said to help.
        neighbours: How often any other party was said to harm.
        gains: Of each, what the altered party's data are worth by themselves, over what they were
            with honest labels.
    """

    runs: int = 0
    harms: int = 0
    noisy: int = 0
    disputed: int = 0
    helps: int = 0
    neighbours: int = 0
    gains: list = field(default_factory=list)

    def add(self, evidence, gain):
        verdicts = [str(one.verdict) for one in evidence.parties]
        others = verdicts[:ATTACKED] + verdicts[ATTACKED + 1 :]
        self.runs += 1
        self.harms += verdicts[ATTACKED] == "harms"
        self.noisy += verdicts[ATTACKED] == "noisy"
        self.disputed += verdicts[ATTACKED] == "disputed"
        self.helps += verdicts[ATTACKED] == "helps"
        self.neighbours += "harms" in others
        self.gains.append(gain)


def rates(attack, *, runs, kind="sparse_gp", seed=0, **shape):
    """Over so many collaborations."""
    result = Rates()
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        rows = honest(rng, **shape)
        k = int(max(y.max() for _, y in rows)) + 1
        changed = attacked(rows, attack, k=k, rng=rng)
        model = learned_model(changed, kind, k)
        parties = [fp.Party(f"p{i}", X, y) for i, (X, y) in enumerate(changed)]
        game = fp.EvidenceGain(model, [model.summarise(party) for party in parties])
        before = fp.InformationGain(model, [fp.Party("p", *rows[ATTACKED])]).total
        gain = game.information.alone[ATTACKED] / before
        result.add(fp.judge_evidence(game, rng=rng, simulations=600), gain)
    return result


def main(runs):
    for shape_name, shape in SHAPES.items():
        for attack in ATTACKS:
            for kind in ("sparse_gp", "blr"):
                r = rates(attack, runs=runs, kind=kind, **shape)
                print(
                    f"| {shape_name} | {attack} | {kind} | {r.harms / runs:.0%} |"
                    f" {r.noisy / runs:.0%} | {r.disputed / runs:.0%} | {r.helps / runs:.0%} |"
                    f" {r.neighbours / runs:.0%} | {np.mean(r.gains) - 1:+.0%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]))
