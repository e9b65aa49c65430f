"""One party's reward: a trained model worth exactly what the party is due."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fairpool.encoding import TableEncoding
from fairpool.errors import RewardFileError
from fairpool.models import TrainedPosterior
from fairpool.notes import warn_of
from fairpool.realisation.disclosure import Exposure
from fairpool.realisation.level import Level
from fairpool.realisation.mechanism import Mechanism
from fairpool.realisation.outlying import OutlyingRow
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.targets import label_sets

if TYPE_CHECKING:
    from fairpool.realisation.estimators import RewardClassifier, RewardRegressor


@dataclass(frozen=True, kw_only=True)
class Update:
    """That its recipient has brought a reward up to date with rows of its own.

    Attributes:
        rows: How many rows of its own the recipient gave.
        rows_are_all: Whether these are all that it has, or were added to those that went in before.
        awarded: r_i, what the reward was worth when the operator made it.
    """

    rows: int
    rows_are_all: bool
    awarded: float


@dataclass(frozen=True, kw_only=True)
class LedgerMark:
    """Where the operator's ledger tells of a reward.

    Attributes:
        round: The number of the round.
        head: The hash of the round's record: a ledger that has no such record was cut or replaced.
    """

    round: int
    head: str


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelReward:
    """The model that a party receives.

    Paper: Sec. 4.3.

    Attributes:
        party: Its name.
        target: r_i*, what it is due.
        level: How much of the others' data is left in it, and what it is worth.
        mechanism: How that was done.
        posterior: The trained model.
        holds_inputs_of_others: Whether the model, and so its file, contains rows of other parties'
            inputs.
        rho: The rho of the reward scheme, if known.
        encoding: How a table becomes the model's inputs, and predictions become the target's units,
            if known.
        delivery: How the party's own tables come, so that it can predict others like them. It is
            nobody else's affair, and stands in nobody else's file.
        exposure: What its file would tell of small parties; None if nothing of others went in, or
            if it came out of a file.
        covariance_price: How many nats it costs that the covariance hides the others' inputs.
        for_evaluation: Whether it was trained on several draws of the noise, or on noise that is
            not nested: such a model must not leave the central party, and cannot be saved.
        known_noise: Whether the noise came from a seed or a generator that somebody gave, and so
            can remove; no file says it.
        updated: What its recipient has made of it since (`fairpool.realisation.update`); None: it
            is as the operator made it.
        ledger: The round that it was released in; None: in none.
        own_noise: Whether its recipient put noise on what it sent, so that the recipient's rows
            themselves are not in it.
    """

    party: str
    target: float
    level: Level
    mechanism: Mechanism
    posterior: TrainedPosterior
    holds_inputs_of_others: bool = False
    rho: float | None = None
    encoding: TableEncoding | None = None
    delivery: Delivery = AS_AGREED
    exposure: Exposure | None = None
    covariance_price: float = 0.0
    for_evaluation: bool = False
    known_noise: bool = False
    updated: Update | None = None
    ledger: LedgerMark | None = None
    own_noise: bool = False

    @property
    def value(self) -> float:
        """r_i, the information gain of the data that the model was trained on.

        Where its recipient has added rows, theirs is in it.
        """
        return self.level.value

    @property
    def tau(self) -> float:
        """How much of what the others' data tell is left, from 1 to 0; it is s2 / (s2 + eta)."""
        return self.level.tau

    @property
    def eta(self) -> float:
        """Variance of the noise added to the others' labels; nan if nothing of that kind was done.

        Where it is infinite, none of the others' data went in.
        """
        return float(getattr(self.level, "eta", np.nan))

    def predict(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of y* at X [t, p], observation noise included (never eta).

        Of a classifier, every class's probability [t, k], and the variance of the most probable
        one's [t].
        """
        return self.posterior.predict(X)

    def predict_table(
        self, table: Any, *, encoders: str | Path | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the target in its own units, for a table of named columns.

        It may be any that speaks Arrow.
        A level that the model does not know is treated as none of the known ones, with a
        `FairpoolWarning`.

        Args:
            table: With the model's columns; of images, their bytes.
            encoders: Where the encoders are, if the model needs some: the folder of one, or a
                folder of such folders. A reward that was not read from a file knows it.
        """
        if self.encoding is None:
            raise RewardFileError(
                f'the reward of "{self.party}" knows no column names; use predict with an array of'
                " its inputs instead"
            )
        place = None if encoders is None else Path(encoders)
        encoding = self.encoding.with_encoders(place)
        table = encoding.with_days(pa.table(table))
        X = encoding.encode(table)
        warn_of(encoding.unknown_levels(table))
        return encoding.target.decode(*self.predict(X))

    def as_regressor(self, *, encoders: str | Path | None = None) -> "RewardRegressor":
        """Itself as a fitted scikit-learn regressor: `predict`, `score`, and tools that inspect it.

        It takes tables, where the reward knows how one becomes its inputs, and arrays otherwise.
        Fitting it, and so cross-validation, is refused.

        Args:
            encoders: As for `predict_table`.
        """
        from fairpool.realisation.estimators import regressor_of  # scikit-learn takes a second

        return regressor_of(self._with_encoders(encoders))

    def as_classifier(self, *, encoders: str | Path | None = None) -> "RewardClassifier":
        """Itself as a fitted scikit-learn classifier: `predict`, `predict_proba`, `classes_`.

        Args:
            encoders: As for `predict_table`.
        """
        from fairpool.realisation.estimators import classifier_of

        return classifier_of(self._with_encoders(encoders))

    def _with_encoders(self, place: str | Path | None) -> "ModelReward":
        """The same, knowing where the encoders of its texts and images are."""
        if self.encoding is None or place is None:
            return self
        return replace(self, encoding=self.encoding.with_encoders(Path(place)))

    def with_encoding(self, encoding: TableEncoding) -> "ModelReward":
        """The same, knowing how a table becomes its inputs, and its predictions the target's units.

        Args:
            encoding: What the parties' X and y were made with.
        """
        features, inputs = len(encoding.features), self.posterior.inputs
        if features != inputs:
            raise RewardFileError(
                f'the encoding makes {features} input(s) of a table, the reward of "{self.party}"'
                f" needs {inputs}; give the one that its parties' inputs were made with"
            )
        classes = label_sets(encoding.target)
        if classes != self.posterior.model.label_sets:
            raise RewardFileError(
                f'the encoding is for {classes} class(es), the reward of "{self.party}" for'
                f" {self.posterior.model.label_sets}"
            )
        return replace(self, encoding=encoding)

    def with_outlying(self, rows: dict[str, OutlyingRow]) -> "ModelReward":
        """The same, knowing which rows of others stand out in it, by party."""
        if self.exposure is None:
            return self
        return replace(self, exposure=replace(self.exposure, outlying=rows))

    def save(
        self,
        path: str | Path,
        *,
        share_inputs: bool = False,
        known_noise: bool = False,
        share_labels: bool = False,
    ) -> None:
        """Write the reward as a safetensors file, atomically; `fairpool.load_reward` opens it.

        Args:
            path: Where to.
            share_inputs: Say that the parties agreed to show each other their inputs. An exact
                Gaussian process needs it, since its file holds everybody's inputs; models with
                weights do not.
            known_noise: Say that you know that the noise can be removed by whoever knows the `rng`
                it was drawn with, and do not hand the file out.
            share_labels: Say that the parties agreed to show each other their labels. Of classes, a
                full covariance and an exact Gaussian process tell them, whatever the noise.
        """
        from fairpool.realisation.reward_file import save_reward

        save_reward(
            self,
            Path(path),
            share_inputs=share_inputs,
            known_noise=known_noise,
            share_labels=share_labels,
        )

    def __repr__(self) -> str:
        if self.tau == 1:
            noise = "no noise"
        elif self.tau == 0:
            noise = "own data only"
        elif np.isnan(self.eta):
            noise = f"{self.mechanism.name} {self.tau:.4g}"
        else:
            noise = f"noise variance {self.eta:.4g}"
        return f"ModelReward({self.party!r}, value {self.value:.6g}, {noise})"
