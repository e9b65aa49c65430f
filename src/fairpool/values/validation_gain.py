"""App. F.3: the value of a coalition's data by what it predicts on a validation set, for comparison."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fairpool.arrays import FloatArray, as_matrix, as_vector
from fairpool.coalitions import members
from fairpool.errors import DataError
from fairpool.models import Model, Posterior, WeightModel, mnlp
from fairpool.parties import Party, Pool
from fairpool.values.game import Game


class ValidationGain(Game):
    """v'_C = MNLP of the prior - MNLP of the model trained on D_C, over a validation set.

    Paper: App. F.3. Unlike information gain it can be negative and need not be monotone; Theorem 1's promises are
    then void (`check_properties` tells).

    Args:
        model: Any model.
        parties: The parties.
        X: Validation inputs [t, p].
        y: Validation labels [t].
    """

    def __init__(self, model: Model, parties: Sequence[Party], X: Any, y: Any) -> None:
        self.model = model
        self.pool = Pool.of(parties, model.noise_variance)
        self.names = self.pool.names
        self.X, _ = as_matrix(X, "validation data")
        self.y = as_vector(y, "validation data")
        if not len(self.y) or len(self.y) != len(self.X):
            raise DataError(
                f"validation data has {len(self.X)} rows and {len(self.y)} labels; it needs as many of both, and some"
            )

    def value_of_mask(self, mask: int) -> float:
        """v'_C."""
        return self._prior_mnlp - self._mnlp(mask)

    @cached_property
    def _prior_mnlp(self) -> float:
        return self._mnlp(0)

    def _mnlp(self, mask: int) -> float:
        return float(mnlp(self.y, *self._posterior(mask).predict(self.X)))

    def _posterior(self, mask: int) -> Posterior:
        if isinstance(self.model, WeightModel):
            P, q = self._moments
            C = list(members(mask))
            return self.model.posterior_from_moments(P[C].sum(axis=0), q[C].sum(axis=0), self.X.shape[1])
        rows = self.pool.rows(mask)
        return self.model.posterior(self.pool.X[rows], self.pool.y[rows], self.pool.noise[rows])

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Each party's precision [n, d, d] and moment [n, d]: they add up over a coalition."""
        assert isinstance(self.model, WeightModel)
        root = np.sqrt(self.pool.noise)
        A = self.model.whitened_features(self.pool.X) / root[:, None]
        y = (self.pool.y - self.model.prior_mean_at(self.pool.X)) / root
        blocks = [(A[own], y[own]) for own in (self.pool.rows(1 << i) for i in range(self.n))]
        return np.array([a.T @ a for a, _ in blocks]), np.array([a.T @ b for a, b in blocks])
