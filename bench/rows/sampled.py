"""Sampled Shapley values of 30 parties from 3000 evaluations, ours and peers'.

What is compared is the mean absolute error over seeds. Prints one "error" line per method and game;
the table compares ours with the best of all.

Usage: `python -m bench.rows.sampled shapiq|shap|fairpool [--quick]`.
"""

import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout

import numpy as np

import fairpool as fp
from bench.games import TABLES, ValueFunction, precisions, weight_game
from bench.measure import quick
from bench.truth import truth

N, BUDGET, SEEDS = 30, 3000, 10
SLOW = {"ProxySPEX": 1, "SPEX": SEEDS}
"""Seeds of those that take long (ProxySPEX minutes, for its search over the trees' settings); none
when quick.
"""

Estimator = Callable[[ValueFunction, int], np.ndarray]


def ours(kind: str, seed: int) -> tuple[np.ndarray, int]:
    """fairpool's own, on a fresh game; and how many evaluations it took."""
    phi = fp.shapley(weight_game(kind), method="sampled", rng=seed, evaluations=BUDGET)
    return phi.values, phi.evaluations


def shapiq_estimators() -> Iterator[tuple[str, Estimator]]:
    """Each of shapiq's approximators."""
    peer = importlib.import_module("bench.peers.shapiq_approximators")
    for name, make in peer.approximators(N):
        yield name, lambda game, seed, make=make: peer.estimate(make(seed), BUDGET, game, N)


def shap_estimators() -> Iterator[tuple[str, Estimator]]:
    """Each of shap's approximate explainers."""
    yield from importlib.import_module("bench.peers.shap_explainers").approximators(N, BUDGET)


def report(
    package: str, method: str, kind: str, estimate: Callable[[int], tuple[np.ndarray, int]]
) -> None:
    """Print a method's mean absolute error over seeds, or why there is none.

    Args:
        package: Whose method it is.
        method: Its name.
        kind: Which game.
        estimate: seed -> phi [n], and how many evaluations it took.
    """
    phi, standard_error = truth(kind)
    line = {
        "kind": "error",
        "package": package,
        "method": method,
        "game": kind,
        "truth_error": standard_error,
    }
    try:
        with warnings.catch_warnings(), redirect_stdout(sys.stderr):  # boosted trees are talkative
            warnings.simplefilter("ignore")
            found = [estimate(seed) for seed in range(1 if quick() else SLOW.get(method, SEEDS))]
    except Exception as error:
        line["failed"] = f"{type(error).__name__}: {error}"[:200]
    else:
        errors = [float(np.abs(estimated - phi).mean()) for estimated, _ in found]
        line.update(
            error=float(np.mean(errors)),
            spread=[min(errors), max(errors)],
            seeds=len(errors),
            evaluations=max(evaluations for _, evaluations in found),
        )
    print(json.dumps(line), flush=True)


def counted(estimator: Estimator, P: np.ndarray) -> Callable[[int], tuple[np.ndarray, int]]:
    """A peer's estimator on a fresh value function, which counts."""

    def estimate(seed: int) -> tuple[np.ndarray, int]:
        game = ValueFunction(P)
        phi = estimator(game, seed)
        return phi, game.evaluations

    return estimate


def main() -> None:
    """Both games, every method of one package."""
    package = sys.argv[1]
    for kind in TABLES:
        if package == "fairpool":
            report(
                package, 'shapley(method="sampled")', kind, lambda seed, kind=kind: ours(kind, seed)
            )
            continue
        for method, estimator in {"shapiq": shapiq_estimators, "shap": shap_estimators}[package]():
            if not (quick() and method in SLOW):
                report(package, method, kind, counted(estimator, precisions(kind)))


if __name__ == "__main__":
    main()
