"""Eq. (1): the value of a coalition's data is its information gain on the model's parameters."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fairpool.coalitions import Coalition, mask_of
from fairpool.compute.workers import Workers
from fairpool.errors import DataError, shown
from fairpool.information import RewardCurve, Space
from fairpool.models import Model, TrainedPosterior
from fairpool.parties import PartyData, Pool
from fairpool.tables.arrays import FloatArray, read_only
from fairpool.values.game import Evaluator, Game

MOST_CURVE_BYTES = 1 << 30
"""All parties' reward curves are kept up to this much together."""


class InformationGain(Game):
    """v_C = I(theta; D_C), how much the coalition's data reduces the uncertainty about theta.

    Paper: Eq. (1), Sec. 3; App. E.5. The model's hyperparameters are the same for every coalition,
    fixed beforehand. The labels are never looked at: they matter for what a model predicts, not for
    how sure it is.

    Args:
        model: A Gaussian process, sparse Gaussian process, or Bayesian linear regression.
        parties: The parties; for a model with weights, some or all of them by their summaries
            (`model.summarise(party)`).
    """

    properties_proved = True

    def __init__(self, model: Model, parties: Sequence[PartyData]) -> None:
        if not isinstance(model, Model):
            raise DataError(
                f"{shown(model)} is not a model; give a GaussianProcess, SparseGaussianProcess or"
                " regression"
            )
        if isinstance(parties, PartyData):
            raise DataError("give the parties as a list, even a single one")
        self.model = model
        self.pool = Pool.of(parties, model)
        model.check(self.pool)
        self.names = self.pool.names
        self.rows = self.pool.sizes
        self._curves: dict[int, RewardCurve] = {}

    @cached_property
    def space(self) -> Space:
        """The rows' kernel matrix or the parties' precisions, whichever the model prefers."""
        return self.model.space(self.pool)

    def value_of_mask(self, mask: int) -> float:
        """v_C by one factorisation."""
        return self.space.value(mask)

    def all_values(self, workers: Workers) -> FloatArray:
        """All 2**n values, sharing work between coalitions."""
        self.model.refuse_too_many_rows(self.rows, workers.here)
        return self.space.values(workers)

    def adopt(self, values: FloatArray) -> None:
        """Keep all 2**n values that came with something else, unless they are known."""
        if not self.tabulated:
            self._table = read_only(values)

    @property
    def evaluator(self) -> Evaluator:
        """The space, which holds no labels; or this game, where all values are known."""
        return self if self.tabulated else self.space

    @cached_property
    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]."""
        if self.tabulated:
            return super().without_one
        return read_only(self.space.without_one())

    def with_more_rows(
        self, party: int, *, more: int, rng: np.random.Generator
    ) -> "InformationGain":
        """The values if a party had more rows of the kind that it has, drawn at random.

        They are values alone: nobody knows the labels of rows that are not there.
        """
        grown = InformationGain(self.model, self.pool.parties)
        rows = list(self.rows)
        rows[party] += more
        grown.rows = tuple(rows)
        grown.space = self.space.with_more_rows(party, rows=self.rows[party], more=more, rng=rng)
        return grown

    def posterior(self, coalition: Coalition) -> TrainedPosterior:
        """The model trained on a coalition's data D_C, labels and all."""
        return self.model.posterior_of(self.pool, mask_of(coalition, self.names))

    def reward_curve(self, party: int) -> RewardCurve:
        """r_i(tau) of Sec. 4.3; kept for every later rho, unless all would take too much memory.

        Who asks a second time may ask many more: then the curve is made ready for that.
        """
        if party in self._curves:
            self._curves[party] = self._curves[party].for_many()
            return self._curves[party]
        curve = self.space.reward_curve(party, self.model.noise_variance)
        if self.n * self.space.curve_bytes <= MOST_CURVE_BYTES:
            self._curves[party] = curve
        return curve

    @cached_property
    def rounding_error(self) -> float:
        """How far rounding may put a value off, whatever the columns' units."""
        return self.space.rounding_error + self.model.rounding_error(self.pool)

    def __repr__(self) -> str:
        names = ", ".join(self.names)
        return f"InformationGain({type(self.model).__name__}, {self.n} parties: {names})"
