"""What several reward files with hidden covariances tell together of one party's rows.

A file's mean mu tells, less what the attackers know themselves, the sum over the party's rows

    sum of a_k c_k,   c_k = (y_k + z_k - a_k mu) / (s2 + eta)

with z_k the noise on labels: d numbers.

- In one run recipients have different noise, so that each file has c_k of its own: T files are d T
  numbers that depend on m (p + T). The recipients here have no rows; noise on labels of their own
  would hide the party's, since they do not know that either.
- The best model has no noise, in this run and in the next. Where another's rows changed in between,
  mu is another, but y_k is not: T files are d T numbers that depend on m (p + 1).
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.realisation.disclosure import Exposure
from tests.support.reconstruction import HALF_WIDTH, best_fit, success

ONE_RUN = "one run, different noise"
TWO_RUNS = "two runs, no noise"

NOISE_VARIANCE = 0.1
KNOWN_ROWS = 40


@dataclass(frozen=True, kw_only=True)
class Files:
    """One or two files with means of d weights, and a party with m rows of p inputs."""

    how: str
    d: int
    p: int
    m: int
    files: int = 2
    seed: int = 0

    @property
    def bound(self):
        """Fewest rows for so many files."""
        exposure = Exposure(rows={}, releases={}, weights=self.d, inputs=self.p, hidden=True)
        return exposure.fewest_rows(self.files)


@dataclass(frozen=True, kw_only=True)
class Holder:
    """What the attackers have: sums over the party's rows, one of each file, and the means."""

    model: fp.SparseGaussianProcess
    sums: list
    means: list
    rows: np.ndarray


def party(name, rng, size, p):
    X = rng.uniform(-HALF_WIDTH, HALF_WIDTH, (size, p))
    return fp.Party(name, X, np.sin(2 * X).sum(axis=1) + rng.normal(0, 0.3, size))


def holder(case):
    """Two files, whether one or both are used: so that these can be compared."""
    rng = np.random.default_rng([case.d, case.p, case.m, case.seed])
    U = rng.uniform(-2, 2, (case.d, case.p))
    model = fp.SparseGaussianProcess(RBF(0.8), NOISE_VARIANCE, U)
    victim = party("b", rng, case.m, case.p)
    if case.how == ONE_RUN:
        return of_one_run(model, victim, rng)
    known = [party("a", rng, KNOWN_ROWS, case.p) for _ in range(2)]
    return of_two_runs(model, victim, known)


def of_one_run(model, victim, rng):
    nobody = np.zeros((0, victim.X.shape[1]))
    empty = [fp.Party(name, nobody, np.zeros(0)) for name in ("a", "c")]
    game = fp.InformationGain(model, [*empty, victim])
    models = fp.realise(game, np.array([0.5, 0.8, 1.0]) * game.total, rng)
    means = [reward.posterior.weights for reward in models[:2]]
    return Holder(model=model, sums=means, means=means, rows=victim.X)


def of_two_runs(model, victim, known):
    sums = []
    means = []
    for own in known:
        game = fp.InformationGain(model, [own, victim])
        mu = fp.realise(game, [game.total] * 2)[0].posterior.weights
        told = game.pool.statistics[0].told
        sums.append((mu + told.precision @ mu - told.moment) * NOISE_VARIANCE)
        means.append(mu)
    return Holder(model=model, sums=sums, means=means, rows=victim.X)


def attack(case, starts=5):
    """Rows, and what their features are multiplied by, that add up to every file's sum."""
    held = holder(case)
    m, p = held.rows.shape
    sums = held.sums[: case.files]
    sizes = [np.abs(told).max() for told in sums]
    different = case.how == ONE_RUN
    unknown = m * p + (m * case.files if different else m)

    def misfit(flat):
        A = held.model.whitened_features(flat[: m * p].reshape(m, p))
        labels = flat[m * p :].reshape(-1, m)
        differences = []
        for i, (told, size) in enumerate(zip(sums, sizes, strict=True)):
            factors = labels[i] * size if different else labels[0] - A @ held.means[i]
            differences.append((A.T @ factors - told) / size)
        return np.concatenate(differences)

    guess = best_fit(misfit, unknown, starts)[: m * p].reshape(m, p)
    return success(held.rows, guess)


def line(case, draws):
    """A line of the table in docs/privacy.md: with one file, and with both."""
    cells = [case.how, str(case.d), str(case.p), str(case.m)]
    for files in (1, 2):
        one = replace(case, files=files)
        if case.m == one.bound:
            cells[3] += f" (bound for {files})"
        successes = [attack(replace(one, seed=seed)) for seed in range(draws)]
        some = np.mean([success.some for success in successes])
        every = np.mean([success.all for success in successes])
        error = np.median([success.error for success in successes])
        cells.append(f"{some:.0%}, {every:.0%}, {error:.2f}")
    return f"| {' | '.join(cells)} |"


HEADING = (
    "| files | weights d | inputs p | rows m | one file: some, all, error | two files |\n"
    "|---|---|---|---|---|---|"
)

SIZES = {(12, 1): (3, 6, 12, 18, 36), (12, 2): (4, 6, 8, 12, 24), (24, 4): (5, 8, 10, 15, 29)}
"""Rows of the table, by d and p."""

if __name__ == "__main__":
    print(HEADING)
    for how in (ONE_RUN, TWO_RUNS):
        for (d, p), sizes in SIZES.items():
            for m in sizes:
                print(line(Files(how=how, d=d, p=p, m=m), draws=20), flush=True)
