"""shap's explainers as solvers of a cooperative game.

Features are 1 where a party is in, and the background is 0.
"""

import logging
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import shap

Game = Callable[[np.ndarray], np.ndarray]
logging.getLogger("shap").setLevel(logging.ERROR)


def approximators(n: int, budget: int) -> Iterator[tuple[str, Callable[[Game, int], np.ndarray]]]:
    """(name, (game, seed) -> phi [n]) for each explainer, within a budget of evaluations."""
    nobody, everybody = np.zeros((1, n)), np.ones((1, n))

    def kernel(game: Game, seed: int, regularisation: str | int) -> np.ndarray:
        np.random.seed(seed)  # noqa: NPY002 -- shap draws from the global generator
        explainer = shap.KernelExplainer(game, nobody)
        # Two evaluations go to the empty and the full coalition.
        return explainer.shap_values(
            everybody, nsamples=budget - 2, l1_reg=regularisation, silent=True
        )[0]

    def permutation(game: Game, seed: int) -> np.ndarray:
        explainer = shap.PermutationExplainer(game, _masker(n), seed=seed)
        return explainer(everybody, max_evals=budget, silent=True).values[0]

    def sampling(game: Game, seed: int) -> np.ndarray:
        np.random.seed(seed)  # noqa: NPY002
        explainer = shap.SamplingExplainer(game, nobody)
        # A sample is a marginal contribution: two evaluations.
        return explainer.shap_values(everybody, nsamples=budget // 2, silent=True)[0]

    yield "KernelExplainer", lambda game, seed: kernel(game, seed, "num_features(30)")
    yield "KernelExplainer (l1_reg off)", lambda game, seed: kernel(game, seed, 0)
    yield "PermutationExplainer", permutation
    yield "SamplingExplainer", sampling


def exact(n: int) -> Callable[[Game], np.ndarray]:
    """Game -> phi [n], by shap's exact explainer; values are asked for in batches."""

    def solve(game: Game) -> np.ndarray:
        explainer = shap.ExactExplainer(game, _masker(n))
        return explainer(
            np.ones((1, n)), max_evals=2**n, batch_size=1 << min(n, 16), silent=True
        ).values[0]

    return solve


def _masker(n: int) -> shap.maskers.Independent:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shap.maskers.Independent(np.zeros((1, n)))
