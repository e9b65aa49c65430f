"""The evidence of a model with weights, from sums over rows: O(d) for any noise and prior scale.

For labels y less their prior mean, y = A u + noise, u ~ N(0, f I), noise ~ N(0, s2 I), with
G = A^T A = Q diag(l) Q^T, q = A^T y, s = y^T y of m rows, and c = Q^T q,

    -2 log p(y) = m log(2 pi s2) + sum_j log(1 + f l_j / s2) + R(f / s2) / s2
    R(r) = s - sum_j c_j^2 / l_j + sum_j (c_j^2 / l_j) / (1 + r l_j)

So one spectrum of G will do for all noise variances s2 and all factors f on the prior variance. For
a given ratio r = f / s2 the best s2 is R(r) / m, within its bounds, and what is left to search is
one number, r.

Sums have the rows' optimum as far as digits go: s - sum_j c_j^2 / l_j is known to 1e-16 s, so that
a noise variance of less than about 1e-10 of the labels' squares is not learned to 1e-6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from fairpool.errors import DataError
from fairpool.linear_algebra.rounding import EPS
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.models.hyperparameters import noise_notes
from fairpool.notes import Note
from fairpool.parties import PartyData, Pool
from fairpool.tables.arrays import FloatArray

FACTOR_BOUNDS = (1e-6, 1e6)
"""Where a factor on the prior variance is searched."""

AS_GIVEN = (1.0, 1.0)
"""Bounds of what is not searched: a factor of the prior as it is, or a noise of 1."""

GRID = 400
"""Of ratios that are looked at first: the evidence can have several maxima.

It changes little where the ratio changes by a few per cent; between two of these it changes by 14%
at most, for the widest bounds of noise and factor.
"""


class BestScales(NamedTuple):
    """Where the evidence is largest.

    Attributes:
        noise: The noise variance s2.
        factor: The factor f on the prior variance.
    """

    noise: float
    factor: float

    def notes(
        self, noise_bounds: tuple[float, float], factor_bounds: tuple[float, float]
    ) -> tuple[Note, ...]:
        """Why these may not be the best ones: the ends of what was searched."""
        notes: tuple[Note, ...] = ()
        if noise_bounds[0] < noise_bounds[1]:
            notes = noise_notes(self.noise, noise_bounds)
        if notes or not factor_bounds[0] < factor_bounds[1]:
            # The factor is often at its bound as well then; one note is enough.
            return notes
        if factor_bounds[0] * (1 + 1e-4) < self.factor < factor_bounds[1] * (1 - 1e-4):
            return ()
        text = (
            f"the best factor on the prior variance found, {self.factor:.3g}, is at the end of the"
            f" range searched, {factor_bounds}: the inputs explain next to nothing of the labels,"
            " or one of them has an unusual scale; standardise inputs and labels"
        )
        return (Note(code="prior at its bound", text=text),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What the evidence depends on, of one set of labels or of several.

    Attributes:
        eigenvalues: l, of the Gram matrix [d]; of several sets, one after the other.
        along: c^2 / l: squares of labels along the features' directions [d].
        outside: Squares of labels that no features explain: s - sum of `along`.
        rows: m.
    """

    eigenvalues: FloatArray
    along: FloatArray
    outside: float
    rows: int

    @classmethod
    def of(cls, gram: FloatArray, moment: FloatArray, *, squares: float, rows: int) -> "Evidence":
        """From sums over rows.

        Args:
            gram: G = A^T A [d, d].
            moment: q = A^T y [d].
            squares: s = y^T y.
            rows: m.
        """
        l, Q = spectrum(gram)  # noqa: E741 -- the design's letter
        # Below this, an eigenvalue is rounding: whatever is along it counts as not explained.
        heard = l > len(l) * EPS * l.max(initial=0.0)
        l = np.where(heard, l, 0.0)  # noqa: E741
        c = Q.T @ moment
        along = np.divide(c**2, l, out=np.zeros_like(l), where=heard)
        return cls(
            eigenvalues=l,
            along=along,
            outside=max(float(squares - along.sum()), 0.0),
            rows=rows,
        )

    @classmethod
    def of_sets(cls, sets: Sequence["Evidence"]) -> "Evidence":
        """Of several sets of labels, whose likelihoods are multiplied."""
        return cls(
            eigenvalues=np.concatenate([one.eigenvalues for one in sets]),
            along=np.concatenate([one.along for one in sets]),
            outside=sum(one.outside for one in sets),
            rows=sum(one.rows for one in sets),
        )

    def log_likelihood(self, noise: float, factor: float = 1.0) -> float:
        """log p(y) for a noise variance, and a factor on the prior variance."""
        r = factor / noise
        constant = self.rows * np.log(2 * np.pi)
        left, log_determinant = self._left(r), self._log_determinant(r)
        return float(-0.5 * (constant + self.rows * np.log(noise) + log_determinant + left / noise))

    def best(
        self,
        *,
        noise_bounds: tuple[float, float] = AS_GIVEN,
        factor_bounds: tuple[float, float] = AS_GIVEN,
    ) -> BestScales:
        """The noise variance and the factor of the largest evidence within their bounds."""
        search = _Search(evidence=self, noise_bounds=noise_bounds, factor_bounds=factor_bounds)
        if not self.eigenvalues.any():  # nothing depends on the factor
            noise = np.clip(self.outside / max(self.rows, 1), *noise_bounds)
            return BestScales(float(noise), float(np.clip(1.0, *factor_bounds)))
        log_ratio = search.best_log_ratio()
        r = float(np.exp(log_ratio))
        noise = search.best_noise(r)
        # What both bounds allow was computed, and may be beyond one of them by rounding.
        return BestScales(
            float(np.clip(noise, *noise_bounds)), float(np.clip(r * noise, *factor_bounds))
        )

    def _left(self, r: float) -> float:
        """R(r): squares that are left of the labels."""
        return float(self.outside + (self.along / (1 + r * self.eigenvalues)).sum())

    def _log_determinant(self, r: float) -> float:
        return float(np.log1p(r * self.eigenvalues).sum())


def evidence_of(pool: Pool) -> Evidence:
    """Of all parties' labels, with the pool's model, which has weights.

    All rows must have that model's noise variance: one for all is learned.
    """
    model = pool.model
    model.check(pool)
    gram: FloatArray | float = 0.0
    moment: FloatArray | float = 0.0
    squares = 0.0
    rows = 0
    for party, statistics in zip(pool.parties, pool.statistics, strict=True):
        telling = _telling_rows(party)
        if not telling:
            continue
        if statistics.common_noise != model.noise_variance:
            raise DataError(
                f'party "{party.name}": its labels have a noise variance of their own, but one is'
                f" learned for all rows, beginning at the model's {model.noise_variance:g};"
                " summarise its rows without noise_variance, or leave it out here"
            )
        gram = gram + statistics.gram
        moment = moment + statistics.moment
        squares += statistics.told_squares * model.noise_variance
        rows += telling
    if not rows:
        raise DataError("there are no rows to learn from; give sums over at least one row")
    return Evidence.of(np.asarray(gram), np.asarray(moment), squares=squares, rows=rows)


def evidence_with_known_noise(pool: Pool) -> Evidence:
    """Of all parties' labels over the deviations of their noise, which then is 1."""
    told = [statistics.told for statistics in pool.statistics]
    rows = sum(pool.sizes)
    if not rows:
        raise DataError("there are no rows to learn from; give sums over at least one row")
    return Evidence.of(
        np.sum([one.precision for one in told], axis=0),
        np.sum([one.moment for one in told], axis=0),
        squares=sum(statistics.told_squares for statistics in pool.statistics),
        rows=rows,
    )


def _telling_rows(party: PartyData) -> int:
    """How many rows of a party tell anything: those of infinite noise do not."""
    rows = party.shown_rows
    if len(rows) != len(party) or rows.noise_variance is None:
        return len(party)
    return int(np.isfinite(rows.noise_of_rows(1.0)).sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class _Search:
    """The search for the ratio r = f / s2; for each, the noise is the best one within its bounds.

    Attributes:
        evidence: What is maximised.
        noise_bounds: Of s2.
        factor_bounds: Of f.
    """

    evidence: Evidence
    noise_bounds: tuple[float, float]
    factor_bounds: tuple[float, float]

    def best_log_ratio(self) -> float:
        """Look everywhere, then closely around the best place, where the slope is 0."""
        least = np.log(self.factor_bounds[0] / self.noise_bounds[1])
        most = np.log(self.factor_bounds[1] / self.noise_bounds[0])
        grid = np.linspace(least, most, GRID)
        best = int(np.argmin([self._minus_evidence(float(place)) for place in grid]))
        # The slope at the best place says on which side of it the optimum is.
        slope = self._slope(float(grid[best]))
        beside = best - 1 if slope > 0 else best + 1
        if not 0 <= beside < len(grid):
            return float(grid[best])
        slope_beside = self._slope(float(grid[beside]))
        if slope * slope_beside >= 0:  # the optimum is the place itself
            return float(grid[best])
        ends = sorted((float(grid[best]), float(grid[beside])))
        return float(brentq(self._slope, *ends, xtol=1e-13, rtol=1e-14))

    def best_noise(self, r: float) -> float:
        """R(r) / m, within what both bounds allow: the evidence has one maximum in s2."""
        return float(np.clip(self.evidence._left(r) / self.evidence.rows, *self._allowed(r)))

    def _allowed(self, r: float) -> tuple[float, float]:
        """The least and the largest noise variance of which the factor is within its bounds."""
        return (
            max(self.noise_bounds[0], self.factor_bounds[0] / r),
            min(self.noise_bounds[1], self.factor_bounds[1] / r),
        )

    def _minus_evidence(self, log_ratio: float) -> float:
        r = float(np.exp(log_ratio))
        noise = self.best_noise(r)
        return -self.evidence.log_likelihood(noise, r * noise)

    def _slope(self, log_ratio: float) -> float:
        """Twice the derivative of minus the evidence by the ratio's logarithm."""
        r = float(np.exp(log_ratio))
        noise = self.best_noise(r)
        evidence = self.evidence
        rl = r * evidence.eigenvalues
        slope = float((rl / (1 + rl)).sum() - (evidence.along * rl / (1 + rl) ** 2).sum() / noise)
        if self._moves_with_the_ratio(r, noise):
            # A bound of the factor holds the noise, which falls as the ratio rises.
            slope -= evidence.rows - evidence._left(r) / noise
        return slope

    def _moves_with_the_ratio(self, r: float, noise: float) -> bool:
        """Whether it is the factor's bound that holds the noise variance."""
        least, most = self._allowed(r)
        at_least = noise <= least and least > self.noise_bounds[0]
        at_most = noise >= most and most < self.noise_bounds[1]
        return at_least or at_most
