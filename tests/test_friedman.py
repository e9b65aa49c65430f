"""The paper's first experiment (Sec. 5, App. E.1): three parties of 250 points of the Friedman
function.
"""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp


def friedman_parties(seed):
    rng = np.random.default_rng(seed)
    parties = []
    for low, high in ((0, 1), (0, 0.5), (0.5, 1)):
        X = rng.uniform(0, 1, (250, 6))
        X[:, 0] = rng.uniform(low, high, 250)
        y = (
            10 * np.sin(np.pi * X[:, 0] * X[:, 1])
            + 20 * (X[:, 2] - 0.5) ** 2
            + 10 * X[:, 3]
            + 5 * X[:, 4]
        )
        parties.append((X, y + rng.standard_normal(250)))
    pooled = np.concatenate([y for _, y in parties])
    return [
        fp.Party(str(i + 1), X, (y - pooled.mean()) / pooled.std())
        for i, (X, y) in enumerate(parties)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_friedman_as_in_the_paper(seed):
    """The paper: phi = 34.57, 29.24, 30.78, so v_N = 94.59; rho_r >= 1; rho_s < 1."""
    parties = friedman_parties(seed)
    X, y = np.concatenate([p.X for p in parties]), np.concatenate([p.y for p in parties])
    model = fp.GaussianProcess(1.0 * RBF(np.ones(6)), 0.1).fit_hyperparameters(X, y)
    result = fp.collaborate(parties, model, rho="stable")
    assert 85 < result.game.total < 100
    assert np.argmax(result.contributions.values) == 0
    assert result.scheme.rho_rational > 1
    assert result.scheme.rho_stable < 1
    assert result.incentives["R6"].holds
