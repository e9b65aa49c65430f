"""How often the intervals of `compare_with_alone` hold, in simulated honest collaborations.

`python -m tests.support.comparison_calibration` prints the table of docs/trust.md, in two minutes.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.models import WeightPosterior, log_normal_density

INPUTS = 4
NOISE = 0.49
TEST_ROWS = 88
TRUE_ROWS = 3000
"""So many rows tell the true difference, but for an error that does not matter."""


class Draw(NamedTuple):
    """One comparison: the mean difference, its error, rows, and the true difference."""

    difference: float
    error: float
    rows: int
    truth: float


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Of many comparisons, how often the 95% interval holds, and how words go wrong."""

    draws: list[Draw]

    @property
    def coverage(self):
        return np.mean([abs(d.difference - d.truth) < self._half(d) for d in self.draws])

    @property
    def bias(self):
        return np.mean([d.difference - d.truth for d in self.draws])

    @property
    def mean_error(self):
        return np.mean([d.error for d in self.draws])

    @property
    def decided(self):
        """How often one was called better, or worse."""
        return np.mean([abs(d.difference) > self._half(d) for d in self.draws])

    @property
    def wrong(self):
        """How often one was called better that is worse, or the other way round."""
        return np.mean(
            [abs(d.difference) > self._half(d) and d.difference * d.truth < 0 for d in self.draws]
        )

    @staticmethod
    def _half(draw):
        return student.ppf(0.975, draw.rows - 1) * draw.error


def simulated(rows, seed):
    """Three honest parties, apart in the first input in every other draw; test rows; true rows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (3 * rows + TEST_ROWS + TRUE_ROWS, INPUTS))
    # A draw of the process itself, by random features.
    directions = rng.standard_normal((60, INPUTS)) / 0.67
    waves = np.cos(X @ directions.T + rng.uniform(0, 2 * np.pi, 60))
    f = waves @ rng.standard_normal(60) * np.sqrt(2 / 60)
    y = f + np.sqrt(NOISE) * rng.standard_normal(len(X))
    order = np.arange(3 * rows)
    if seed % 2:
        order = np.argsort(X[: 3 * rows, 0])
    parties = [
        fp.Party(f"p{i}", X[order[i * rows : (i + 1) * rows]], y[order[i * rows : (i + 1) * rows]])
        for i in range(3)
    ]
    rest = slice(3 * rows, 3 * rows + TEST_ROWS), slice(3 * rows + TEST_ROWS, None)
    return parties, (X[rest[0]], y[rest[0]]), (X[rest[1]], y[rest[1]])


def by_file_alone(posterior):
    """The reward as its recipient has it: without the precision that it was trained with."""
    assert isinstance(posterior, WeightPosterior)
    return replace(posterior, trained_factor=None)


class Reward(NamedTuple):
    posterior: WeightPosterior


def truth_of(alone, reward, X, y):
    difference = log_normal_density(y, *reward.predict(X)) - log_normal_density(
        y, *alone.predict(X)
    )
    return float(difference.mean())


def calibrate(rows, draws):
    """By what was predicted: test rows, own rows, and own rows as the file alone would have it."""
    found = {"test rows": [], "own rows": [], "own rows, by the file alone": []}
    for seed in range(draws):
        parties, test, true = simulated(rows, seed)
        U = fp.inducing_points(np.vstack([p.X for p in parties]), 30, rng=0)
        model = fp.SparseGaussianProcess(1.0 * RBF([0.67] * INPUTS), NOISE, U)
        result = fp.collaborate(parties, model, rho="stable", rng=seed)
        game, models = result.game, result.models
        compared = fp.compare_with_alone(game, models, *test)
        flattered = fp.compare_with_alone(
            game, [Reward(by_file_alone(model.posterior)) for model in models]
        )
        for i, party in enumerate(parties):
            if models[i].tau == 0:
                continue
            alone = game.posterior([i])
            near = (true[0][:, 0] >= party.X[:, 0].min()) & (true[0][:, 0] <= party.X[:, 0].max())
            everywhere = truth_of(alone, models[i], *true)
            where_own = truth_of(alone, models[i], true[0][near], true[1][near])
            for name, how, truth in (
                ("test rows", compared[i].test, everywhere),
                ("own rows", compared[i].own_rows, where_own),
                ("own rows, by the file alone", flattered[i].own_rows, where_own),
            ):
                d = how.log_density
                found[name].append(Draw(d.difference, d.standard_error, d.rows, truth))
    return {name: Calibration(draws=of_name) for name, of_name in found.items()}


def main():
    print(
        "| rows of each party | predicted | coverage of 95% | bias | standard error | better or"
        " worse | wrongly |"
    )
    print("|---|---|---|---|---|---|---|")
    for rows in (30, 70, 200):
        for name, c in calibrate(rows, 100).items():
            print(
                f"| {rows} | {name} | {c.coverage:.0%} | {c.bias:+.3f} | {c.mean_error:.3f} |"
                f" {c.decided:.0%} | {c.wrong:.1%} |"
            )


if __name__ == "__main__":
    main()
