"""Exact Shapley values from the parties' precisions, and from the table of values.

From the precisions, that is the values and phi; from the table, phi alone.

A peer that asks for many coalitions at once is given a batched Cholesky, of a thousand matrices a
call, as one would write it; and, in a line of its own, of as many as stay in the cache, which is
our way. pyDVL asks one by one, and again for every party; in a line of its own it is given a
function that remembers. For phi alone, values are looked up. Usage: `... shapiq|shap|pydvl
[--quick]`.
"""

import importlib
import sys
from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg.lapack import dpotrf

import fairpool as fp
from bench.games import CACHED, D, ValueFunction, precisions, weight_game
from bench.measure import Row, interleaved, quick, same
from bench.naive import batched_cholesky

TARGETS = {"shapiq": 3, "shap": 1.8, "pydvl": 50}
Solver = Callable[[], np.ndarray]


def solvers(peer: str, n: int, table: np.ndarray) -> Iterator[tuple[str, Solver]]:
    """Lines, and the peer's way for each."""
    P, powers = precisions("i.i.d.", n), 1 << np.arange(n)

    def look_up(coalitions: np.ndarray) -> np.ndarray:
        return table[np.asarray(coalitions, dtype=np.int64) @ powers]

    if peer == "pydvl":
        solve = importlib.import_module("bench.peers.pydvl_exact").solve
        eye = np.eye(D)

        def value(coalition: frozenset[int]) -> float:
            B = eye + P[list(coalition)].sum(axis=0)
            return float(np.log(dpotrf(B.T, lower=1, clean=0, overwrite_a=1)[0].diagonal()).sum())

        yield "values and phi", lambda: solve(n, value)
        yield "values and phi, given a memory", lambda: solve(n, value, remember=True)
        yield (
            "phi alone",
            lambda: solve(n, lambda coalition: table[sum(1 << int(i) for i in coalition)]),
        )
        return
    if peer == "shapiq":
        exact = importlib.import_module("shapiq").ExactComputer

        def solve(game: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
            found = exact(game, n_players=n)("SV")
            return np.array([found[(i,)] for i in range(n)])
    else:
        solve = importlib.import_module("bench.peers.shap_explainers").exact(n)
    yield "values and phi", lambda: solve(ValueFunction(P))
    yield "values and phi, given our stacks", lambda: solve(ValueFunction(P, CACHED // D**2))
    yield "phi alone", lambda: solve(look_up)


def measure(peer: str, n: int, repeats: int) -> None:
    """One peer, one size, all lines."""
    table = weight_game("i.i.d.", n).values()
    B = np.eye(D) + precisions("i.i.d.", n).sum(axis=0)
    for line, theirs in solvers(peer, n, table):
        fresh = [weight_game("i.i.d.", n) for _ in range(repeats)]
        for game in fresh:
            game.space  # noqa: B018 -- the precisions, which the peer has too

        def from_precisions(fresh: list[fp.InformationGain] = fresh) -> np.ndarray:
            return fp.shapley(fresh.pop(), method="exact").values

        def from_table() -> np.ndarray:
            return fp.shapley(fp.TableGame(table), method="exact").values

        def passes_over_table() -> float:
            return float(sum(table.sum() for _ in range(n)))

        def cholesky_alone() -> None:
            batched_cholesky(B, 1 << n)

        ours, floor = (
            (from_table, passes_over_table)
            if line == "phi alone"
            else (from_precisions, cholesky_alone)
        )
        seconds, found = interleaved({"ours": ours, "theirs": theirs, "floor": floor}, repeats)
        Row.timed(
            seconds,
            at_least=None if "given" in line else TARGETS[peer],
            row=f"exact Shapley, {line}",
            size=f"n = {n}" if line == "phi alone" else f"n = {n}, d = {D}",
            against=f"{peer} {importlib.import_module(peer).__version__}",
            equal=same(found["ours"], found["theirs"], 1e-9, "phi"),
        ).print()


if __name__ == "__main__":
    slow = sys.argv[1] == "pydvl"
    measure(sys.argv[1], 10, 5)
    if not (slow and quick()):
        measure(sys.argv[1], 16, 1 if slow or quick() else 3)
    if not quick():
        measure(sys.argv[1], 20, 1)
