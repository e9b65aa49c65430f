"""Points of the charts: what all 2^n values cost on one core.

They are against parties n, rows per party m, and weights d.
"""

import numpy as np

from bench.games import gaussian_process_game, weight_game
from bench.measure import interleaved, print_point, quick
from bench.naive import batched_cholesky, cholesky_per_coalition

OURS, NAIVE, FLOOR = "fairpool", "one Cholesky per coalition", "batched Cholesky alone"


def kernel_point(chart: str, x: int, n: int, rows: int) -> None:
    """Ours and the naive way, Gaussian process."""
    space = gaussian_process_game(n, rows).space
    ways = {OURS: space.values, NAIVE: lambda: cholesky_per_coalition(space.B, space.sizes)}
    for way, seconds in interleaved(ways, 1 if quick() else 3)[0].items():
        print_point(chart, way, x, float(np.median(seconds)))


def weight_point(chart: str, x: int, n: int, d: int) -> None:
    """Ours and the floor, weight space."""
    space = weight_game("i.i.d.", n, d).space
    B = np.eye(d) + space.P.sum(axis=0)
    ways = {OURS: space.values, FLOOR: lambda: batched_cholesky(B, 1 << n)}
    for way, seconds in interleaved(ways, 1 if quick() else 3)[0].items():
        print_point(chart, way, x, float(np.median(seconds)))


def main() -> None:
    """Four charts."""
    for n in range(4, 13 if quick() else 15, 2):
        kernel_point("n-kernel", n, n, 30)
    for n in range(4, 15 if quick() else 19, 2):
        weight_point("n-weight", n, n, 50)
    for m in (10, 20, 40, 80) if quick() else (10, 20, 40, 80, 160, 320):
        kernel_point("m", m, 8, m)
    for d in (5, 10, 20, 50, 100) if quick() else (5, 10, 20, 50, 100, 200, 400):
        weight_point("d", d, 10, d)


if __name__ == "__main__":
    main()
