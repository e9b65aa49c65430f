"""Every approximator of Shapley values that shapiq has, by a name for the table."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import shapiq.approximator as sa

OTHERS = {
    "RegressionMSR (xgboost)": (sa.RegressionMSR, {"proxy_model": "xgboost"}),
    "RegressionMSR (lightgbm)": (sa.RegressionMSR, {"proxy_model": "lightgbm"}),
    "RegressionMSR (linear)": (sa.RegressionMSR, {"proxy_model": "linear"}),
    "RegressionMSR (xgboost, 5 folds)": (
        sa.RegressionMSR,
        {"proxy_model": "xgboost", "k_folds": 5},
    ),
    "ProxySHAP (xgboost)": (sa.ProxySHAP, {"proxy_model": "xgboost"}),
    "ProxySHAP (lightgbm)": (sa.ProxySHAP, {"proxy_model": "lightgbm"}),
    "PolySHAP (order 2)": (sa.PolySHAP, {"max_order": 2}),
    "PolySHAP (order 2, paired)": (sa.PolySHAP, {"max_order": 2, "pairing_trick": True}),
    "SHAP-IQ": (sa.SHAPIQ, {}),
    "SHAP-IQ (paired)": (sa.SHAPIQ, {"pairing_trick": True}),
    "SVARM-IQ": (sa.SVARMIQ, {}),
    "SVARM-IQ (paired)": (sa.SVARMIQ, {"pairing_trick": True}),
}
"""Those that need settings, and those meant for interactions that give Shapley values at order 1.
"""

LEFT_OUT = {sa.RegressionMSR, sa.PolySHAP, sa.ShaplEIG}
"""The first two are above; the last fits a Gaussian process per evaluation and needs torch beside
shapiq.
"""


def approximators(n: int) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """(name, seed -> approximator), for all that can estimate Shapley values.

    They are shapiq's own list of Shapley approximators, and the others above.
    """
    for cls in sa.SV_APPROXIMATORS:
        if cls in LEFT_OUT:
            continue
        yield cls.__name__, _factory(cls, n, {})
        parameter = inspect.signature(cls.__init__).parameters.get("pairing_trick")
        if (
            parameter is not None and cls is not sa.ProxySPEX
        ):  # minutes per estimate, and far from the best
            other = not parameter.default
            yield (
                f"{cls.__name__} ({'paired' if other else 'not paired'})",
                _factory(cls, n, {"pairing_trick": other}),
            )
    for name, (cls, settings) in OTHERS.items():
        yield name, _factory(cls, n, settings)


def _factory(cls: Any, n: int, settings: dict[str, Any]) -> Callable[[int], Any]:
    accepted = inspect.signature(cls.__init__).parameters
    settings = dict(settings)
    if "index" in accepted:
        settings["index"] = "SV"
    if "max_order" in accepted and "max_order" not in settings and cls is not sa.kADDSHAP:
        settings["max_order"] = 1
    return lambda seed: cls(n=n, random_state=seed, **settings)


def estimate(
    approximator: Any, budget: int, game: Callable[[np.ndarray], np.ndarray], n: int
) -> np.ndarray:
    """phi [n] from a budget of evaluations."""
    found = approximator.approximate(budget=budget, game=game)
    return np.array([found[(i,)] for i in range(n)])
