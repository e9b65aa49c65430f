"""Does a party's reward predict better than the model that it could train alone?

Rewards are made to be worth at least as much as a party's own data, in information (R4). That says
how sure the model is, not that it is right: where the others' labels are wrong, or of another kind,
a reward can predict worse. So both models predict the same rows, and the mean difference is told
with its error.

- Test rows: of none of them anything was learned. The error is that of the mean difference over
  rows like these, of these two models.
- The party's own rows, each left out of both models in closed form. What its recipient holds is one
  draw of the noise, so that one is judged. Rows that share all other rows are not independent, and
  a model with one row less loses a little more alone than with the others' data: `docs/trust.md`
  says how often the intervals hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairpool.audit.paired import PairedDifference
from fairpool.errors import DataError
from fairpool.models import TrainedPosterior
from fairpool.parties import Party
from fairpool.tables.arrays import FloatArray, as_matrix, as_vector
from fairpool.targets import LABELS, Target
from fairpool.values import InformationGain


class Reward(Protocol):
    """A party's reward model."""

    @property
    def posterior(self) -> TrainedPosterior: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A reward and the model of the party's own data, on the same rows.

    Attributes:
        log_density: Of the labels, in nats per row; larger is better.
        squared_error: Of the predicted means, in squared units of the target; less is better.
    """

    log_density: PairedDifference
    squared_error: PairedDifference

    @property
    def rows(self) -> int:
        """How many rows were predicted."""
        return self.log_density.rows

    @property
    def verdict(self) -> str:
        """By log density, which judges means and variances: what a model is for."""
        return self.log_density.verdict


@dataclass(frozen=True, kw_only=True)
class AgainstAlone:
    """How a party's reward predicts, beside the model that it could train alone.

    Attributes:
        party: Its name.
        test: On test rows; None without any.
        own_rows: On its own rows, each left out; None where none can be looked at.
    """

    party: str
    test: Comparison | None
    own_rows: Comparison | None


def compare_with_alone(
    game: InformationGain,
    models: Sequence[Reward],
    X: Any = None,
    y: Any = None,
    *,
    rows: Sequence[Party] | None = None,
    target: Target = LABELS,
) -> tuple[AgainstAlone, ...]:
    """Compare every party's reward with the model trained on its own rows alone.

    Args:
        game: The values, with every party's data or summary.
        models: The rewards made of them, in the parties' order, from `realise`.
        X: Test inputs [t, p], if there are some.
        y: Their labels [t].
        rows: Of each party, rows to leave out: all that it has, or a fair sample of them. By
            default the game's own, as far as they can be looked at.
        target: What the labels are, for errors in its units.

    Returns:
        One record per party, in the parties' order.
    """
    if len(models) != game.n:
        raise DataError(f"there are {game.n} parties and {len(models)} models; give one for each")
    if (X is None) != (y is None):
        raise DataError("test data need both inputs X and labels y; give both, or neither")
    test = None
    if X is not None:
        test = (as_matrix(X, "test data")[0], as_vector(y, "test data"))
    own = game.pool.rows if rows is None else rows
    compared = []
    for i, (reward, party) in enumerate(zip(models, own, strict=True)):
        alone = game.posterior([i])
        on_test = None
        if test is not None and len(test[1]):
            on_test = _on_test(alone, reward.posterior, test, target=target)
        left_out = _left_out(alone, reward.posterior, party, target=target)
        compared.append(AgainstAlone(party=game.names[i], test=on_test, own_rows=left_out))
    return tuple(compared)


def _on_test(
    alone: TrainedPosterior,
    reward: TrainedPosterior,
    test: tuple[FloatArray, FloatArray],
    *,
    target: Target,
) -> Comparison:
    X, y = test
    return _compared(y, alone.predict(X), reward.predict(X), target=target)


def _left_out(
    alone: TrainedPosterior, reward: TrainedPosterior, party: Party, *, target: Target
) -> Comparison | None:
    """The party's own rows, each predicted without itself; silent rows have no label to predict."""
    noise = party.noise_of_rows(alone.model.noise_variance)
    telling = np.isfinite(noise)
    if not telling.any():
        return None
    X = party.X[telling]
    y = party.y[telling]
    noise = noise[telling]
    without = alone.predict_without_each(X, y, noise)
    return _compared(y, without, reward.predict_without_each(X, y, noise), target=target)


def _compared(
    y: FloatArray,
    alone: tuple[FloatArray, FloatArray],
    reward: tuple[FloatArray, FloatArray],
    *,
    target: Target,
) -> Comparison:
    """Both models' predictions of labels y [m], means and variances."""
    if reward[0].ndim > alone[0].ndim:
        raise DataError(
            "the models were trained on several draws of the noise, for evaluation; realise them"
            " without draws"
        )
    errors = target.squared_error(y, *alone)
    return Comparison(
        log_density=PairedDifference.of(
            target.log_density(y, *alone),
            target.log_density(y, *reward),
            larger_is_better=True,
        ),
        squared_error=PairedDifference.of(
            errors,
            target.squared_error(y, *reward),
            larger_is_better=False,
            size=float(np.mean(errors)),
        ),
    )
