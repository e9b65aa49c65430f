"""Two models on the same rows: the mean difference of what they score, and its error."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from fairpool.tables.arrays import FloatArray

BETTER = "better"
SAME = "no different"
WORSE = "worse"
UNKNOWN = "not known"

CONFIDENCE = 0.95
"""Of the interval that must not contain 0 where a model is called better or worse."""

NEGLIGIBLE = 1e-9
"""Differences of this size are rounding: the two models are one."""


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """The mean over rows of what two models score, and of the difference.

    Attributes:
        alone: The mean of the model that a party could train alone.
        reward: The mean of its reward.
        difference: The mean of reward less alone.
        standard_error: Of that mean, from the rows' differences; nan for fewer than two rows.
        rows: How many rows there were.
        larger_is_better: Of log densities; of errors, less is better.
    """

    alone: float
    reward: float
    difference: float
    standard_error: float
    rows: int
    larger_is_better: bool

    @classmethod
    def of(
        cls, alone: FloatArray, reward: FloatArray, *, larger_is_better: bool, size: float = 1.0
    ) -> "PairedDifference":
        """From each row's scores [m].

        Args:
            alone: Of the model that a party could train alone.
            reward: Of its reward.
            larger_is_better: Whether it is.
            size: What differences are large or small beside, by which rounding is recognised.
        """
        rows = len(alone)
        if not rows:
            nothing = {"alone": np.nan, "reward": np.nan, "difference": np.nan}
            return cls(**nothing, standard_error=np.nan, rows=0, larger_is_better=larger_is_better)
        differences = reward - alone
        if (np.abs(differences) <= NEGLIGIBLE * size).all():
            differences = np.zeros(rows)
        error = np.nan
        if rows > 1:
            error = float(np.std(differences, ddof=1) / np.sqrt(rows))
        return cls(
            alone=float(np.mean(alone)),
            reward=float(np.mean(reward)),
            difference=float(np.mean(differences)),
            standard_error=error,
            rows=rows,
            larger_is_better=larger_is_better,
        )

    @property
    def p_value(self) -> float:
        """Of Student's two-sided test that there is no difference; nan where nothing is known."""
        if not (np.isfinite(self.difference) and np.isfinite(self.standard_error)):
            return np.nan
        if self.difference == 0:
            return 1.0
        with np.errstate(divide="ignore"):
            deviations = np.abs(self.difference) / np.float64(self.standard_error)
        return float(2 * student.sf(deviations, self.rows - 1))

    @property
    def verdict(self) -> str:
        """Whether the reward is better, no different or worse, at 95% (two-sided)."""
        if np.isnan(self.p_value):
            return UNKNOWN
        if self.p_value >= 1 - CONFIDENCE:
            return SAME
        return BETTER if (self.difference > 0) == self.larger_is_better else WORSE
