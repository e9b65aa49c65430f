"""What Bayesian linear regression and the sparse Gaussian process share: d weights.

They are standard normal a priori. Everything they learn from a party's rows is a d x d matrix and a
d-vector, and these add up over rows, batches and parties. So a party can be summarised batch by
batch, or by itself, and no row needs to travel.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from fairpool.coalitions import members
from fairpool.compute.memory import refuse_beyond_memory
from fairpool.errors import DataError
from fairpool.information import (
    KernelSpace,
    LabelledKernel,
    LabelledSpace,
    LabelledWeights,
    Space,
    WeightSpace,
)
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.log_determinant import half_log_determinant_by_factor
from fairpool.linear_algebra.solving import solve_factorised
from fairpool.models.evidence import AS_GIVEN, FACTOR_BOUNDS, Evidence, evidence_of
from fairpool.models.hyperparameters import NOISE_BOUNDS, Learned, check_noise_bounds
from fairpool.models.model import Model
from fairpool.models.posteriors import WeightPosterior
from fairpool.notes import warn_of
from fairpool.parties import FeatureBounds, Party, PartyData, PartySummary, Pool
from fairpool.tables.arrays import (
    FloatArray,
    as_labels,
    as_matrix,
    as_noise,
    as_one_set_of_labels,
)


class RowSums(NamedTuple):
    """Sums over rows, all that the model learns from them; those of several batches add up.

    Attributes:
        gram: A^T A of the whitened features A [d, d].
        moment: A^T (y - prior mean) [d].
        squares: Sum of (y - prior mean)^2.
    """

    gram: FloatArray
    moment: FloatArray
    squares: FloatArray | float

    def plus(self, more: "RowSums") -> "RowSums":
        """Over both ones' rows."""
        return RowSums(
            self.gram + more.gram, self.moment + more.moment, self.squares + more.squares
        )


class WeightModel(Model):
    """A model y = prior mean + A u + noise: whitened features A [m, d], weights u ~ N(0, I)."""

    @abstractmethod
    def whitened_features(self, X: FloatArray) -> FloatArray:
        """A [m, d] with A A^T = prior covariance of the latent values at X."""

    def prior_mean_at(self, X: FloatArray) -> FloatArray:
        """Prior mean of the latent values at X [m]."""
        return np.zeros(len(X))

    def residual_variance(self, X: FloatArray, A: FloatArray) -> FloatArray:  # noqa: ARG002
        """Prior variance at X [m] that the weights do not explain."""
        return np.zeros(len(X))

    def prior_variance_at(self, X: FloatArray) -> FloatArray:
        """Prior variance of the latent values at X [m]."""
        A = self.whitened_features(X)
        return np.asarray(np.einsum("ij,ij->i", A, A) + self.residual_variance(X, A))

    def posterior(self, X: Any, y: Any, noise_variance: Any = None) -> WeightPosterior:
        """Train on X [m, p] and y [m] (or [m, k]: k sets of labels, one factorisation)."""
        X, columns = as_matrix(X, "training data")
        y = as_labels(y, len(X))
        noise = as_noise(
            self.noise_variance if noise_variance is None else noise_variance,
            len(X),
            "training data",
        )
        A = self.whitened_features(X) / np.sqrt(noise)[:, None]
        residual = ((y.T - self.prior_mean_at(X)) / np.sqrt(noise)).T
        return self.posterior_from_moments(A.T @ A, A.T @ residual, X.shape[1], columns=columns)

    def posterior_from_moments(
        self,
        precision: FloatArray,
        moment: FloatArray,
        inputs: int,
        *,
        columns: tuple[str, ...] | None = None,
    ) -> WeightPosterior:
        """The posterior from sums over rows alone.

        Args:
            precision: A^T D^-1 A [d, d].
            moment: A^T D^-1 (y - prior mean) [d], or [d, k] for k sets of labels.
            inputs: Number p of input columns.
            columns: Their names, if known.
        """
        L = lower_factor(np.eye(len(precision)) + precision)
        weights = solve_factorised(L, moment)
        return WeightPosterior(
            model=self, inputs=inputs, weights=weights, factor=L, columns=columns
        )

    # What a game asks.

    def check(self, pool: Pool) -> None:
        """Refuse sums that were made with other features, or that no rows can have."""
        for party in pool.parties:
            party.refuse_other_model(self)

    def space(self, pool: Pool) -> Space:
        """Weight space; kernel space where there are fewer rows than weights, and all are known."""
        weights = self.whitened_features(np.zeros((0, pool.inputs))).shape[1]
        if pool.shows_all_rows and sum(pool.sizes) < weights:
            A = self.whitened_features(pool.X)
            return KernelSpace.of(A @ A.T, pool.sizes, pool.noise)
        # Each party's precision, moments and what is made of them, and some stacks.
        needed = 8 * (3 * len(pool.parties) + 6) * weights**2
        refuse_beyond_memory(
            needed,
            f"a model of {weights} weights for {len(pool.parties)} parties",
            "use fewer weights",
        )
        unequal = {}
        for i, statistics in enumerate(pool.statistics):
            rows = statistics.unequal_rows
            if rows is not None:
                unequal[i] = rows
        return WeightSpace(
            P=np.array([statistics.told.precision for statistics in pool.statistics]),
            noise=np.array([statistics.common_noise for statistics in pool.statistics]),
            unequal=unequal,
        )

    def labelled_space(self, pool: Pool, space: Space) -> LabelledSpace:
        """With the parties' moments; with their labels where the space is the kernel's."""
        if isinstance(space, KernelSpace):
            residual = pool.y - self.prior_mean_at(pool.X)
            return LabelledKernel(space=space, labels=residual / np.sqrt(pool.noise))
        told = [statistics.told for statistics in pool.statistics]
        return LabelledWeights(
            P=np.array([one.precision for one in told]),
            labels=np.array([one.moment for one in told]),
            squares=np.array([statistics.told_squares for statistics in pool.statistics]),
            rows=np.array([statistics.label_count for statistics in pool.statistics]),
        )

    def posterior_of(self, pool: Pool, mask: int) -> WeightPosterior:
        """From what the coalition's members tell, which adds up."""
        told = [pool.statistics[i].told for i in members(mask)]
        d = len(pool.statistics[0].moment)
        precision = np.array([one.precision for one in told]).reshape(-1, d, d).sum(axis=0)
        moment = np.array([one.moment for one in told]).reshape(-1, d).sum(axis=0)
        return self.posterior_from_moments(precision, moment, pool.inputs)

    def posterior_with_noise(
        self,
        pool: Pool,
        space: Space,  # noqa: ARG002 -- the statistics say it all
        *,
        eta: FloatArray,
        z: Sequence[FloatArray],
    ) -> WeightPosterior:
        """From sums alone: noise N(0, eta I) on a party's labels is N(0, eta G) on its moment."""
        weights, grams, moments, others = [], [], [], []
        for i, statistics in enumerate(pool.statistics):
            if np.isnan(statistics.common_noise):
                others.append(statistics.weakened(float(eta[i]), z[i]))
                continue
            weights.append(1 / (statistics.common_noise + eta[i]))
            grams.append(statistics.gram)
            moments.append((statistics.moment + statistics.disturbance(z[i]).T).T)
        d = len(pool.statistics[0].moment)
        precision = np.tensordot(weights, np.reshape(grams, (-1, d, d)), axes=1)
        moment = np.tensordot(weights, np.reshape(moments, (-1, d, *z[0].shape[1:])), axes=1)
        for told in others:
            precision = precision + told.precision
            moment = moment + told.moment
        return self.posterior_from_moments(precision, moment, pool.inputs, columns=pool.columns)

    def rounding_error(self, pool: Pool) -> float:
        """How far rounding in the features themselves may put a value off, in nats."""
        told = np.array([statistics.told.precision for statistics in pool.statistics])
        return self.rounding_error_of(told.sum(axis=0))

    def rounding_error_of(self, P: FloatArray) -> float:  # noqa: ARG002 -- most features are exact
        """The same, where all rows tell P = A^T D^-1 A [d, d] about the whitened weights."""
        return 0.0

    def summarise(self, party: Party) -> PartySummary:
        """A party's sufficient statistics, all that the chain needs of it.

        Those of several batches of one party are added up with +.
        """
        noise = np.unique(
            self.noise_variance if party.noise_variance is None else party.noise_variance
        )
        if len(noise) > 1:
            raise DataError(
                f'party "{party.name}" has a noise variance per row; a summary needs one for all'
                " its rows"
            )
        s2 = float(noise[0]) if len(noise) else self.noise_variance
        self.probe(party.inputs)  # first, since it refuses a model for other inputs
        sums = self.moments(party.X, party.y)
        summary = self.summary_of(party.name, sums, rows=len(party), inputs=party.inputs)
        return replace(summary, noise_variance=s2)

    def summary_of(self, name: str, sums: RowSums, *, rows: int, inputs: int) -> PartySummary:
        """The sums over a party's rows, as party data, with the model's noise variance."""
        return PartySummary(
            name=name,
            gram=sums.gram,
            moment=sums.moment,
            squares=float(sums.squares),
            noise_variance=self.noise_variance,
            rows=rows,
            inputs=inputs,
            probe=self.probe(inputs),
        )

    def moments(self, X: FloatArray, y: FloatArray) -> RowSums:
        """Sums over some rows.

        For batches: nothing is checked, the sums are.
        """
        A = self.whitened_features(X)
        residual = y - self.prior_mean_at(X)
        return RowSums(A.T @ A, A.T @ residual, float(residual @ residual))

    def with_prior_scaled(self, factor: float) -> Self:
        """The same with the prior covariance of the latent values times a factor."""
        raise DataError(f"the prior of a {type(self).__name__} cannot be scaled by {factor:.3g}")

    def learn_from_sums(
        self,
        parties: Sequence[PartyData],
        *,
        scale_prior: bool = True,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> Learned:
        """What `fit_from_sums` does, with notes instead of warnings."""
        check_noise_bounds(noise_bounds)
        factor_bounds = FACTOR_BOUNDS if scale_prior else AS_GIVEN
        best = self.evidence(parties).best(noise_bounds=noise_bounds, factor_bounds=factor_bounds)
        # Where nothing is to be scaled, a model need not know how.
        model = self.with_prior_scaled(best.factor) if scale_prior else self
        learned = model.with_noise(best.noise)
        return Learned(learned, best.notes(noise_bounds, factor_bounds))

    def fit_from_sums(
        self,
        parties: Sequence[PartyData],
        *,
        scale_prior: bool = True,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> Self:
        """The same model with the scales that maximise the likelihood of all labels.

        The noise variance and one factor on the prior variance of all weights; length scales,
        features and inducing points stay. Sums over rows will do, and the optimum is the one that
        the rows have: `fairpool.models.evidence`. The same sums serve the model that was learned:
        `PartySummary.under`. A warning says so where no optimum within the bounds was reached.

        Args:
            parties: Summaries; or rows, or some of each.
            scale_prior: Whether the prior's factor is learned, too, and not the noise alone.
            noise_bounds: Where the noise variance is searched.
        """
        learned = self.learn_from_sums(parties, scale_prior=scale_prior, noise_bounds=noise_bounds)
        warn_of(learned.notes)
        fitted: Self = learned.model
        return fitted

    def with_noise(self, noise_variance: float) -> Self:
        """The same with another noise variance."""
        changed: Self = replace(self, noise_variance=noise_variance)  # type: ignore[type-var]
        return changed

    def evidence(self, parties: Sequence[PartyData]) -> Evidence:
        """The log likelihood of all parties' labels, for any noise variance and prior scale.

        Args:
            parties: Whose rows have the model's noise variance, as they do by default.
        """
        return evidence_of(Pool.of(parties, self))

    def feature_bounds(self, inputs: int) -> FeatureBounds:  # noqa: ARG002 -- nothing is known
        """What the features of any row can be, by which invented sums are recognised."""
        return FeatureBounds()

    def probe(self, inputs: int) -> FloatArray:
        """Features and prior mean at a few fixed inputs [3, d + 1].

        Models that agree there have the same features.
        """
        X = np.sin(np.arange(1.0, 3 * inputs + 1)).reshape(3, inputs)
        return np.column_stack([self.whitened_features(X), self.prior_mean_at(X)])

    def log_marginal_likelihood(self, X: Any, y: Any, noise_variance: Any = None) -> float:
        """log p(y | X): how well the model explains the labels before it has seen them."""
        X, _ = as_matrix(X, "training data")
        noise = as_noise(
            self.noise_variance if noise_variance is None else noise_variance,
            len(X),
            "training data",
        )
        A = self.whitened_features(X) / np.sqrt(noise)[:, None]
        y = (as_one_set_of_labels(y, len(X)) - self.prior_mean_at(X)) / np.sqrt(noise)
        L = lower_factor(np.eye(A.shape[1]) + A.T @ A)
        # (I + A A^T)^-1 y = y - A w with w the posterior weights: no difference of two large
        # squares.
        w = solve_factorised(L, A.T @ y)
        log_det = 2 * half_log_determinant_by_factor(L) + np.log(noise).sum()
        residual = y - A @ w
        return float(-0.5 * (residual @ residual + w @ w + log_det + len(y) * np.log(2 * np.pi)))
