"""Several latent functions with labels of their own, such as one for each class.

What is compared is the evidence of all of them together. The labels of k classes are one choice of
k, written k times: whoever knows k - 1 of them knows the last, so that chance does not average out
between them. Labels that are drawn to compare with are therefore drawn so that they sum to nothing
over the functions, each as often as large as it would be alone.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.checkpoint import digest_of
from fairpool.compute.workers import Workers
from fairpool.information.labelled_space import Explained, LabelledSpace
from fairpool.information.own_noise import OwnLabels, noise_factor
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class StackedLabels:
    """The same parties' data with labels, as each of several latent functions sees them.

    Attributes:
        layers: One labelled space for each function, all of one shape.
    """

    layers: tuple[LabelledSpace, ...]

    @property
    def n(self) -> int:
        """The number of parties."""
        return self.layers[0].n

    @property
    def labels(self) -> FloatArray:
        """Every function's labels, the functions first."""
        return np.stack([layer.labels for layer in self.layers])

    def explained(self, executor: Workers | Executor | None = None) -> Explained:
        """Of all 2**n coalitions."""
        return _sum([layer.explained(executor) for layer in self.layers])

    def explained_by(self, S: NDArray[np.bool_]) -> Explained:
        """Of some coalitions, given as memberships [N, n]."""
        return _sum([layer.explained_by(S) for layer in self.layers])

    def weighted_fits(
        self,
        S: NDArray[np.bool_],
        labels: FloatArray,
        *,
        weights: FloatArray,
        executor: Workers | Executor | None = None,
    ) -> FloatArray:
        """Sums of fit_C over some coalitions [q, k], for k sets of labels of all functions."""
        fits = []
        for layer, of_layer in zip(self.layers, labels, strict=True):
            fits.append(layer.weighted_fits(S, of_layer, weights=weights, executor=executor))
        return np.asarray(np.sum(fits, axis=0))

    @property
    def normals(self) -> int:
        """How many normal numbers it takes to draw one set of labels of all functions."""
        return sum(layer.normals for layer in self.layers)

    def drawn(self, normals: FloatArray) -> FloatArray:
        """Sets of labels drawn from the model, which sum to nothing over the functions."""
        drawn = []
        for layer, numbers in zip(self.layers, self._balanced(normals), strict=True):
            drawn.append(layer.drawn(numbers))
        return np.stack(drawn)

    def normals_of(self, party: int) -> int:
        """How many normal numbers it takes to draw labels of one party."""
        return sum(layer.normals_of(party) for layer in self.layers)

    def with_pure_noise(self, party: int, normals: FloatArray) -> FloatArray:
        """Sets of labels: this party's are noise of the size of its own."""
        labels = []
        for layer, numbers in zip(self.layers, self._balanced(normals), strict=True):
            labels.append(layer.with_pure_noise(party, numbers))
        return np.stack(labels)

    def _balanced(self, normals: FloatArray) -> FloatArray:
        """Normal numbers of every function [k, .., count], whose sum over functions is 0."""
        k = len(self.layers)
        numbers = normals.reshape(k, -1, normals.shape[1])
        return np.asarray(np.sqrt(k / (k - 1)) * (numbers - numbers.mean(axis=0)))

    def own_labels(self, party: int) -> OwnLabels:
        """A party's labels by themselves, those of all functions together."""
        return OwnLabels.of_all([layer.own_labels(party) for layer in self.layers])

    def noise_factors(self) -> FloatArray:
        """How many times noisier each party's labels are than the model says [n], 1 at least.

        Labels of classes that are far apart have hardly any noise, and would be judged by next to
        nothing.
        """
        factors = [noise_factor(self.own_labels(i)) for i in range(self.n)]
        return np.maximum(factors, 1.0)

    def with_noise(self, factors: FloatArray) -> "StackedLabels":
        """The same rows and labels with so many times the noise variance [n]."""
        return StackedLabels(tuple(layer.with_noise(factors) for layer in self.layers))

    def of_parties(self, parties: NDArray[np.intp]) -> "StackedLabels":
        """Some of the parties alone, in this order."""
        return StackedLabels(tuple(layer.of_parties(parties) for layer in self.layers))

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        text = "-".join(layer.digest() for layer in self.layers)
        return digest_of(np.frombuffer(text.encode(), dtype=np.uint8))


def _sum(parts: Sequence[Explained]) -> Explained:
    v = np.sum([part.v for part in parts], axis=0)
    fit = np.sum([part.fit for part in parts], axis=0)
    return Explained(np.asarray(v), np.asarray(fit))
