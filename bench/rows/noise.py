"""eta of all parties for 101 rhos, against TOMS 748 on a dense Cholesky log-determinant.

The model is a Gaussian process, and there are 3 x 250 rows.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf
from scipy.optimize import toms748

import fairpool as fp
from bench.games import gaussian_process_game
from bench.measure import Row, interleaved, quick, same
from fairpool.realisation.noise_variance import noise_levels

N, ROWS, RHOS = 3, 250, 101


class Dense:
    """A search each of whose evaluations factorises the pooled matrix [m, m].

    It is in tau = s2 / (s2 + eta), as ours. What a party has alone and what all have together is
    computed once, and known at the ends of every search.
    """

    def __init__(self, B: np.ndarray) -> None:
        self.C = B - np.eye(len(B))
        self.own = [np.repeat(np.arange(N), ROWS) == i for i in range(N)]
        self.alone = [self.value(own, 0.0) for own in self.own]
        self.total = self.value(self.own[0], 1.0)

    def value(self, own: np.ndarray, tau: float) -> float:
        """r_i where a share tau of the others' precision is left."""
        root = np.where(own, 1.0, np.sqrt(tau))
        A = root[:, None] * self.C * root
        A[np.diag_indices_from(A)] += 1
        return float(np.log(dpotrf(A.T, lower=1, clean=0, overwrite_a=1)[0].diagonal()).sum())

    def tau(self, i: int, target: float) -> float:
        """Where party i's reward is worth its target."""
        ends = {0.0: self.alone[i] - target, 1.0: self.total - target}
        if ends[1.0] <= 1e-9 or ends[0.0] >= -1e-9:
            return 1.0 if ends[1.0] <= 1e-9 else 0.0
        gap = lambda tau: ends[tau] if tau in ends else self.value(self.own[i], tau) - target  # noqa: E731
        return float(toms748(gap, 0.0, 1.0, xtol=1e-300, rtol=4 * np.finfo(float).eps))


def main() -> None:
    """Rewards for rho from 0 to the largest that is individually rational.

    Both ways are given the kernel matrix.
    """
    known = gaussian_process_game(N, ROWS)
    scheme = fp.RewardScheme(known, fp.shapley(known))
    rewards = [scheme.rewards(rho) for rho in np.linspace(0, min(1.0, scheme.rho_rational), RHOS)]
    some = rewards[:: 10 if quick() else 1]

    def prepared() -> fp.InformationGain:
        game = gaussian_process_game(N, ROWS)
        game.space  # noqa: B018 -- the kernel matrix, which the dense way has too
        return game

    repeats = 3
    fresh = [prepared() for _ in range(repeats)]

    def ours() -> np.ndarray:
        game = fresh.pop()
        return np.array([[level.tau for level in noise_levels(game, r)] for r in rewards])

    def dense() -> np.ndarray:
        way = Dense(known.space.B)
        return np.array([[way.tau(i, r[i]) for i in range(N)] for r in some])

    C = known.space.B[ROWS:, ROWS:]

    def eigenvalues() -> None:
        for _ in range(N):
            np.linalg.eigvalsh(C)

    seconds, found = interleaved({"ours": ours, "theirs": dense, "floor": eigenvalues}, repeats)
    seconds["theirs"] *= len(rewards) / len(some)
    Row.timed(
        seconds,
        at_least=100,
        row="noise variance for all parties and 101 rhos",
        size=f"Gaussian process, {N} x {ROWS} rows",
        against="TOMS 748 on a dense Cholesky log-determinant",
        target="at least 100x, equal to 1e-8",
        equal=same(
            found["ours"][:: 10 if quick() else 1], found["theirs"], 1e-8, "tau, of at most 1"
        ),
        note=f"the dense way did {len(some)} of the 101 rhos; its time is scaled by their number"
        if quick()
        else "",
    ).print()


if __name__ == "__main__":
    main()
