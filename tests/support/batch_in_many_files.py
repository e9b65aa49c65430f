"""What a batch of rows tells that stands in many files, round after round, with hidden covariances.

The attackers are all others together. In every round other rows of theirs take part, or other terms
are agreed on, so that the mean mu of a new file is another one. They know all rows and noise but
the batch's, as nobody does; so each file gives them the d numbers

    sum over the batch's rows of a_k (y_k + z_k - a_k mu)

with z_k the noise on labels in that file, which is a path in its variance eta. In y_k and in the
products of features a_k these are linear: without noise, d + 1 files tell the Gram matrix of the
batch, and all their labels tell besides.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool.keyed_noise.paths import Paths
from fairpool.realisation.disclosure import Exposure
from tests.support.reconstruction import best_fit, success
from tests.support.round_series import SECRET, ids_of
from tests.support.several_files import KNOWN_ROWS, NOISE_VARIANCE, party

NO_NOISE = "none: the best model"
SAME_NOISE = "the same in every file"
OTHER_NOISE = "another in every file"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A batch of k rows of p inputs that is in so many files of a model of d weights."""

    d: int
    p: int
    k: int
    files: int
    noise: str = NO_NOISE
    seed: int = 0

    @property
    def bound(self):
        """Fewest rows of a batch that may be in so many files."""
        exposure = Exposure(rows={}, releases={}, weights=self.d, inputs=self.p, hidden=True)
        return exposure.fewest_rows(self.files)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the attackers make of their files: of each, the batch's sum and the mean."""

    model: fp.SparseGaussianProcess
    batch: fp.Party
    sums: list
    means: list


def variance(noise, number):
    """Of the noise on labels in a file."""
    if noise == NO_NOISE:
        return 0.0
    return NOISE_VARIANCE * (1.3**number if noise == OTHER_NOISE else 1.0)


def seen(case):
    """The files: the mean is trained on the colluders' rows, and on the batch's with noise."""
    rng = np.random.default_rng([case.d, case.p, case.k, case.seed])
    U = rng.uniform(-2, 2, (case.d, case.p))
    model = fp.SparseGaussianProcess(RBF(0.8), NOISE_VARIANCE, U)
    batch = party("b", rng, case.k, case.p)
    A = model.whitened_features(batch.X)
    sums, means = [], []
    for number in range(case.files):
        known = party("a", rng, KNOWN_ROWS, case.p)
        eta = variance(case.noise, number)
        z = Paths(SECRET).at(ids_of(batch), eta) if eta else np.zeros(case.k)
        B = model.whitened_features(known.X)
        weight = 1 / (NOISE_VARIANCE + eta)
        precision = np.eye(case.d) + B.T @ B / NOISE_VARIANCE + weight * A.T @ A
        moment = B.T @ known.y / NOISE_VARIANCE + weight * A.T @ (batch.y + z)
        mu = np.linalg.solve(precision, moment)
        own = np.eye(case.d) + B.T @ B / NOISE_VARIANCE
        sums.append((own @ mu - B.T @ known.y / NOISE_VARIANCE) / weight)
        means.append(mu)
    return Seen(model=model, batch=batch, sums=sums, means=means)


def attack(case, starts=5):
    """Rows and labels that all files' sums could be of."""
    told = seen(case)
    size = np.abs(told.sums).max()
    count = case.k * case.p

    def misfit(flat):
        A = told.model.whitened_features(flat[:count].reshape(case.k, case.p))
        labels = flat[count:]
        sums = [A.T @ (labels - A @ mu) for mu in told.means]
        return (np.array(sums) - told.sums).ravel() / size

    guess = best_fit(misfit, count + case.k, starts)[:count].reshape(case.k, case.p)
    return success(told.batch.X, guess)


def line(case, draws):
    """A line of the table in docs/privacy.md."""
    mark = " (the bound)" if case.k == case.bound else ""
    successes = [attack(replace(case, seed=seed)) for seed in range(draws)]
    some = np.mean([one.some for one in successes])
    every = np.mean([one.all for one in successes])
    error = np.median([one.error for one in successes])
    return (
        f"| {case.noise} | {case.d} | {case.p} | {case.k}{mark} | {case.files} | {some:.0%} |"
        f" {every:.0%} | {error:.2f} |"
    )


HEADING = (
    "| noise | weights d | inputs p | rows k | files | some rows | all rows | error / guessing |\n"
    "|---|---|---|---|---|---|---|---|"
)

SIZES = {
    (6, 1): ((10, (1, 2, 7)), (18, (2,)), (63, (7, 14))),
    (12, 2): ((12, (1, 3, 13)), (36, (3,))),
}
"""Rows and numbers of files of the table, by d and p."""

if __name__ == "__main__":
    print(HEADING)
    for noise in (NO_NOISE, SAME_NOISE, OTHER_NOISE):
        for (d, p), sizes in SIZES.items():
            for k, numbers in sizes:
                for files in numbers:
                    case = Standing(d=d, p=p, k=k, files=files, noise=noise)
                    print(line(case, draws=10), flush=True)
