"""What a model learns from sums that have noise on them, and knows to have it.

Of rows with the Gram matrix G and noise variance s2, G + E and the moment q + e are known: E with
deviations s on the diagonal and s / sqrt 2 beside it, e with t. Since q = G w + noise, with weights
w that are d standard normal numbers, q + e is (G + E) w and noise of the covariance

    s2 G + s'^2 I,    s'^2 = t^2 + s^2 (d + 1) / 2,

for E w has the variance s^2 (w_j^2 + sum over others of w_k^2 / 2) in coordinate j. So, with
Gh = Q diag(g) Q^T for G (`fairpool.linear_algebra.shrinkage`) and h for q + e,

    precision = Gh (s2 Gh + s'^2 I)^-1 Gh,    moment = Gh (s2 Gh + s'^2 I)^-1 h.

That is what a few rows would tell: row j has the features sqrt(g_j) Q_j, the label
Q_j^T h / sqrt(g_j), and the noise variance s2 + s'^2 / g_j. Several contributions' rows add up, and
noise of variance eta on labels (Sec. 4.3) makes (s2 + eta) Gh + s'^2 I of them.

Noise must not pay. A g may be too large by chance, by k s at most (`noise_edge`); so s'^2 has
k s s2 more, by which s2 Gh is s2 (Gh + k s I). Then more of the same noise makes no g worth more:
with x the rate at which it changes g, at most k, and c s^2 for s'^2 without the addition,
g^2 / (s2 g + s2 k s + c s^2) falls where x <= k and g >= k s + k^2 s2 / c. Smaller ones that count
at all tell next to nothing, or too little to matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fairpool.linear_algebra.shrinkage import noise_edge, shrunk_spectrum
from fairpool.parties.party_data import Told, UnequalRows
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyLevel:
    """Sums over rows of one noise variance, with noise on the sums.

    Attributes:
        gram: G + E [d, d].
        moment: h [d].
        gram_noise: s, the deviation of E on the diagonal; 0: none.
        moment_noise: t, that of the noise on h.
        label_noise: s2.
        squares: The sum of squared labels, with noise.
        squares_noise: The deviation of that.
        rows: How many rows there are, with noise.
    """

    gram: FloatArray
    moment: FloatArray
    gram_noise: float
    moment_noise: float
    label_noise: float
    squares: float
    squares_noise: float
    rows: float

    @cached_property
    def few_rows(self) -> "FewRows":
        """The few rows that tell as much."""
        g, Q = shrunk_spectrum(self.gram, self.gram_noise)
        d = len(self.moment)
        by_chance = noise_edge(d) * self.gram_noise * self.label_noise
        variance = self.moment_noise**2 + self.gram_noise**2 * (d + 1) / 2 + by_chance
        return FewRows(
            A=(Q * np.sqrt(g)).T,
            labels=Q.T @ self.moment / np.sqrt(g),
            noise=self.label_noise + variance / g,
            turns=Q,
        )

    @cached_property
    def left(self) -> "LeftLabels":
        """What the sum of squares says beside the few rows: n labels' squares with some error.

        Without the error, such a sum of squares has the variance 2 n s2^2. With it, it is as good
        as one of fewer labels.
        """
        few = self.few_rows
        n = self.rows - len(few.labels)
        if n < 1:
            return LeftLabels(0, 0.0)
        of_noise = few.noise - self.label_noise
        found = self.squares - float((few.labels**2 - of_noise).sum())
        error = self.squares_noise**2 + float((4 * few.labels**2 * of_noise).sum())
        number = int(n / (1 + error / (2 * n * self.label_noise**2)))
        return LeftLabels(number, number * max(found, 0.0) / (n * self.label_noise))


@dataclass(frozen=True, eq=False, kw_only=True)
class FewRows:
    """Rows that tell what sums with noise do.

    Attributes:
        A: Their features [k, d], orthogonal.
        labels: Less the prior mean [k].
        noise: Their noise variances [k].
        turns: Q [d, k], their directions: by these, noise that is drawn for each of d weights
            becomes noise on the labels, as by the symmetric root of the Gram matrix.
    """

    A: FloatArray
    labels: FloatArray
    noise: FloatArray
    turns: FloatArray


class LeftLabels(NamedTuple):
    """Labels that the features do not explain, whatever the weights are: they tell of noise alone.

    Attributes:
        number: How many they are as good as.
        squares: The sum of their squares over the labels' noise variance.
    """

    number: int
    squares: float


@dataclass(frozen=True, eq=False)
class NoisyStatistics:
    """What a model with weights learns from one or several levels of noisy sums.

    Attributes:
        levels: Each with d draws for the noise on its labels.
        weights: d.
    """

    levels: Sequence[NoisyLevel]
    weights: int

    @cached_property
    def _rows(self) -> tuple[FewRows, ...]:
        return tuple(level.few_rows for level in self.levels)

    @cached_property
    def _noise(self) -> FloatArray:
        return np.concatenate([np.empty(0), *(rows.noise for rows in self._rows)])

    @cached_property
    def _features(self) -> FloatArray:
        return np.concatenate([np.empty((0, self.weights)), *(rows.A for rows in self._rows)])

    @cached_property
    def _labels(self) -> FloatArray:
        return np.concatenate([np.empty(0), *(rows.labels for rows in self._rows)])

    @cached_property
    def told(self) -> Told:
        """What the sums tell as they are."""
        weighted = (self._features.T / self._noise).T
        return Told(weighted.T @ self._features, weighted.T @ self._labels)

    @property
    def told_squares(self) -> float:
        """Of the few rows, and of what they leave of the labels."""
        left = sum(level.left.squares for level in self.levels)
        return float((self._labels**2 / self._noise).sum()) + left

    @property
    def label_count(self) -> int:
        """How many labels these squares are of."""
        return len(self._labels) + sum(level.left.number for level in self.levels)

    @property
    def common_noise(self) -> float:
        """The few rows' noise differs; of none it is infinite."""
        return np.nan if len(self._noise) else np.inf

    @property
    def gram(self) -> FloatArray:
        """Gh, of all levels."""
        return self._features.T @ self._features

    @property
    def moment(self) -> FloatArray:
        """A^T of the few rows' labels."""
        return self._features.T @ self._labels

    def _drawn(self, z: FloatArray) -> FloatArray:
        """Noise on the few rows' labels, of d draws for each level."""
        of_levels = np.split(z, max(len(self._rows), 1))
        drawn = [rows.turns.T @ part for rows, part in zip(self._rows, of_levels, strict=True)]
        return np.concatenate([np.empty((0, *z.shape[1:])), *drawn])

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise on the labels, of d draws for each level, adds to the moment."""
        return np.asarray(self._features.T @ self._drawn(z))

    def weakened(self, eta: float, z: FloatArray) -> Told:
        """What is told when noise of variance eta, made of z, is added to the labels."""
        weighted = self._features / (self._noise + eta)[:, None]
        labels = (self._labels + self._drawn(z).T).T
        return Told(weighted.T @ self._features, weighted.T @ labels)

    @property
    def unequal_rows(self) -> UnequalRows | None:
        """The few rows."""
        if not len(self._noise):
            return None
        return UnequalRows(self._features / np.sqrt(self._noise)[:, None], self._noise)
