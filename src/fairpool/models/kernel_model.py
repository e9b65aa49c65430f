"""What Gaussian processes have in common, exact or not: a kernel, and how it is learned."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fairpool.models import kernels
from fairpool.models.hyperparameters import (
    NOISE_BOUNDS,
    Learned,
    Likelihood,
    LikelihoodOfSets,
    maximise_likelihood,
    maximise_likelihood_of_sets,
)
from fairpool.models.model import Model
from fairpool.tables.arrays import FloatArray, as_matrix, as_one_set_of_labels, positive


class Likelihoods(NamedTuple):
    """What a process's kernel is learned by.

    Attributes:
        of_labels: Of one set of labels, whose noise variance is learned, too.
        of_sets: Of several sets of labels with known noise.
        entries: Of the largest matrix that either needs.
    """

    of_labels: Likelihood
    of_sets: LikelihoodOfSets
    entries: int


@dataclass(frozen=True, eq=False)
class KernelModel(Model):
    """A Gaussian process with a kernel of scikit-learn's, or what approximates one."""

    kernel: Any
    noise_variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", kernels.checked(self.kernel))
        object.__setattr__(self, "noise_variance", positive(self.noise_variance, "noise_variance"))

    @abstractmethod
    def _likelihoods(self, rows: int) -> Likelihoods:
        """What is maximised, for so many rows.

        Inducing points and frequencies stay where they are.
        """

    def learn(
        self,
        X: Any,
        y: Any,
        rng: np.random.Generator | int | None = None,
        *,
        restarts: int = 0,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,
    ) -> Learned:
        """Kernel parameters and noise variance of the largest likelihood found.

        The search starts at this model's own values, and again at `restarts` random ones.
        """
        X, _ = as_matrix(X, "hyperparameter data")
        likelihoods = self._likelihoods(len(X))
        fit = maximise_likelihood(
            likelihoods.of_labels,
            kernel=self.kernel,
            noise=self.noise_variance,
            X=X,
            y=as_one_set_of_labels(y, len(X)),
            rng=rng,
            restarts=restarts,
            noise_bounds=noise_bounds,
            entries=likelihoods.entries,
        )
        model = replace(self, kernel=fit.kernel, noise_variance=fit.noise_variance)
        return Learned(model, fit.notes)

    def learn_prior(
        self,
        X: FloatArray,
        Y: FloatArray,
        noise: FloatArray,
        *,
        rng: np.random.Generator | int | None = None,
        restarts: int = 0,
    ) -> Learned:
        """The kernel of the largest likelihood of several sets of labels, whose noise is known."""
        likelihoods = self._likelihoods(len(X))
        fit = maximise_likelihood_of_sets(
            likelihoods.of_sets,
            kernel=self.kernel,
            X=X,
            Y=Y,
            noise=noise,
            rng=rng,
            restarts=restarts,
            entries=likelihoods.entries,
        )
        return Learned(replace(self, kernel=fit.kernel), fit.notes)
