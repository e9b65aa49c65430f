"""Shapley values of the two games of 30 parties, far more precisely than 3000 evaluations can.

With v_s(i) and v_s(not i) the average value of the coalitions of size s with and without party i,

    phi_i = 1/n sum over s = 0 .. n-1 of  v_{s+1}(i) - v_s(not i).

Sizes with few coalitions are enumerated. For every other size, a polynomial of degree two in the
parties' indicators, fitted to a pilot sample, has averages that are known; those of what it leaves
are estimated from fresh samples, by a linear regression on the indicators, so that only the
variance of interactions remains. Independent batches give the standard error.
"""

import json
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np

from bench.games import TABLES, ValueFunction, precisions
from bench.measure import FOLDER, quick

ENUMERATED, SAMPLES = 150_000, 5000
"""Largest number of coalitions enumerated; coalitions per size in a batch."""

PILOT, BATCHES = (5000, 4) if quick() else (20_000, 20)
"""Coalitions per size in the pilot; batches."""

Averages = tuple[np.ndarray, np.ndarray]
"""v_s(i) and v_s(not i), [n] each."""


def truth(kind: str) -> tuple[np.ndarray, float]:
    """phi [n] and the root mean square of its standard errors.

    They are computed once and kept; in a quick run, less precisely.
    """
    path = _path(kind, "")
    if quick() and not path.exists():
        path = _path(kind, "quick-")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_compute(kind)))
    known = json.loads(path.read_text())
    return np.array(known["phi"]), known["standard_error"]


def _path(kind: str, precision: str) -> Path:
    return FOLDER / "truth" / f"{precision}{kind.strip('.')}.json"


def _compute(kind: str) -> dict:
    v = ValueFunction(precisions(kind))
    rng = np.random.default_rng(2024)
    few = [s for s in range(v.n + 1) if comb(v.n, s) <= ENUMERATED]
    exact = {s: _first_order(Z, v(Z)) for s in few for Z in [_all(v.n, s)]}
    pilots = {s: _pilot(_random(v.n, s, PILOT, rng), v) for s in range(v.n + 1) if s not in exact}
    batches = np.array([_estimate(v, exact, pilots, rng) for _ in range(BATCHES)])
    error = batches.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    return {
        "phi": batches.mean(axis=0).tolist(),
        "standard_error": float(np.sqrt(np.mean(error**2))),
        "evaluations": v.evaluations,
    }


def _estimate(
    v: ValueFunction,
    exact: dict[int, Averages],
    pilots: dict[int, np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    averages = dict(exact)
    for s, b in pilots.items():
        Z = _random(v.n, s, SAMPLES, rng)
        known, rest = _second_order(b, v.n, s), _first_order(Z, v(Z) - _pairs(Z) @ b)
        averages[s] = known[0] + rest[0], known[1] + rest[1]
    return sum(averages[s + 1][0] - averages[s][1] for s in range(v.n)) / v.n


def _all(n: int, s: int) -> np.ndarray:
    Z = np.zeros((comb(n, s), n))
    for z, members in zip(Z, combinations(range(n), s), strict=True):
        z[list(members)] = 1
    return Z


def _random(n: int, s: int, samples: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permuted(np.tile(np.arange(n) < s, (samples, 1)), axis=1).astype(float)


def _first_order(Z: np.ndarray, values: np.ndarray) -> Averages:
    """Averages by regression on the indicators Z [k, n] of coalitions of one size.

    These need no intercept.
    """
    n, s = Z.shape[1], round(Z[0].sum())
    if s in (0, n):
        return np.full(n, values[0]), np.full(n, values[0])
    b = np.linalg.lstsq(Z, values, rcond=None)[0]
    others = b.sum() - b
    return b + others * (s - 1) / (n - 1), others * s / (n - 1)


def _pairs(Z: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(Z.shape[1], 1)
    return Z[:, first] * Z[:, second]


def _pilot(Z: np.ndarray, v: ValueFunction) -> np.ndarray:
    """Coefficients of the pairs.

    For one size, the indicators and the constant are combinations of them.
    """
    return np.linalg.lstsq(_pairs(Z), v(Z), rcond=None)[0]


def _second_order(b: np.ndarray, n: int, s: int) -> Averages:
    """A polynomial's averages.

    They follow from how likely a pair is in a random coalition of size s with i, or without.
    """
    B = np.zeros((n, n))
    B[np.triu_indices(n, 1)] = b
    with_i = B.sum(axis=0) + B.sum(axis=1)
    others = b.sum() - with_i
    scale = (n - 1) * (n - 2)
    return with_i * (s - 1) / (n - 1) + others * (s - 1) * (s - 2) / scale, others * s * (
        s - 1
    ) / scale


def main() -> None:
    """Compute both, where they are not known yet."""
    for kind in TABLES:
        phi, error = truth(kind)
        print(f"{kind}: sum of phi {phi.sum():.4f}, standard error {error:.2g}")


if __name__ == "__main__":
    main()
