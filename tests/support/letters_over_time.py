"""What the numbers in letters of many rounds tell of one party's rows, without any file.

The attackers are all others together. In every round other rows of theirs take part, which they
make up. Nothing is sent to whose own rows alone changed, but a letter says what all data are worth,

    v_N  =  1/2 log |I + P + A^T A / s2|

with P their own precision, which they know, and A the features of the party's rows: one equation
for its inputs in every round.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from tests.support.reconstruction import HALF_WIDTH, best_fit, success, together_by_chance
from tests.support.several_files import NOISE_VARIANCE, party

PLACES, ROWS_AT_EACH = 3, 10
"""Of the attackers' rows in a round."""


@dataclass(frozen=True, kw_only=True)
class Letters:
    """Letters of so many rounds, a model of d weights, and a party with k rows of p inputs.

    Attributes:
        decimals: How many v_N has; None: all.
    """

    d: int
    p: int
    k: int
    letters: int
    decimals: int | None
    seed: int = 0


def attack(case, starts=6):
    """Rows with which all data would be worth what every letter says."""
    rng = np.random.default_rng([case.d, case.p, case.k, case.seed])
    U = rng.uniform(-2, 2, (case.d, case.p))
    model = fp.SparseGaussianProcess(RBF(0.8), NOISE_VARIANCE, U)
    victim = party("v", rng, case.k, case.p)
    precisions, told = [], []
    for _ in range(case.letters):
        places = rng.uniform(-HALF_WIDTH, HALF_WIDTH, (PLACES, case.p))
        own = fp.Party("a", places.repeat(ROWS_AT_EACH, 0), np.zeros(PLACES * ROWS_AT_EACH))
        A = model.whitened_features(own.X)
        precisions.append(np.eye(case.d) + A.T @ A / NOISE_VARIANCE)
        told.append(fp.InformationGain(model, [own, victim]).total)
    if case.decimals is not None:
        told = np.round(told, case.decimals)

    def misfit(flat):
        A = model.whitened_features(flat.reshape(case.k, case.p))
        return 0.5 * np.linalg.slogdet(precisions + A.T @ A / NOISE_VARIANCE)[1] - told

    guess = best_fit(misfit, case.k * case.p, starts).reshape(case.k, case.p)
    return success(victim.X, guess)


def attacks(case, draws):
    return [attack(replace(case, seed=seed)) for seed in range(draws)]


HEADING = (
    "| weights d | inputs p | rows k | letters | digits after the point | some rows | all rows |"
    " error / guessing | by chance |\n|---|---|---|---|---|---|---|---|---|"
)


def line(case, draws):
    """A line of the table in docs/privacy.md."""
    successes = attacks(case, draws)
    some = np.mean([one.some for one in successes])
    every = np.mean([one.all for one in successes])
    error = np.median([one.error for one in successes])
    digits = "all" if case.decimals is None else case.decimals
    return (
        f"| {case.d} | {case.p} | {case.k} | {case.letters} | {digits} | {some:.0%} | {every:.0%} |"
        f" {error:.2f} | {together_by_chance(successes):.0e} |"
    )


if __name__ == "__main__":
    print(HEADING)
    for d, p, k in ((6, 1, 10), (6, 1, 18), (12, 2, 12), (12, 2, 24)):
        for letters in (10, 30):
            for decimals in (None, 2):
                case = Letters(d=d, p=p, k=k, letters=letters, decimals=decimals)
                print(line(case, draws=8), flush=True)
