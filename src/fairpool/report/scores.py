"""How well each model predicts test data: the party alone, its reward, and the grand model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from fairpool.realisation import ModelReward
from fairpool.report.class_scores import EVERYBODY, ClassDetails
from fairpool.tables.arrays import FloatArray
from fairpool.targets import ClassTarget, Score, Target
from fairpool.values import InformationGain


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores on test data.

    Attributes:
        target: What was predicted, which says how it is scored.
        rows: Number of test rows.
        alone: Each party's own model.
        reward: Each party's reward.
        everyone: The model trained on everybody's data.
        classes: Which classes are confused, and whether probabilities hold; None for numbers.
    """

    target: Target
    rows: int
    alone: tuple[Score, ...]
    reward: tuple[Score, ...]
    everyone: Score
    classes: ClassDetails | None = None


class Rewarded(Protocol):
    """A game and its reward models."""

    @property
    def game(self) -> InformationGain: ...  # noqa: D102
    @property
    def models(self) -> tuple[ModelReward, ...]: ...  # noqa: D102


def score_models(result: Rewarded, X: FloatArray, y: FloatArray, *, target: Target) -> Scores:
    """Score every party's models on test inputs X [t, p] and labels y [t].

    Args:
        result: A collaboration.
        X: Test inputs, as the model sees them.
        y: Test labels, as the model sees them.
        target: What the labels are.
    """

    def score(predict: Callable[[Any], tuple[FloatArray, FloatArray]]) -> Score:
        mean, variance = predict(X)
        return target.score(y, mean, variance)

    game = result.game
    everyone = game.posterior(range(game.n))
    classes = None
    if isinstance(target, ClassTarget):
        models = [(model.party, model.predict(X)[0]) for model in result.models]
        models.append((EVERYBODY, everyone.predict(X)[0]))
        classes = ClassDetails.of(target.levels, y, models)
    return Scores(
        target=target,
        rows=len(y),
        alone=tuple(score(game.posterior([i]).predict) for i in range(game.n)),
        reward=tuple(score(model.predict) for model in result.models),
        everyone=score(everyone.predict),
        classes=classes,
    )
