"""What every Bayesian model is: trained on rows, and asked by a game about pooled data.

To add a model, write a class with these members in a file beside this one (for one with weights,
`WeightModel` has most of them), and a kind for configurations and reward files in
`fairpool.model_kinds`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from fairpool.errors import DataError
from fairpool.information import LabelledSpace, Space
from fairpool.models.hyperparameters import NOISE_BOUNDS, Learned
from fairpool.models.metrics import mnlp
from fairpool.models.posteriors import TrainedPosterior
from fairpool.notes import warn_of
from fairpool.parties import Party, Pool
from fairpool.tables.arrays import FloatArray


class Model(ABC):
    """A model of labels y given inputs X, with Gaussian noise.

    Its hyperparameters are fixed: `fit_hyperparameters` gives another model. The same ones serve
    every coalition, since values would not be monotone otherwise.
    """

    noise_variance: float
    """Of the labels, where a row has none of its own."""

    @abstractmethod
    def posterior(self, X: Any, y: Any, noise_variance: Any = None) -> TrainedPosterior:
        """Train on X [m, p] and y [m] (or [m, k]: k sets of labels, one factorisation).

        Args:
            X: Inputs.
            y: Labels.
            noise_variance: One number, or one per row; None: the model's. An infinite one silences
                its row.
        """

    @abstractmethod
    def prior_variance_at(self, X: FloatArray) -> FloatArray:
        """Variance of the latent values at X [m], before anything was learned."""

    @abstractmethod
    def log_marginal_likelihood(self, X: Any, y: Any, noise_variance: Any = None) -> float:
        """log p(y | X): how well the model explains the labels before it has seen them."""

    @abstractmethod
    def learn(
        self,
        X: Any,
        y: Any,
        rng: np.random.Generator | int | None = None,
        *,
        restarts: int = 0,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> Learned:
        """What `fit_hyperparameters` does, with notes instead of warnings."""

    def fit_hyperparameters(
        self,
        X: Any,
        y: Any,
        rng: np.random.Generator | int | None = None,
        *,
        restarts: int = 0,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> Self:
        """The same model with the hyperparameters that maximise the likelihood of y.

        Paper: Sec. 5. A warning says so where no optimum was reached.

        Args:
            X: Inputs [m, p].
            y: Labels [m].
            rng: Seed or generator of random starts.
            restarts: How many random starts there are besides this model's own values, where the
                search depends on them.
            noise_bounds: Where the noise variance is searched.
        """
        learned = self.learn(X, y, rng, restarts=restarts, noise_bounds=noise_bounds)
        warn_of(learned.notes)
        fitted: Self = learned.model
        return fitted

    def learn_prior(
        self,
        X: FloatArray,  # noqa: ARG002 -- for whoever can
        Y: FloatArray,  # noqa: ARG002
        noise: FloatArray,  # noqa: ARG002
        *,
        rng: np.random.Generator | int | None = None,  # noqa: ARG002
        restarts: int = 0,  # noqa: ARG002
    ) -> Learned:
        """The prior of the largest likelihood of several sets of labels, whose noise is known.

        Args:
            X: Inputs [m, p].
            Y: Sets of labels [m, k]; their likelihoods are multiplied.
            noise: Their noise variances [m, k].
            rng: Of random starts.
            restarts: How many of them.
        """
        raise DataError(f"the prior of a {type(self).__name__} cannot be learned for classes")

    # What a game asks.

    label_sets: int = 1
    """How many sets of numbers a label becomes, each with noise of its own; one for each class."""

    def gain_of(self, posterior: TrainedPosterior, party: Party) -> float:
        """I(theta; D | what the posterior was trained on), for more rows D."""
        return posterior.gain_from(party.X, party.noise_of_rows(self.noise_variance))

    def residual(self, posterior: TrainedPosterior, party: Party) -> float:
        """How far labels are from what is predicted, in predicted standard deviations.

        The root mean square of (y - mean) / standard deviation over the party's rows.
        """
        mean, variance = posterior.predict(party.X)
        if party.noise_variance is not None:  # its labels have a noise of their own
            variance = variance - self.noise_variance + party.noise_variance
        return float(np.sqrt(np.mean((party.y - mean) ** 2 / variance)))

    def surprise(self, y: FloatArray, prediction: tuple[FloatArray, FloatArray]) -> float:
        """Mean negative log probability of labels y [t], given what was predicted."""
        return float(mnlp(y, *prediction))

    @abstractmethod
    def check(self, pool: Pool) -> None:
        """Refuse data that this model cannot be trained on."""

    @abstractmethod
    def space(self, pool: Pool) -> Space:
        """Where the values of coalitions are computed."""

    @abstractmethod
    def labelled_space(self, pool: Pool, space: Space) -> LabelledSpace:
        """The same with the labels, by which coalitions' data are compared with each other.

        Args:
            pool: The data.
            space: What `space` gave.
        """

    def judged_space(self, pool: Pool, space: Space) -> LabelledSpace:
        """The space in which labels are compared with what the model makes one expect of them."""
        return self.labelled_space(pool, space)

    @abstractmethod
    def posterior_of(self, pool: Pool, mask: int) -> TrainedPosterior:
        """The model trained on a coalition's data, given as a bitmask."""

    @abstractmethod
    def posterior_with_noise(
        self, pool: Pool, space: Space, *, eta: FloatArray, z: Sequence[FloatArray]
    ) -> TrainedPosterior:
        """The model trained on everybody's data, with noise added to some labels.

        Args:
            pool: The data.
            space: What `space` gave.
            eta: The variance of the noise added to each party's labels [n]; where it is infinite,
                the party takes no part.
            z: The noise on each party's labels, [label_sets * label_draws], or that and [.., k]
                for k sets of them.
        """

    def rounding_error(self, pool: Pool) -> float:  # noqa: ARG002 -- most models compute exactly
        """How far rounding in the model itself may put a value off, in nats."""
        return 0.0

    def refuse_too_many_rows(self, sizes: Sequence[int], workers: int) -> None:  # noqa: B027
        """Refuse to value all coalitions of so many rows where memory would not do."""

    @property
    def inputs_within(self) -> FloatArray:
        """The inputs that the model itself contains [k, p], and so whoever receives it."""
        return np.empty((0, 0))
