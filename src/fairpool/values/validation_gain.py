"""App. F.3, for comparison: the value of data by what it predicts on a validation set."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from fairpool.coalitions import members
from fairpool.errors import DataError
from fairpool.models import Model
from fairpool.parties import PartyData
from fairpool.tables.arrays import as_matrix, as_vector
from fairpool.values.game import Game
from fairpool.values.information_gain import InformationGain


class ValidationGain(Game):
    """v'_C = MNLP of the prior - MNLP of the model trained on D_C, over a validation set.

    Paper: App. F.3. Unlike information gain it can be negative and need not be monotone; Theorem
    1's promises are then void (`check_properties` tells).

    Args:
        model: Any model.
        parties: The parties; for a model with weights, some or all of them by their summaries.
        X: Validation inputs [t, p].
        y: Validation labels [t].
    """

    def __init__(self, model: Model, parties: Sequence[PartyData], X: Any, y: Any) -> None:
        self.data = InformationGain(model, parties)
        self.names = self.data.names
        self.X, _ = as_matrix(X, "validation data")
        self.y = as_vector(y, "validation data")
        if not len(self.y) or len(self.y) != len(self.X):
            raise DataError(
                f"validation data has {len(self.X)} rows and {len(self.y)} labels; it needs as many"
                " of both, and some"
            )

    def value_of_mask(self, mask: int) -> float:
        """v'_C."""
        return self._prior_mnlp - self._mnlp(mask)

    @cached_property
    def _prior_mnlp(self) -> float:
        return self._mnlp(0)

    def _mnlp(self, mask: int) -> float:
        predicted = self.data.posterior(members(mask)).predict(self.X)
        return self.data.model.surprise(self.y, predicted)
