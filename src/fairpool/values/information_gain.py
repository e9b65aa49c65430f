"""Eq. (1): the value of a coalition's data is its information gain on the model's parameters."""

from collections.abc import Sequence
from functools import cached_property
from typing import cast

import numpy as np

from fairpool.coalitions import Coalition, mask_of, members
from fairpool.compute.memory import refuse_beyond_memory
from fairpool.compute.workers import Workers
from fairpool.errors import DataError, shown
from fairpool.information import KernelSpace, RewardCurve, WeightSpace
from fairpool.models import GaussianProcess, Model, TrainedPosterior, WeightModel
from fairpool.parties import Party, PartySummary, Pool, check_names
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
        parties: The parties; or, for a model with weights, their summaries
            (`model.summarise(party)`).
    """

    properties_proved = True

    def __init__(self, model: Model, parties: Sequence[Party] | Sequence[PartySummary]) -> None:
        if not isinstance(model, GaussianProcess | WeightModel):
            raise DataError(
                f"{shown(model)} is not a model; give a GaussianProcess, SparseGaussianProcess or"
                " regression"
            )
        if isinstance(parties, Party | PartySummary):
            raise DataError("give the parties as a list, even a single one")
        parties = cast("Sequence[Party] | Sequence[PartySummary]", tuple(parties))
        self.model = model
        self.pool: Pool | None = None
        self.summaries: tuple[PartySummary, ...] = ()
        if any(isinstance(party, PartySummary) for party in parties):
            self.summaries = _check_summaries(model, parties)
        else:
            self.pool = Pool.of(cast("Sequence[Party]", parties), model.noise_variance)
        self.names = tuple(party.name for party in parties)
        self.rows = tuple(len(party) for party in parties)
        self._curves: dict[int, RewardCurve] = {}

    @cached_property
    def space(self) -> KernelSpace | WeightSpace:
        """The rows' kernel matrix or the parties' precisions, whichever is smaller for this model."""
        if self.pool is None:
            noise = np.array([s.noise_variance for s in self.summaries])
            _refuse_too_many_weights(self.n, len(self.summaries[0].moment))
            return WeightSpace(np.array([s.gram / s.noise_variance for s in self.summaries]), noise)
        if isinstance(self.model, GaussianProcess):
            self._refuse_too_many_rows(KernelSpace.memory(self.pool.sizes, all_values=False))
            return KernelSpace.of(
                self.model.covariance(self.pool.X), self.pool.sizes, self.pool.noise
            )
        A = self.model.whitened_features(self.pool.X)
        if len(A) < A.shape[1]:  # fewer rows than weights
            return KernelSpace.of(A @ A.T, self.pool.sizes, self.pool.noise)
        _refuse_too_many_weights(self.n, A.shape[1])
        return WeightSpace.of(A, self.pool.sizes, self.pool.noise)

    def value_of_mask(self, mask: int) -> float:
        """v_C by one factorisation."""
        return self.space.value(mask)

    def all_values(self, workers: Workers) -> FloatArray:
        """All 2**n values, sharing work between coalitions."""
        if self.pool is not None and isinstance(self.model, GaussianProcess):
            needed = KernelSpace.memory(self.pool.sizes, all_values=True, workers=workers.here)
            self._refuse_too_many_rows(
                needed, 'sample the contributions (shapley(game, method="sampled")), '
            )
        return self.space.values(workers)

    @property
    def evaluator(self) -> Evaluator:
        """The space, which holds no labels; or this game, where all values are known."""
        return self if self.tabulated else self.space

    @cached_property
    def without_one(self) -> FloatArray:
        """v of everybody but party i, for every i [n]."""
        if isinstance(self.space, KernelSpace) and not self.tabulated:
            return read_only(self.space.without_one())
        return read_only(self.evaluator.values_of(~np.eye(self.n, dtype=bool)))

    def _refuse_too_many_rows(self, needed: float, first: str = "") -> None:
        rows = f"an exact Gaussian process of {sum(self.rows)} rows"
        refuse_beyond_memory(
            needed, rows, f"{first}use a sparse one (SparseGaussianProcess), or fewer rows"
        )

    def posterior(self, coalition: Coalition) -> TrainedPosterior:
        """The model trained on a coalition's data D_C, labels and all."""
        mask = mask_of(coalition, self.names)
        if isinstance(self.model, WeightModel):
            P, q = self._moments
            C = list(members(mask))
            return self.model.posterior_from_moments(
                P[C].sum(axis=0), q[C].sum(axis=0), self.inputs
            )
        assert self.pool is not None  # a Gaussian process has no summaries
        rows = self.pool.rows(mask)
        return self.model.posterior(self.pool.X[rows], self.pool.y[rows], self.pool.noise[rows])

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return self.pool.X.shape[1] if self.pool else self.summaries[0].inputs

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Each party's precision [n, d, d] and moment [n, d]: they add up over a coalition."""
        assert isinstance(self.model, WeightModel)
        if self.pool is None:
            weight = [1 / s.noise_variance for s in self.summaries]
            pairs = [
                (w * s.gram, w * s.moment) for w, s in zip(weight, self.summaries, strict=True)
            ]
        else:
            root = np.sqrt(self.pool.noise)
            A = self.model.whitened_features(self.pool.X) / root[:, None]
            y = (self.pool.y - self.model.prior_mean_at(self.pool.X)) / root
            blocks = [(A[own], y[own]) for own in (self.pool.owner == i for i in range(self.n))]
            pairs = [(a.T @ a, a.T @ b) for a, b in blocks]
        return np.array([P for P, _ in pairs]), np.array([q for _, q in pairs])

    def reward_curve(self, party: int) -> RewardCurve:
        """r_i(tau) of Sec. 4.3; kept for every later rho, unless the parties' curves together would take too much."""
        if party in self._curves:
            return self._curves[party]
        curve = self.space.reward_curve(party, self.model.noise_variance)
        if self.n * self.space.curve_bytes <= MOST_CURVE_BYTES:
            self._curves[party] = curve
        return curve

    @cached_property
    def rounding_error(self) -> float:
        """How far rounding may put a value off, whatever the columns' units."""
        if not isinstance(self.model, WeightModel):
            return self.space.rounding_error
        return self.space.rounding_error + self.model.rounding_error(self._moments[0].sum(axis=0))

    def __repr__(self) -> str:
        return f"InformationGain({type(self.model).__name__}, {self.n} parties: {', '.join(self.names)})"


def _refuse_too_many_weights(parties: int, weights: int) -> None:
    """Each party's precision, moments and what is made of them, and some stacks."""
    needed = 8 * (3 * parties + 6) * weights**2
    refuse_beyond_memory(
        needed, f"a model of {weights} weights for {parties} parties", "use fewer weights"
    )


def _check_summaries(
    model: Model, parties: Sequence[Party] | Sequence[PartySummary]
) -> tuple[PartySummary, ...]:
    if not isinstance(model, WeightModel):
        raise DataError(
            "a Gaussian process needs every party's rows; summaries are for models with weights"
        )
    summaries = tuple(party for party in parties if isinstance(party, PartySummary))
    if len(summaries) < len(parties):
        raise DataError(
            "some parties are given by rows and some by summaries; give summaries of all, or rows"
            " of all"
        )
    check_names([s.name for s in summaries])
    for summary in summaries:
        summary.refuse_other_model(model.probe(summary.inputs))
    return summaries
