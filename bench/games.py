"""The games that are measured.

Each is from a fixed seed, so that every environment sees the same one.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp

D = 50
"""Weights of the Bayesian linear regressions."""

CACHED = 1 << 16
"""Numbers in a stack of matrices that stays in the cache: batched Cholesky is quickest then (half a
MiB).
"""


def regression() -> fp.BayesianLinearRegression:
    """Prior N(0, I), noise variance 1, no bias: a party's precision is X^T X of its rows."""
    return fp.BayesianLinearRegression(noise_variance=1.0, prior_variance=1.0, bias=False)


def parties(tables: Sequence[np.ndarray]) -> list[fp.Party]:
    """One party per table of inputs; information gain never looks at the labels."""
    return [fp.Party(f"party {i}", X, np.zeros(len(X))) for i, X in enumerate(tables)]


def iid_tables(n: int = 30, d: int = D, rows: int = 100, seed: int = 0) -> list[np.ndarray]:
    """Parties that differ by chance only: each has the same number of rows from N(0, I)."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rows, d)) for _ in range(n)]


def heterogeneous_tables(n: int = 30, d: int = D, seed: int = 1) -> list[np.ndarray]:
    """Parties of random scale (lognormal, sigma 1) and random rank (1 to 60 rows)."""
    rng = np.random.default_rng(seed)
    return [rng.lognormal() * rng.normal(size=(rng.integers(1, 61), d)) for _ in range(n)]


TABLES = {"i.i.d.": iid_tables, "heterogeneous": heterogeneous_tables}
"""The two kinds of games, by name."""


def weight_game(kind: str, n: int = 30, d: int = D) -> fp.InformationGain:
    """A fresh game of Bayesian linear regression, of one of the two kinds."""
    return fp.InformationGain(regression(), parties(TABLES[kind](n, d)))


def precisions(kind: str, n: int = 30, d: int = D) -> np.ndarray:
    """P_i = X_i^T X_i [n, d, d] of the same game."""
    return np.array([X.T @ X for X in TABLES[kind](n, d)])


def gaussian_process_game(n: int, rows: int, seed: int = 0) -> fp.InformationGain:
    """An exact Gaussian process on five standard normal inputs.

    Each party has the same number of rows.
    """
    rng = np.random.default_rng(seed)
    members = [
        fp.Party(f"party {i}", rng.normal(size=(rows, 5)), rng.normal(size=rows)) for i in range(n)
    ]
    return fp.InformationGain(fp.GaussianProcess(RBF(1.5), 0.1), members)


class ValueFunction:
    """v_C = 1/2 log|I + sum over C of P_i|, as peers want it.

    One call is for many coalitions, by batched Cholesky.

    Args:
        P: The parties' precisions [n, d, d].
        stack: How many matrices a call of Cholesky gets. By default a round number, as one would
            choose; a stack that stays in the processor's cache, which is one of fairpool's ways to
            be fast, is about half as slow.

    Attributes:
        evaluations: How many coalitions were asked for.
    """

    def __init__(self, P: np.ndarray, stack: int = 1000) -> None:
        self.n, self.d = P.shape[:2]
        self.stack = stack
        self._flat = P.reshape(self.n, -1)
        self.evaluations = 0

    def __call__(self, coalitions: np.ndarray) -> np.ndarray:
        """Values [k] of coalitions given as indicators [k, n]."""
        coalitions = np.atleast_2d(coalitions)
        self.evaluations += len(coalitions)
        batches = np.array_split(coalitions, max(1, len(coalitions) // self.stack))
        return np.concatenate([self._batch(batch) for batch in batches])

    def _batch(self, coalitions: np.ndarray) -> np.ndarray:
        B = (coalitions.astype(float) @ self._flat).reshape(-1, self.d, self.d)
        B[:, np.arange(self.d), np.arange(self.d)] += 1
        return np.log(np.diagonal(np.linalg.cholesky(B), axis1=1, axis2=2)).sum(axis=1)
