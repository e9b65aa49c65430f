"""pyDVL's exact Shapley values of any game: a function, instead of a model that is fitted.

pyDVL's newest version refuses NumPy 2; the newest that pip can put beside fairpool does not, but
uses a name that NumPy 2 no longer has. It is put back here.
"""

import warnings
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import numpy as np

if not hasattr(np, "float_"):
    np.float_ = np.float64  # noqa: NPY201

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pydvl.value.shapley.naive import combinatorial_exact_shapley


class _Players(SimpleNamespace):
    def __len__(self) -> int:
        return len(self.indices)


class Utility:
    """What pyDVL asks of a utility, without its overhead; it may remember what was asked before."""

    def __init__(self, n: int, value: Callable[[frozenset[int]], float], remember: bool) -> None:
        self.data = _Players(indices=np.arange(n), data_names=np.arange(n))
        self._value = value
        self._known: dict[frozenset[int], float] | None = {} if remember else None

    def __call__(self, indices: Iterable[int]) -> float:
        """v_C."""
        coalition = frozenset(indices)
        if self._known is None:
            return self._value(coalition)
        if coalition not in self._known:
            self._known[coalition] = self._value(coalition)
        return self._known[coalition]


def solve(n: int, value: Callable[[frozenset[int]], float], remember: bool = False) -> np.ndarray:
    """phi [n] by pyDVL's sum over coalitions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return combinatorial_exact_shapley(
            Utility(n, value, remember), n_jobs=1, progress=False
        ).values
