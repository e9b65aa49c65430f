"""Exact Shapley values from the parties' precisions (values and phi), and from the table of values (phi alone).

Each peer is given the best value function that it can use: batched Cholesky where it asks for many coalitions at once,
one by one (and remembered) where it does not; for phi alone, a look-up. Usage: `... shapiq|shap|pydvl [--quick]`.
"""

import importlib
import sys
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf

import fairpool as fp
from bench.games import D, ValueFunction, precisions, weight_game
from bench.measure import Row, interleaved, median_and_spread, quick, same

TARGETS = {"shapiq": 3, "shap": 1.8, "pydvl": 50}
Solver = Callable[[], np.ndarray]


def solvers(peer: str, n: int, P: np.ndarray, table: np.ndarray) -> tuple[Solver, Solver]:
    """The peer's way from precisions to phi, and from the table to phi."""
    powers = 1 << np.arange(n)

    def look_up(coalitions: np.ndarray) -> np.ndarray:
        return table[np.asarray(coalitions, dtype=np.int64) @ powers]

    if peer == "shapiq":
        exact = importlib.import_module("shapiq").ExactComputer

        def solve(game: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
            found = exact(game, n_players=n)("SV")
            return np.array([found[(i,)] for i in range(n)])

        return lambda: solve(ValueFunction(P)), lambda: solve(look_up)
    if peer == "shap":
        solve = importlib.import_module("bench.peers.shap_explainers").exact(n)
        return lambda: solve(ValueFunction(P)), lambda: solve(look_up)
    solve = importlib.import_module("bench.peers.pydvl_exact").solve
    eye = np.eye(D)

    def value(coalition: frozenset[int]) -> float:
        B = eye + P[list(coalition)].sum(axis=0)
        return float(np.log(dpotrf(B.T, lower=1, clean=0, overwrite_a=1)[0].diagonal()).sum())

    return lambda: solve(n, value), lambda: solve(n, lambda coalition: table[sum(1 << int(i) for i in coalition)])


def measure(peer: str, n: int, repeats: int) -> None:
    """One peer, one size, both lines."""
    P = precisions("i.i.d.", n)
    table = weight_game("i.i.d.", n).values()
    from_precisions, from_table = solvers(peer, n, P, table)

    def prepared() -> fp.InformationGain:
        game = weight_game("i.i.d.", n)
        game.space  # noqa: B018 -- the precisions, which the peer has too
        return game

    fresh = [prepared() for _ in range(repeats)]
    lines = {
        "values and phi": (lambda: fp.shapley(fresh.pop(), method="exact").values, from_precisions),
        "phi alone": (lambda: fp.shapley(fp.TableGame(table), method="exact").values, from_table),
    }
    for line, (ours, theirs) in lines.items():
        seconds, found = interleaved({"ours": ours, "theirs": theirs}, repeats)
        ratio, spread = median_and_spread(seconds["theirs"] / seconds["ours"])
        Row(
            row=f"exact Shapley, {line}",
            size=f"n = {n}, d = {D}" if line == "values and phi" else f"n = {n}",
            against=f"{peer} {importlib.import_module(peer).__version__}",
            ours=float(np.median(seconds["ours"])),
            theirs=float(np.median(seconds["theirs"])),
            floor=None,
            ratio=ratio,
            spread=spread,
            repeats=len(seconds["ours"]),
            target=f"at least {TARGETS[peer]}x",
            met=ratio >= TARGETS[peer],
            equal=same(found["ours"], found["theirs"], 1e-9, "phi"),
        ).print()


if __name__ == "__main__":
    measure(sys.argv[1], 10, 5)
    measure(sys.argv[1], 16, 1 if quick() else 5)
    if not quick():
        measure(sys.argv[1], 20, 1 if sys.argv[1] == "pydvl" else 3)
