"""A space with labels: how well a coalition's data explains its own labels.

Of a coalition C, with D its rows' noise variances and y its labels less their prior mean,

    log p(y_C | X_C) = log N(y_C; 0, D_C) + fit_C - v_C

where v_C is its information gain and fit_C = 1/2 y^T (D^-1 - (D + K)^-1) y, what the model explains
of the labels beyond their noise. The first term is a sum over rows, so that whatever compares
coalitions is made of fit_C - v_C alone, and both come from one factor of one matrix.
"""

from concurrent.futures import Executor
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.information.own_noise import OwnLabels
from fairpool.tables.arrays import FloatArray

COALITIONS_PER_TASK = 64
"""Where each needs a factor, and a solution for every set of labels."""


class Explained(NamedTuple):
    """How well some coalitions' data explains their labels.

    Attributes:
        v: Information gains [N].
        fit: What the model explains of the labels beyond their noise [N], in nats.
    """

    v: FloatArray
    fit: FloatArray

    @property
    def log_evidence(self) -> FloatArray:
        """log p(y_C | X_C), less what it would be if all labels were nothing but noise [N]."""
        return self.fit - self.v


class LabelledSpace(Protocol):
    """A space, and what the labels are in it."""

    @property
    def n(self) -> int:
        """The number of parties."""
        ...  # pragma: no cover

    @property
    def labels(self) -> FloatArray:
        """The labels, as the space sees them; of several sets of labels, the last axis counts."""
        ...  # pragma: no cover

    def explained(self, executor: Workers | Executor | None = None) -> Explained:
        """Of all 2**n coalitions, which share work."""
        ...  # pragma: no cover

    def explained_by(self, S: NDArray[np.bool_]) -> Explained:
        """Of some coalitions, given as memberships [N, n]."""
        ...  # pragma: no cover

    def weighted_fits(
        self,
        S: NDArray[np.bool_],
        labels: FloatArray,
        *,
        weights: FloatArray,
        executor: Workers | Executor | None = None,
    ) -> FloatArray:
        """Sums of fit_C over some coalitions, for other labels of the same rows [q, k].

        Args:
            S: Memberships [N, n].
            labels: k sets of them, such as from `drawn`.
            weights: How much each coalition counts in each of q sums [q, N].
            executor: Who does it.
        """
        ...  # pragma: no cover

    @property
    def normals(self) -> int:
        """How many normal numbers it takes to draw one set of labels from the model."""
        ...  # pragma: no cover

    def drawn(self, normals: FloatArray) -> FloatArray:
        """Sets of labels drawn from the model, of standard normal numbers [normals, count]."""
        ...  # pragma: no cover

    def normals_of(self, party: int) -> int:
        """How many normal numbers it takes to draw labels of one party."""
        ...  # pragma: no cover

    def with_pure_noise(self, party: int, normals: FloatArray) -> FloatArray:
        """Sets of labels: this party's are noise of the same size, the others' as they are.

        Args:
            party: Whose.
            normals: Standard normal numbers [normals_of(party), count].
        """
        ...  # pragma: no cover

    def own_labels(self, party: int) -> OwnLabels:
        """A party's labels by themselves, as far as their noise is concerned."""
        ...  # pragma: no cover

    def noise_factors(self) -> FloatArray:
        """How many times noisier each party's labels are than the model says [n], by their own."""
        ...  # pragma: no cover

    def with_noise(self, factors: FloatArray) -> "LabelledSpace":
        """The same rows and labels with so many times the noise variance [n]."""
        ...  # pragma: no cover

    def of_parties(self, parties: NDArray[np.intp]) -> "LabelledSpace":
        """Some of the parties alone, in this order."""
        ...  # pragma: no cover

    def digest(self) -> str:
        """A hash of all that the values depend on."""
        ...  # pragma: no cover


def tasks_of(coalitions: int) -> list[int]:
    """The first coalition of each task."""
    return list(range(0, coalitions, COALITIONS_PER_TASK))
