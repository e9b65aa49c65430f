"""One party's reward: a trained model worth just what the party is due."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fairpool.errors import RewardFileError
from fairpool.models import TrainedPosterior
from fairpool.notes import warn_of
from fairpool.tables.arrays import FloatArray
from fairpool.tables.encoding import TableEncoding


@dataclass(frozen=True, eq=False)
class ModelReward:
    """The model that a party receives.

    Paper: Sec. 4.3.

    Attributes:
        party: Its name.
        target: r_i*, what it is due.
        value: r_i, the information gain of the data that its model was trained on.
        eta: Variance of the noise added to the others' labels; infinite: none of the others' data
            went in.
        tau: s2 / (s2 + eta).
        posterior: The trained model.
        holds_inputs_of_others: Whether the model, and so its file, contains rows of other parties'
            inputs.
        rho: The rho of the reward scheme, if known.
        encoding: How a table becomes the model's inputs, and predictions become the target's units,
            if known.
        for_evaluation: Whether it was trained on several draws of the noise, or on noise that is
            not nested: such a model must not leave the central party, and cannot be saved.
    """

    party: str
    target: float
    value: float
    eta: float
    tau: float
    posterior: TrainedPosterior
    holds_inputs_of_others: bool = False
    rho: float | None = None
    encoding: TableEncoding | None = None
    for_evaluation: bool = False

    def predict(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of y* at X [t, p], observation noise included (never eta)."""
        return self.posterior.predict(X)

    def predict_table(self, table: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the target in its own units, for an Arrow-compatible table of named
        columns.

        A level that the model does not know is treated as none of the known ones, with a
        `FairpoolWarning`.
        """
        if self.encoding is None:
            raise RewardFileError(
                f'the reward of "{self.party}" knows no column names; use predict with an array of'
                " its inputs instead"
            )
        table = pa.table(table)
        X = self.encoding.encode(table)
        warn_of(self.encoding.unknown_levels(table))
        return self.encoding.decode(*self.predict(X))

    def save(self, path: str | Path, *, share_inputs: bool = False) -> None:
        """Write the reward as a safetensors file, atomically; `fairpool.load_reward` opens it.

        Args:
            path: Where to.
            share_inputs: Say that the parties agreed to show each other their inputs. An exact
                Gaussian process needs it, since its file holds everybody's inputs; models with
                weights do not.
        """
        from fairpool.realisation.reward_file import save_reward

        save_reward(self, Path(path), share_inputs=share_inputs)

    def __repr__(self) -> str:
        noise = (
            "no noise"
            if self.eta == 0
            else f"noise variance {self.eta:.4g}"
            if np.isfinite(self.eta)
            else "own data only"
        )
        return f"ModelReward({self.party!r}, value {self.value:.6g}, {noise})"
