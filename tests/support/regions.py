"""How well a hidden covariance covers labels, region by region, beside the full one.

`python -m tests.support.regions` prints the table of docs/privacy.md, in a minute or two.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import fairpool as fp

REGIONS = ("own", "others", "nobody")
"""Quarters of a column: the recipient has the first, two others the next ones, nobody the last."""

WEIGHTS = 40
TRAINING = 0.7
Z_95 = 1.96


@dataclass(frozen=True, kw_only=True)
class Score:
    """Of test rows, the share within the 95% interval, and MNLP."""

    coverage: float
    mnlp: float


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def data_sets():
    """Each with the column that parties are split by."""
    diabetes = load_diabetes(scaled=False)
    X, y = make_friedman1(800, n_features=6, noise=1.0, random_state=0)
    sets = {
        "diabetes (by BMI)": (standardised(diabetes.data), standardised(diabetes.target), 2),
        "Friedman (by the fourth input)": (standardised(X), standardised(y), 3),
    }
    file = Path(os.environ.get("FAIRPOOL_DATA", "")) / "california_housing.csv"
    if file.is_file():
        rows = np.loadtxt(file, delimiter=",", skiprows=1)
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:1600]]
        # Of a few districts whose averages are out of all bounds, the logarithm is not.
        X = np.column_stack([np.log1p(rows[:, :6]), rows[:, 6:8]])
        sets["California (by latitude)"] = (standardised(X), standardised(rows[:, 8]), 6)
    return sets


def scores(X, y, column, seed, share=0.5):
    """By covariance and region."""
    rng = np.random.default_rng(seed)
    quarters = np.array_split(np.argsort(X[:, column]), 4)
    training, testing = [], []
    for quarter in quarters:
        mixed = rng.permutation(quarter)
        cut = int(TRAINING * len(mixed))
        training.append(mixed[:cut])
        testing.append(mixed[cut:])
    pool = np.concatenate(training[:3])
    U = fp.inducing_points(X[pool], WEIGHTS, rng=0)
    kernel = ConstantKernel(1.0) * RBF(np.full(X.shape[1], 3.0))
    model = fp.SparseGaussianProcess(kernel, 0.3, U).fit_hyperparameters(X[pool], y[pool], rng=0)
    parties = [fp.Party(f"p{k}", X[rows], y[rows]) for k, rows in enumerate(training[:3])]
    game = fp.InformationGain(model, parties)
    rewards = game.alone + share * (game.total - game.alone)
    regions = {
        "all with data": np.concatenate(testing[:3]),
        "own": testing[0],
        "others": np.concatenate(testing[1:3]),
        "nobody": testing[3],
    }
    made = {}
    for covariance in ("full", "hidden"):
        reward = fp.realise(game, rewards, seed, covariance=covariance)[0]
        for region, rows in regions.items():
            made[covariance, region] = _score(reward, X[rows], y[rows])
    return made


def _score(reward, X, y):
    mean, variance = reward.predict(X)
    inside = np.abs(y - mean) <= Z_95 * np.sqrt(variance)
    return Score(coverage=float(inside.mean()), mnlp=float(fp.mnlp(y, mean, variance)))


def averages(drawn):
    """Over some draws, each with noise of its own."""
    mean = {}
    for key in drawn[0]:
        mean[key] = Score(
            coverage=float(np.mean([one[key].coverage for one in drawn])),
            mnlp=float(np.mean([one[key].mnlp for one in drawn])),
        )
    return mean


def narrow_box(seed, share=0.5):
    """Where nothing fits: the others' rows in one corner, inducing points and so M everywhere."""
    rng = np.random.default_rng(seed)
    U = np.stack(np.meshgrid(np.linspace(-2, 2, 7), np.linspace(-2, 2, 6)), axis=-1).reshape(-1, 2)
    model = fp.SparseGaussianProcess(RBF(0.8), 0.1, U)

    def rows(low, high, size):
        X = rng.uniform(low, high, (size, 2))
        return X, np.sin(2 * X).sum(axis=1) + rng.normal(0, 0.1**0.5, size)

    places = {
        "own": ([-2, -2], [-1, 2]),
        "others": ([0.9, 0.9], [1.2, 1.2]),
        "nobody": ([-0.5, -2], [2, 0]),
    }
    own = fp.Party("p0", *rows(*places["own"], 60))
    others = fp.Party("p1", *rows(*places["others"], 300))
    game = fp.InformationGain(model, [own, others])
    rewards = game.alone + share * (game.total - game.alone)
    made = {}
    tests = {region: rows(*place, 200) for region, place in places.items()}
    both = [tests["own"], tests["others"]]
    tests["all with data"] = (
        np.vstack([X for X, _ in both]),
        np.concatenate([y for _, y in both]),
    )
    for covariance in ("full", "hidden"):
        reward = fp.realise(game, rewards, seed, covariance=covariance)[0]
        for region, (X, y) in tests.items():
            made[covariance, region] = _score(reward, X, y)
    return made


HEADING = (
    "| data | region | coverage, full | hidden | MNLP, full | hidden |\n|---|---|---|---|---|---|"
)


def lines(name, mean):
    for region in ("all with data", *REGIONS):
        full, hidden = mean["full", region], mean["hidden", region]
        yield (
            f"| {name} | {region} | {full.coverage:.1%} | {hidden.coverage:.1%} |"
            f" {full.mnlp:.3f} | {hidden.mnlp:.3f} |"
        )


if __name__ == "__main__":
    print(HEADING)
    for name, (X, y, column) in data_sets().items():
        drawn = [scores(X, y, column, seed) for seed in range(10)]
        print(*lines(name, averages(drawn)), sep="\n", flush=True)
    print(
        *lines("made up, others in a corner", averages([narrow_box(k) for k in range(10)])),
        sep="\n",
    )
