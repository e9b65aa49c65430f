"""The whole chain at one rho, against one dpotrf of the pooled matrix.

It goes from the parties' tables to their models.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf

import fairpool as fp
from bench.games import gaussian_process_game
from bench.measure import Row, interleaved, quick, same
from bench.naive import cholesky_per_coalition

N, ROWS = 3, 250


def chain() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, Shapley values, rewards, noise variances and posteriors.

    The kernel matrix is built on the way.
    """
    game = gaussian_process_game(N, ROWS)
    v = game.values()
    rewards = fp.RewardScheme(game, fp.shapley(game)).rewards("stable")
    models = fp.realise(game, rewards, rng=0)
    return v, np.array([m.target for m in models]), np.array([m.value for m in models])


def main() -> None:
    """Hyperparameters known."""
    space = gaussian_process_game(N, ROWS).space
    copies = [np.array(space.B, order="F") for _ in range(100)]
    ways = {"ours": chain, "floor": lambda: dpotrf(copies.pop(), lower=1, clean=0, overwrite_a=1)}
    interleaved(ways, 3)  # caches and threads get warm
    seconds, found = interleaved(ways, 15 if quick() else 50)
    v, targets, values = found["ours"]
    same(values, targets, 1e-8, "what the models are worth and the rewards")
    Row.timed(
        seconds,
        at_most=25,
        row="whole chain at one rho",
        size=f"Gaussian process, {N} x {ROWS} rows",
        against="floor: one dpotrf of the pooled matrix",
        equal=same(v, cholesky_per_coalition(space.B, space.sizes), 1e-10, "all values"),
    ).print()


if __name__ == "__main__":
    main()
