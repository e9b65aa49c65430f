"""By how much one row can move what a party sends, and how noise is shared out.

What is sent are, over rows with features a and labels y less their prior mean,

    of numbers:  the sums of a a^T, y a, y^2 and 1
    of classes:  of each class the sums of a a^T, a and 1 over its rows; where every class has
                 features of its own, in each class's over its rows and over all others, too

With |a|^2 <= R^2 and |y| <= Y a row has |a a^T|_F = |a|^2 <= R^2, |y a| <= R Y and y^2 <= Y^2,
and adding or removing it moves the sums by exactly that. Of the symmetric a a^T the coordinates are
its diagonal, and its upper triangle times the root of 2, whose Euclidean length is |a a^T|_F. Of
classes a row is in the sums of one class, or, with features of their own, in one pair of sums of
each of k classes: then k times the squares.

Each of these kinds is multiplied by a share before noise of one deviation s is put on everything,
and divided by it afterwards. With a share of 1 for all the row moves R sqrt(R^2 + Y^2), and
sqrt(R^4 + R^2 Y^2 + Y^4 + 1) with y^2 and 1. But noise costs more in some than in others. In the
model, q = G w + noise with w of d standard normal weights, the Gram matrix's noise E comes in as
E w, of variance s^2 (d + 1) / 2 in each coordinate, and the moment's as it is: s^2 / c^2 for a
share c. So

    (R^4 + c^2 R^2 Y^2) ((d + 1) / 2 + 1 / c^2)    is least at    c^2 = R / Y sqrt(2 / (d + 1)).

(Of classes the moment is t times the sum of features, with t a label of the class's function: the
same with R for R Y and t^2 / c^2 for 1 / c^2, so c^2 = R t sqrt(2 / (d + 1)).) Squares and numbers
of rows matter little: each takes a 16th of what the others take.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

LESSER = 1 / 4
"""How far squares or numbers of rows alone are moved, beside all else."""

SLACK = 1e-4
"""For rounding in sums of millions of rows, and of sums to the grid that noise is drawn on."""


class Deviations(NamedTuple):
    """Standard deviations of the noise.

    Attributes:
        gram: On a diagonal entry of a Gram matrix; off the diagonal it is less by the root of 2.
        moment: On the moment, or on a sum of features.
        squares: On the sum of squared labels; of classes, on their numbers of rows.
        rows: On the number of rows.
    """

    gram: float
    moment: float
    squares: float
    rows: float


@dataclass(frozen=True, kw_only=True)
class RowBounds:
    """What one row can be, and what is summed up of it.

    Attributes:
        features: R^2, the most that |a|^2 can be.
        labels: Y, the most that |y| can be; of classes t, the largest label of their functions.
        weights: d.
        classes: k; 0: labels are numbers.
        own_features: Whether every class has features of its own.
    """

    features: float
    labels: float
    weights: int
    classes: int = 0
    own_features: bool = False

    @property
    def shares(self) -> Deviations:
        """What each kind of sums is multiplied by before noise of one deviation is put on it."""
        lesser = LESSER * self._most_moved
        squares = lesser if self.classes else lesser / self.labels**2
        return Deviations(gram=1.0, moment=self._moment_share, squares=squares, rows=lesser)

    @property
    def sensitivity(self) -> float:
        """How far one row moves all sums times their shares, with some slack."""
        # Of classes their numbers of rows are the squares, and their sum is nothing more.
        lesser = 1 if self.classes else 2
        return self._most_moved * math.sqrt(1 + lesser * LESSER**2) * (1 + SLACK)

    def deviations(self, noise: float) -> Deviations:
        """Of the noise on each kind of sums.

        Args:
            noise: That on a diagonal entry of a Gram matrix.
        """
        shares = self.shares
        return Deviations(
            gram=noise / shares.gram,
            moment=noise / shares.moment,
            squares=noise / shares.squares,
            rows=noise / shares.rows,
        )

    @property
    def _moment_share(self) -> float:
        R = math.sqrt(self.features)
        ratio = R * self.labels if self.classes else R / self.labels
        return math.sqrt(ratio * math.sqrt(2 / (self.weights + 1)))

    @property
    def _most_moved(self) -> float:
        """How far Gram matrices and moments are moved."""
        sets = self.classes if self.own_features else 1
        moment = self.features * (1.0 if self.classes else self.labels**2)
        return math.sqrt(sets * (self.features**2 + self._moment_share**2 * moment))
