"""How well each model predicts test data: the party alone, its reward, and the grand model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairpool.models import mnlp
from fairpool.realisation import ModelReward
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain


@dataclass(frozen=True)
class Score:
    """One model's score, in the target's units.

    Attributes:
        mnlp: Mean negative log probability of the labels.
        rmse: Root mean square error of the predicted means.
    """

    mnlp: float
    rmse: float


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores on test data.

    Attributes:
        rows: Number of test rows.
        alone: Each party's own model.
        reward: Each party's reward.
        everyone: The model trained on everybody's data.
    """

    rows: int
    alone: tuple[Score, ...]
    reward: tuple[Score, ...]
    everyone: Score


class Rewarded(Protocol):
    """A game and its reward models."""

    @property
    def game(self) -> InformationGain: ...  # noqa: D102
    @property
    def models(self) -> tuple[ModelReward, ...]: ...  # noqa: D102


def score_models(result: Rewarded, X: FloatArray, y: FloatArray, scale: float = 1.0) -> Scores:
    """Score every party's models on test inputs X [t, p] and labels y [t].

    Args:
        result: A collaboration.
        X: Test inputs, as the model sees them.
        y: Test labels, as the model sees them.
        scale: The labels' unit: a label of 1 is this much in the target's own units.
    """

    def score(predict: Callable[[Any], tuple[FloatArray, FloatArray]]) -> Score:
        mean, variance = predict(X)
        rmse = scale * float(np.sqrt(np.mean((mean - y) ** 2)))
        # A density of labels in another unit is smaller by that unit, hence the logarithm.
        return Score(mnlp=float(mnlp(y, mean, variance)) + float(np.log(scale)), rmse=rmse)

    game = result.game
    everyone = game.posterior(range(game.n))
    return Scores(
        rows=len(y),
        alone=tuple(score(game.posterior([i]).predict) for i in range(game.n)),
        reward=tuple(score(model.predict) for model in result.models),
        everyone=score(everyone.predict),
    )
