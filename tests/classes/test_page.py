"""What docs/classification.md says was measured, on one split each."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import fairpool as fp
from bench.classification import score, standardised

KERNEL = ConstantKernel(4.0) * RBF(5.0)
FIXED = ConstantKernel(20.0) * RBF(8.0)


@pytest.mark.parametrize(
    ("load", "rows", "kernel", "learn"),
    [
        (load_breast_cancer, None, KERNEL, True),
        (load_wine, None, KERNEL, True),
        (load_digits, 600, FIXED, False),
    ],
)
def test_log_loss_beside_a_laplace_approximation(
    load: Any, rows: int | None, kernel: Any, learn: bool
) -> None:
    X, y = standardised(load, rows)
    train, test = slice(0, 2 * len(y) // 3), slice(2 * len(y) // 3, None)
    theirs = GaussianProcessClassifier(kernel, optimizer="fmin_l_bfgs_b" if learn else None)
    theirs.fit(X[train], y[train])
    reference = score(y[test], theirs.predict_proba(X[test]))
    for blind in (False, True):
        base = fp.GaussianProcess(kernel, 1.0)
        model = fp.Classifier(base, len(np.unique(y)), label_blind=blind)
        if learn:
            model = model.fit_hyperparameters(X[train], y[train])
        p, _ = model.posterior(X[train], y[train]).predict(X[test])
        ours = score(y[test], p)
        assert ours[0] <= max(1.1 * reference[0], reference[0] + 0.02)
        assert ours[2] <= reference[2] + 0.02


def test_log_loss_falls_steadily_as_the_reward_grows() -> None:
    X, y = standardised(load_breast_cancer)
    U = fp.inducing_points(X, 25, rng=0)
    model = fp.Classifier(fp.SparseGaussianProcess(KERNEL, 1.0, U), 2).fit_hyperparameters(X, y)
    losses = np.zeros(6)
    for split in range(3):
        order = np.random.default_rng(split).permutation(len(y))
        test, own, others = order[:200], order[200:225], order[225:]
        parties = [fp.Party("own", X[own], y[own]), fp.Party("others", X[others], y[others])]
        game = fp.InformationGain(model, parties)
        for place, share in enumerate(np.linspace(0, 1, 6)):
            rewards = game.alone + share * (game.total - game.alone)
            reward = fp.realise(game, rewards, split, draws=20)[0]
            p, _ = reward.predict(X[test])
            draws = [score(y[test], p[:, :, draw])[0] for draw in range(p.shape[2])]
            losses[place] += np.mean(draws) / 3
    assert (np.diff(losses) < 1e-3).all()
    assert losses[-1] < 0.75 * losses[0]
