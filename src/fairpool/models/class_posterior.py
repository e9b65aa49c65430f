"""What a classifier has learned: one posterior for each class's latent function."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairpool.models.class_probabilities import class_probabilities
from fairpool.models.posteriors import TrainedPosterior, as_inputs
from fairpool.parties import Pool, Told
from fairpool.tables.arrays import FloatArray

if TYPE_CHECKING:
    from fairpool.models.classifier import Classifier


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassPosterior:
    """Posterior of a classifier.

    Attributes:
        model: The classifier.
        of_classes: One posterior for each class's latent function.
        columns: The names of the inputs' columns, if known; a table to predict must have the same.
    """

    model: "Classifier"
    of_classes: tuple[TrainedPosterior, ...]
    columns: tuple[str, ...] | None = None

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return self.of_classes[0].inputs

    @property
    def weight_count(self) -> int:
        """How many weights all latent functions have together; 0: it has the rows."""
        return sum(posterior.weight_count for posterior in self.of_classes)

    @property
    def worth(self) -> float:
        """The information gain of what it was trained on, of all latent functions."""
        return sum(posterior.worth for posterior in self.of_classes)

    @property
    def others(self) -> Told | None:
        """What stands for the others' data, of all latent functions [k, d, d], [k, d]."""
        told = [posterior.others for posterior in self.of_classes]
        known = [one for one in told if one is not None]
        if len(known) < len(told):
            return None
        return Told(
            np.stack([one.precision for one in known]), np.stack([one.moment for one in known])
        )

    def with_columns(self, columns: tuple[str, ...] | None) -> "ClassPosterior":
        """The same, for inputs of these names."""
        return replace(self, columns=columns)

    def shows_rows_of_others(self, pool: Pool, party: int) -> bool:
        """Whether a row of another party's inputs is within the model."""
        # The latent functions are trained on the same rows.
        return any(
            posterior.shows_rows_of_others(of_class, party)
            for posterior, of_class in zip(self.of_classes, pool.of_classes, strict=True)
        )

    def __repr__(self) -> str:
        return f"ClassPosterior({len(self.of_classes)} classes, {self.inputs} inputs)"

    def _latents(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Means and variances of all latent functions at X [t, k]."""
        X = as_inputs(X, self.inputs, self.columns)
        latent = [posterior.latent(X) for posterior in self.of_classes]
        return (
            np.stack([mean for mean, _ in latent], axis=1),
            np.stack([variance for _, variance in latent], axis=1),
        )

    def latent(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Means of all latent functions at X [t, k], and the mean of their variances [t]."""
        means, variances = self._latents(X)
        return means, variances.mean(axis=1)

    def predict(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Every class's probability at X [t, k], and the variance of the most probable one's [t].

        That variance is what the model does not know: with ever more data it would go to 0, while
        probabilities stay between 0 and 1 where classes overlap. Trained on several draws of the
        noise, probabilities are [t, k, draws], and the variances [t, draws].
        """
        means, variances = self._latents(X)
        if means.ndim == 2:
            return class_probabilities(means, variances)
        draws = [class_probabilities(means[:, :, s], variances) for s in range(means.shape[2])]
        return (
            np.stack([one.mean for one in draws], axis=2),
            np.stack([one.variance for one in draws], axis=1),
        )

    def predict_without_each(
        self,
        X: FloatArray,
        y: FloatArray,
        noise: FloatArray,  # noqa: ARG002 -- it follows from the classes
    ) -> tuple[FloatArray, FloatArray]:
        """The same for rows that it was trained on, of classes y [m], each without its own row."""
        coding = self.model.coding
        means, variances = [], []
        for c, posterior in enumerate(self.of_classes):
            s2 = coding.noise(y, c)
            mean, variance = posterior.predict_without_each(X, coding.targets(y, c), s2)
            means.append(mean)
            variances.append(np.maximum(variance - s2, 0.0))
        return class_probabilities(np.stack(means, axis=1), np.stack(variances, axis=1))

    def gain_from(self, X: FloatArray, noise: FloatArray) -> float:
        """For more rows at X [m, p], of the noise variances [m, k] that their classes have."""
        gains = []
        for posterior, of_class in zip(self.of_classes, noise.T, strict=True):
            gains.append(posterior.gain_from(X, of_class))
        return sum(gains)
