"""All 2^n values in weight space on both cores, against batched Cholesky alone on one."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from bench.games import D, ValueFunction, precisions, weight_game
from bench.measure import Row, interleaved, quick, same
from bench.naive import batched_cholesky


def measure(n: int, repeats: int) -> None:
    """One size; the parties' precisions are there before either starts."""
    space = weight_game("i.i.d.", n).space
    B = np.eye(D) + space.P.sum(axis=0)
    with ThreadPoolExecutor(2) as executor:
        ways = {
            "ours": lambda: space.values(executor),
            "floor": lambda: batched_cholesky(B, 1 << n),
        }
        seconds, found = interleaved(ways, repeats)
    masks = np.random.default_rng(0).integers(1 << n, size=500)
    oracle = ValueFunction(precisions("i.i.d.", n))(masks[:, None] >> np.arange(n) & 1)
    Row.timed(
        seconds,
        at_most=0.75,
        row="all 2^n values, weight space, both cores",
        size=f"n = {n}, d = {D}",
        against="floor: batched Cholesky alone, one core",
        equal=same(found["ours"][masks], oracle, 1e-11, "500 values"),
    ).print()


if __name__ == "__main__":
    measure(16, 2 if quick() else 7)
    if not quick():
        measure(20, 3)
