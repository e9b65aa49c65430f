"""All 2^n values of an exact Gaussian process, against a Cholesky per coalition.

Both start from the pooled kernel matrix.
"""

from bench.games import gaussian_process_game
from bench.measure import Row, interleaved, quick, same
from bench.naive import cholesky_per_coalition, dpotrf_speed, elimination_flops

TARGETS = {(10, 100): 8, (12, 50): 14, (14, 30): 20}
GROWTH = (8, 10, 12, 14)


def against_naive(n: int, rows: int, target: float) -> None:
    """One size; the kernel matrix is there before either starts."""
    space = gaussian_process_game(n, rows).space
    ways = {"ours": space.values, "theirs": lambda: cholesky_per_coalition(space.B, space.sizes)}
    seconds, found = interleaved(ways, 1 if quick() else 5)
    Row.timed(
        seconds,
        at_least=target,
        row="all 2^n values, Gaussian process",
        size=f"n = {n}, {rows} rows each",
        against="one Cholesky per coalition",
        floor=elimination_flops(space.sizes) / dpotrf_speed(space.B),
        equal=same(found["ours"], found["theirs"], 1e-10, "all values"),
    ).print()


def growth() -> None:
    """From n to n + 2 parties, at 30 rows each."""
    spaces = {n: gaussian_process_game(n, 30).space for n in GROWTH}
    seconds, found = interleaved(
        {str(n): space.values for n, space in spaces.items()}, 3 if quick() else 9
    )
    small = cholesky_per_coalition(spaces[8].B, spaces[8].sizes)
    equal = same(found["8"], small, 1e-10, "all values at n = 8")
    for n in GROWTH[:-1]:
        Row.timed(
            {"ours": seconds[str(n + 2)], "theirs": seconds[str(n)]},
            at_most=4.6,
            row="all 2^n values, Gaussian process: growth",
            size=f"n = {n} to {n + 2}, 30 rows each",
            against="itself with two parties fewer",
            equal=equal,
        ).print()


if __name__ == "__main__":
    for (n, rows), target in TARGETS.items():
        against_naive(n, rows, target)
    growth()
