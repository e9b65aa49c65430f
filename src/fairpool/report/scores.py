"""How well each model predicts test data: the party alone, its reward, and the grand model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from fairpool.realisation import ModelReward
from fairpool.report.class_scores import EVERYBODY, ClassDetails
from fairpool.report.words import as_percent
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


def class_sentence(scores: Scores, party: int) -> str:
    """How well a party's model tells classes of test rows, to the party itself."""
    reward = scores.reward[party]
    beside = (scores.alone[party], scores.everyone)
    losses = [f"{one['log_loss']:.3f}" for one in beside]
    right = [as_percent(1 - one["errors"]) for one in beside]
    off = [f"{one['calibration_error']:.3f}" for one in beside]
    return (
        f"On the operator's {scores.rows:,} test rows the most probable class is right in"
        f" {as_percent(1 - reward['errors'])} (your data alone: {right[0]}, everybody's model:"
        f" {right[1]}); the log loss, which is lower the more probable the true classes were said"
        f" to be, is {reward['log_loss']:.3f} ({losses[0]}, {losses[1]}); and probabilities are off"
        f" by {reward['calibration_error']:.3f} on average ({off[0]}, {off[1]})."
    )
