"""What a batch of rows tells that comes between two rounds, with hidden covariances and no noise.

The holder of two files has sums over the victim's rows of a_k (y_k - a_k mu), before and after k
rows came, and mu of each. Either it knows the old rows, as nobody does, and subtracts them; or it
takes the difference of the two sums, in which old rows are left with what mu has moved.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.realisation.disclosure import Exposure
from tests.support.reconstruction import best_fit, success
from tests.support.several_files import NOISE_VARIANCE, party

OLD_ROWS = 60
KNOWN_ROWS = 40


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """k rows of p inputs come, a model of d weights is released before and after."""

    d: int
    p: int
    k: int
    knows_old_rows: bool
    seed: int = 0

    @property
    def bound(self):
        """Fewest rows of a batch, if one file at a time may be held."""
        exposure = Exposure(rows={}, releases={}, weights=self.d, inputs=self.p, hidden=True)
        return exposure.fewest_rows(1)


def attack(case, starts=5):
    """Rows and labels that the batch's sum could be of."""
    rng = np.random.default_rng([case.d, case.p, case.k, case.seed])
    U = rng.uniform(-2, 2, (case.d, case.p))
    model = fp.SparseGaussianProcess(RBF(0.8), NOISE_VARIANCE, U)
    own = party("a", rng, KNOWN_ROWS, case.p)
    old = party("b", rng, OLD_ROWS, case.p)
    batch = party("b", rng, case.k, case.p)
    both = fp.Party("b", np.vstack([old.X, batch.X]), np.concatenate([old.y, batch.y]))
    sums, means = [], []
    for rows in (old, both):
        game = fp.InformationGain(model, [own, rows])
        mu = fp.realise(game, [game.total] * 2)[0].posterior.weights
        told = game.pool.statistics[0].told
        sums.append((mu + told.precision @ mu - told.moment) * NOISE_VARIANCE)
        means.append(mu)
    target = sums[1] - sums[0]
    if case.knows_old_rows:
        A = model.whitened_features(old.X)
        target = sums[1] - A.T @ (old.y - A @ means[1])
    size = np.abs(target).max()
    count = case.k * case.p

    def misfit(flat):
        A = model.whitened_features(flat[:count].reshape(case.k, case.p))
        return (A.T @ (flat[count:] - A @ means[1]) - target) / size

    guess = best_fit(misfit, count + case.k, starts)[:count].reshape(case.k, case.p)
    return success(batch.X, guess)


def line(case, draws):
    """A line of the table in docs/privacy.md."""
    mark = " (the bound)" if case.k == case.bound else ""
    cells = [str(case.d), str(case.p), f"{case.k}{mark}"]
    for knows in (True, False):
        one = replace(case, knows_old_rows=knows)
        successes = [attack(replace(one, seed=seed)) for seed in range(draws)]
        some = np.mean([success.some for success in successes])
        every = np.mean([success.all for success in successes])
        error = np.median([success.error for success in successes])
        cells.append(f"{some:.0%}, {every:.0%}, {error:.2f}")
    return f"| {' | '.join(cells)} |"


HEADING = (
    "| weights d | inputs p | rows k that come | old rows known: some, all, error | not known |\n"
    "|---|---|---|---|---|"
)

SIZES = {(12, 1): (1, 3, 6, 10, 18), (12, 2): (1, 3, 6, 12), (30, 2): (1, 3, 10, 20, 30)}
"""Rows of the table, by d and p."""

if __name__ == "__main__":
    print(HEADING)
    for (d, p), sizes in SIZES.items():
        for k in sizes:
            print(line(Arrival(d=d, p=p, k=k, knows_old_rows=True), draws=20), flush=True)
