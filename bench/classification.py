"""Measures what docs/classification.md says: `python -m bench.classification`, about two minutes.

Three data sets of scikit-learn, against its GaussianProcessClassifier (a Laplace approximation, one
class against all others), which is no part of fairpool otherwise; and what rewards are good for as
they grow. Prints tables, and writes docs/classification/rewards.svg.
"""

from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import fairpool as fp
from fairpool.tables.arrays import FloatArray
from fairpool.targets.classes import calibration_error

FIGURE = Path("docs/classification/rewards.svg")
SPLITS = 3


def standardised(load: Any, rows: int | None = None) -> tuple[FloatArray, FloatArray]:
    """Inputs with mean 0 and deviation 1, and classes."""
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(y))[:rows]
    X = X[chosen]
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), y[chosen].astype(float)


def score(y: FloatArray, p: FloatArray) -> FloatArray:
    """Log loss, share of wrong classes, calibration error."""
    given = np.maximum(p[np.arange(len(y)), y.astype(int)], 1e-12)
    wrong = np.mean(p.argmax(axis=1) != y)
    return np.array([-np.mean(np.log(given)), wrong, calibration_error(y, p)])


def compare(name: str, load: Any, *, rows: int | None, kernel: Any, learn: bool) -> None:
    """One line per model, means over splits into two thirds and one."""
    X, y = standardised(load, rows)
    k = len(np.unique(y))
    found: dict[str, list[FloatArray]] = {}
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(y))
        train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
        optimizer = "fmin_l_bfgs_b" if learn else None
        theirs = GaussianProcessClassifier(kernel, optimizer=optimizer, random_state=0)
        theirs.fit(X[train], y[train])
        found.setdefault("scikit-learn", []).append(score(y[test], theirs.predict_proba(X[test])))
        for blind in (False, True):
            model = fp.Classifier(fp.GaussianProcess(kernel, 1.0), k, label_blind=blind)
            if learn:
                model = model.fit_hyperparameters(X[train], y[train])
            p, _ = model.posterior(X[train], y[train]).predict(X[test])
            title = "fairpool, label_blind" if blind else "fairpool"
            found.setdefault(title, []).append(score(y[test], p))
    for title, scores in found.items():
        log_loss, wrong, calibration = np.mean(scores, axis=0)
        print(f"| {name} | {title} | {log_loss:.3f} | {wrong:.3f} | {calibration:.3f} |")


def rewards_as_they_grow() -> None:
    """What a party's reward is good for, from its own data to everybody's; and the figure."""
    X, y = standardised(load_breast_cancer)
    U = fp.inducing_points(X, 25, rng=0)
    base = fp.SparseGaussianProcess(ConstantKernel(4.0) * RBF(5.0), 1.0, U)
    model = fp.Classifier(base, 2).fit_hyperparameters(X, y)
    rows = []
    for split in range(6):
        order = np.random.default_rng(split).permutation(len(y))
        test, own, others = order[:200], order[200:225], order[225:]
        parties = [
            fp.Party("own", X[own], y[own]),
            fp.Party("b", X[others[::2]], y[others[::2]]),
            fp.Party("c", X[others[1::2]], y[others[1::2]]),
        ]
        game = fp.InformationGain(model, parties)
        for share in np.linspace(0, 1, 11):
            rewards = np.full(3, game.total)
            rewards[0] = game.alone[0] + share * (game.total - game.alone[0])
            reward = fp.realise(game, rewards, split, draws=20)[0]
            p, _ = reward.predict(X[test])
            draws = [score(y[test], p[:, :, draw])[0] for draw in range(p.shape[2])]
            rows.append({"share": float(share), "log_loss": float(np.mean(draws)), "split": split})
    for share in sorted({row["share"] for row in rows}):
        mean = np.mean([row["log_loss"] for row in rows if row["share"] == share])
        print(f"| {share:.0%} | {mean:.3f} |")
    base_chart = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("share:Q", title="share of what others add", axis=alt.Axis(format="%"))
    )
    lines = base_chart.mark_line(opacity=0.25).encode(
        y=alt.Y("log_loss:Q", title="log loss on test rows"), detail="split:N"
    )
    mean = base_chart.mark_line(strokeWidth=3, point=True).encode(y="mean(log_loss):Q")
    FIGURE.parent.mkdir(exist_ok=True)
    (lines + mean).properties(width=420, height=260).save(FIGURE)


def main() -> None:
    """All of it."""
    kernel = ConstantKernel(4.0) * RBF(5.0)
    compare("breast cancer", load_breast_cancer, rows=None, kernel=kernel, learn=True)
    compare("wine", load_wine, rows=None, kernel=kernel, learn=True)
    fixed = ConstantKernel(20.0) * RBF(8.0)
    compare("digits, 600 rows", load_digits, rows=600, kernel=fixed, learn=False)
    rewards_as_they_grow()


if __name__ == "__main__":
    main()
