"""A row whose label is far from all others, and which the mean alone gives away.

Whatever the covariance, a recipient knows R mu - q_i of its model's mean mu, R = I + P_i. With
B the precision that mu was trained with, T = R B^-1, and e_k a label less what the recipient's own
data predict there, over its noise variance, that is

    R mu - q_i = sum over the others' rows of T a_k e_k

with a_k the rows' whitened features. Where one term t_k = T a_k e_k is longer than all others
together, the sum points to where that term points, and a search for inputs whose features do finds
the row. So it is measured what a row makes up of the sum S over its party's rows (others may
collude), in both ways in which that can be meant:

    share of the length  t_k . S / |S|^2               the others' sum is shorter than t_k
    share of the square  (t_k . S)^2 / |t_k|^2 |S|^2   S points to t_k, within 45 degrees

Either alone would also refuse what tells nothing, such as many rows in one direction. Where terms
happen to cancel each other, S is short and points nowhere, so that |S|^2 counts as the sum of all
|t_k|^2 at least. Noise of variance eta on labels hides a row: its part is added to |S|^2.

The recipient does not know T where the covariance is hidden; a full one tells it, and T is then
taken to be undone.

The residual is that of the recipient's own model, and not of the one it receives: an outlying label
pulls the latter towards itself, and the residuals of the rows around it then cancel its own.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fairpool.linear_algebra.solving import solve
from fairpool.models import WeightModel, WeightPosterior
from fairpool.parties import Party, Told
from fairpool.tables.arrays import FloatArray

NOTICED = 0.5
"""Of the sum, what one row may make up before the operator is told."""

MOST = 0.75
"""What it may make up at most.

It is then 1.7 times as long as all others together. Of a party of ten rows with quite ordinary
labels one makes up more than half every fifth time, by chance and without being found.
"""


NUMBERS_AT_ONCE = 1 << 20
"""Of so many rows and recipients together parts are computed at once."""


class OutlyingRow(NamedTuple):
    """A row whose label stands out.

    Attributes:
        place: Where it is, in words.
        share: How much of the sum it makes up.
    """

    place: str
    share: float


class LabelSum(NamedTuple):
    """What a recipient sees of a party's labels.

    Attributes:
        own: The weights' mean that the recipient has from its own data [d].
        W: T^T T, by which terms are measured [d, d]; None: the identity.
        direction: T^T S [d]: a term t_k has t_k . S = e_k a_k . T^T S.
        square: |S|^2.
        noise: E |noise in S|^2.
    """

    own: FloatArray
    W: FloatArray | None
    direction: FloatArray
    square: float
    noise: float

    def parts(self, A: FloatArray, y: FloatArray, weight: FloatArray | float = 1.0) -> FloatArray:
        """What some rows make up of |S|^2, the smaller of both ways [m]; 0 where it is too little.

        Args:
            A: Their whitened features [m, d].
            y: Their labels less the prior mean [m].
            weight: What they count in S: one over their noise variances, up to a factor.
        """
        e = weight * (y - A @ self.own)
        along = e * (A @ self.direction)
        parts = np.zeros(len(y))
        # All terms would take as long as a Gram matrix, for every recipient; few rows need them.
        long = np.flatnonzero(along > NOTICED * (self.square + self.noise))
        if len(long):
            parts[long] = np.minimum(
                along[long], along[long] ** 2 / self._squares(A[long], e[long])
            )
        return parts

    def sum_of_squares(
        self, A: FloatArray, y: FloatArray, weight: FloatArray | float = 1.0
    ) -> float:
        """Sum of |t_k|^2 over some rows, which adds up; see `parts`."""
        return float(self._squares(A, weight * (y - A @ self.own)).sum())

    def part_of_some(self, S: FloatArray) -> float:
        """What some rows make up of |S|^2 together, as one: the smaller of both ways.

        Args:
            S: Their sum of a_k e_k [d].
        """
        along = float(S @ self.direction)
        if along <= NOTICED * (self.square + self.noise):
            return 0.0
        return min(along, along**2 / self.square_of_some(S))

    def square_of_some(self, S: FloatArray) -> float:
        """|S|^2 of some rows, as it is measured."""
        return float(S @ (S if self.W is None else self.W @ S))

    def _squares(self, A: FloatArray, e: FloatArray) -> FloatArray:
        """|t_k|^2 [m]."""
        measured = A if self.W is None else A @ self.W
        return np.asarray(e**2 * np.einsum("ij,ij->i", measured, A))

    def share(self, part: float, squares: float) -> float:
        """How much of S a row makes up, from its part and all rows' squares."""
        if not part > 0:
            return 0.0
        return float(part / (max(self.square, squares) + self.noise))


class LabelSums(NamedTuple):
    """What several recipients see of the same labels, where there is no noise and no smoothing.

    As a `LabelSum` for each of them, all at once.

    Attributes:
        own: The weights' mean that each recipient has from its own data [r, d].
        directions: S of each [r, d].
        squares: |S|^2 of each [r].
    """

    own: FloatArray
    directions: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, own: FloatArray, gram: FloatArray, moment: FloatArray) -> "LabelSums":
        """As `View.label_sum` has it, of recipients with these weights [r, d]."""
        sums = moment - own @ gram.T
        return cls(own=own, directions=sums, squares=np.square(sums).sum(axis=1))

    def of_rows(
        self, A: FloatArray, y: FloatArray, weight: FloatArray | float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Of some rows, the largest part that one makes up [r], and the sum of all squares [r].

        Args:
            A: Their whitened features [m, d].
            y: Their labels less the prior mean [m].
            weight: What they count in S: one over their noise variances, up to a factor.
        """
        recipients = len(self.own)
        largest = np.zeros(recipients)
        squares = np.zeros(recipients)
        lengths = np.einsum("ij,ij->i", A, A)
        weights = np.broadcast_to(weight, y.shape)[:, None]
        at_once = max(1, NUMBERS_AT_ONCE // max(len(y), 1))
        for begin in range(0, recipients, at_once):
            some = slice(begin, begin + at_once)
            e = weights * (y[:, None] - A @ self.own[some].T)
            along = e * (A @ self.directions[some].T)
            squares_of_rows = e**2 * lengths[:, None]
            long = along > NOTICED * self.squares[some]
            pointing = np.divide(along**2, squares_of_rows, out=np.zeros_like(along), where=long)
            largest[some] = np.minimum(along, pointing, out=pointing, where=long).max(
                axis=0, initial=0.0
            )
            squares[some] = squares_of_rows.sum(axis=0)
        return largest, squares

    def shares(self, largest: FloatArray, squares: FloatArray) -> FloatArray:
        """How much of S a row makes up [r], from its part and all rows' squares."""
        least = np.finfo(float).tiny  # a part is 0 where there is no square
        return np.asarray(largest / np.maximum(np.maximum(self.squares, squares), least))


class View(NamedTuple):
    """What a recipient sees of labels.

    Attributes:
        own: The weights' mean that it has from its own data [d].
        W: T^T T [d, d], with T what others' terms are smoothed by; None: by nothing that it could
            not undo.
        eta: Variance of the noise on labels.
    """

    own: FloatArray
    W: FloatArray | None
    eta: float

    @classmethod
    def of(cls, trained: WeightPosterior, *, own: Told, eta: float, hidden: bool) -> "View":
        """Of the recipient of a model.

        Args:
            trained: The model as it was trained, with its own covariance.
            own: What the recipient's own data tell.
            eta: Variance of the noise on the others' labels.
            hidden: Whether it receives another covariance.
        """
        alone = trained.model.posterior_from_moments(own.precision, own.moment, trained.inputs)
        W = None
        if hidden:
            B = trained.factor @ trained.factor.T
            R = np.eye(len(B)) + own.precision
            B_inverse_R = solve(B, R)  # T^T
            W = B_inverse_R @ B_inverse_R.T
        return cls(own=alone.weights, W=W, eta=eta)

    def label_sum(self, gram: FloatArray, moment: FloatArray, noise: FloatArray) -> LabelSum:
        """What it sees of a party.

        Args:
            gram: A^T D A over the party's rows [d, d], D what rows count.
            moment: A^T D (y - prior mean) [d].
            noise: A^T D^2 A [d, d]: noise of variance 1 on all labels has this covariance.
        """
        sum_of_rows = moment - gram @ self.own
        direction = sum_of_rows
        variance = float(np.trace(noise))
        if self.W is not None:
            direction = self.W @ sum_of_rows
            variance = float((self.W * noise).sum())
        return LabelSum(
            own=self.own,
            W=self.W,
            direction=direction,
            square=float(sum_of_rows @ direction),
            noise=self.eta * variance,
        )


def outlying_rows(
    model: WeightModel, party: Party, views: Mapping[str, View]
) -> dict[str, OutlyingRow]:
    """The row of a party that stands out to each recipient, if there is one.

    Args:
        model: The model.
        party: Its rows.
        views: What recipients see, by name.
    """
    outlying: dict[str, OutlyingRow] = {}
    if not len(party):
        return outlying
    A = model.whitened_features(party.X)  # once, since it takes longest
    y = party.y - model.prior_mean_at(party.X)
    noise = party.noise_of_rows(model.noise_variance)
    gram = A.T @ A
    moment = A.T @ y
    for recipient, view in views.items():
        weight = np.ones(len(y))
        seen = view.label_sum(gram, moment, gram)
        if np.ptp(noise):
            # A row of much noise counts little in the sums that the model is trained on.
            weight = 1 / (noise + view.eta)
            weighted = A * weight[:, None]
            seen = view.label_sum(weighted.T @ A, weighted.T @ y, weighted.T @ weighted)
        parts = seen.parts(A, y, weight)
        if not parts.any():
            continue
        row = int(np.argmax(parts))
        share = seen.share(float(parts[row]), seen.sum_of_squares(A, y, weight))
        if share > NOTICED:
            outlying[recipient] = OutlyingRow(f"row {row} (counting from 0)", share)
    return outlying
