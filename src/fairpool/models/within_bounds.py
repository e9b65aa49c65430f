"""Sums over rows no one of which is longer than was agreed, so that noise can hide any of them."""

from dataclasses import dataclass

import numpy as np

from fairpool.models.classifier import Classifier
from fairpool.models.weight_model import RowSums, WeightModel
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class WithinBounds:
    """A model's sums over rows, each of which is cut to its bounds.

    Attributes:
        model: Whose sums they are.
        features: R^2: features a with a larger |a|^2 are shortened to it.
        labels: Y: labels less their prior mean that are beyond are moved to it; of classes there is
            nothing to move.
    """

    model: WeightModel | Classifier
    features: float
    labels: float

    def probe(self, inputs: int) -> FloatArray:
        """Of the model."""
        return self.model.probe(inputs)

    def moments(self, X: FloatArray, y: FloatArray) -> RowSums:
        """Sums over some rows, as the model's are."""
        if isinstance(self.model, Classifier):
            features = [self._shortened(A) for A in self.model.features_of_classes(X)]
            return self.model.sums_of(features, y)
        A = self._shortened(self.model.whitened_features(X))
        residual = np.clip(y - self.model.prior_mean_at(X), -self.labels, self.labels)
        return RowSums(A.T @ A, A.T @ residual, float(residual @ residual))

    def _shortened(self, A: FloatArray) -> FloatArray:
        longest = np.sqrt(self.features)
        lengths = np.sqrt(np.einsum("ij,ij->i", A, A))
        beyond = lengths > longest
        if not beyond.any():
            return A
        factors = np.where(beyond, longest / np.where(beyond, lengths, 1.0), 1.0)
        return A * factors[:, None]
