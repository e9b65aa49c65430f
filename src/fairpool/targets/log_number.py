"""A target that is a positive number, of which the model sees the logarithm.

What the model predicts is normal on the logarithmic scale, and so log-normal in the target's own
unit. Its median and the ends of its intervals are the exponentials of those that the model
predicts, exactly; its mean is larger than the median.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fairpool.columns.rules import Rules, as_numbers
from fairpool.models import log_normal_density, mnlp
from fairpool.tables.arrays import FloatArray
from fairpool.tables.columns import standardise_numbers
from fairpool.targets.target import (
    NOISE_DIGITS,
    OF_NUMBERS,
    Z_95,
    Measure,
    Score,
    share_of_variance,
)


@dataclass(frozen=True, kw_only=True)
class LogNumberTarget:
    """A column of positive numbers; the model works on (log y - mean) / scale.

    Attributes:
        name: The column.
        mean: Of the labels' logarithms.
        scale: Their standard deviation.
        rules: What is done to labels first: the logarithm is one of them.
    """

    name: str
    mean: float
    scale: float
    rules: Rules

    kind = "number"
    type = pa.float64()
    comparison = OF_NUMBERS
    likely_errors = "another unit, a shifted column, or wrong labels"
    measures = (
        Measure(
            key="mnlp",
            title="MNLP",
            meaning="Mean negative log probability of test labels: how surprised a model is by"
            " them. Lower is better.",
            digits=".3f",
        ),
        Measure(
            key="rmse",
            title="RMSE",
            meaning="Of predicted means, in the target's own units.",
            digits=".4g",
        ),
    )

    @property
    def noise_scale(self) -> float:
        """The scale: what one unit of the model is in those of the labels, or their logarithms."""
        return self.scale

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """Median and mean of what is predicted, and its 95% interval."""
        return (f"{self.name}_median", f"{self.name}_mean", "lower_95", "upper_95")

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The labels' logarithms, standardised [m]."""
        y = np.empty(len(column))
        logarithms = self.rules.transformed(as_numbers(column))
        standardise_numbers(logarithms, self.mean, self.scale, out=y)
        return y

    def logarithms(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances of log y."""
        return self.mean + self.scale * mean, self.scale**2 * variance

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the log-normal, in the target's own units."""
        mu, s2 = self.logarithms(mean, variance)
        in_units = np.exp(mu + 0.5 * s2)
        return in_units, np.expm1(s2) * in_units**2

    def predictions(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, ...]:
        """Median, mean and 95% interval [t]."""
        mu, s2 = self.logarithms(mean, variance)
        half = Z_95 * np.sqrt(s2)
        return np.exp(mu), np.exp(mu + 0.5 * s2), np.exp(mu - half), np.exp(mu + half)

    def score(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> Score:
        """MNLP and RMSE in the target's own units."""
        log_y = self.mean + self.scale * y
        rmse = float(np.sqrt(np.mean(self.squared_error(y, mean, variance))))
        # The density of y is that of its logarithm, divided by y.
        surprise = float(mnlp(y, mean, variance)) + float(np.log(self.scale))
        return {"mnlp": surprise + float(np.mean(log_y)), "rmse": rmse}

    def log_density(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of each label [t] in the target's own units."""
        log_y = self.mean + self.scale * y
        in_logarithms = log_normal_density(y, mean, variance) - np.log(self.scale)
        return np.asarray(in_logarithms - log_y)

    def squared_error(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of each predicted mean [t] in the target's own units, squared."""
        in_units, _ = self.decode(mean, variance)
        return np.asarray((in_units - np.exp(self.mean + self.scale * y)) ** 2)

    def noise_in_words(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The noise's standard deviation, as a factor, and beside all labels'."""
        factor = self._factor(variance, digits)
        beside = f"{share_of_variance(variance)} the variance of its logarithms"
        if self.rules.bounds is not None:
            beside = f"whose range is {self.rules.bounds}"
        return f"a standard deviation that multiplies {self.name} by {factor} ({beside})"

    def noise_figure(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The noise's standard deviation, as a factor."""
        return f"× {self._factor(variance, digits)}"

    @property
    def noise_unit(self) -> str:
        """That it is a standard deviation, and of what."""
        return f"standard deviation, as a factor on {self.name}"

    def label_noise_in_words(self, noise_variance: float) -> str:
        """As any other noise."""
        return self.noise_in_words(noise_variance)

    def _factor(self, variance: float, digits: int) -> str:
        """The deviation as a factor, with digits of what it is beyond 1."""
        beyond = float(f"{np.expm1(self.scale * variance**0.5):.{digits}g}")
        return f"{1 + beyond:.12g}"

    def promise(self) -> str:
        """What a letter says that predictions are."""
        return (
            f"For every row you get the median and the mean of what {self.name} may be, and a 95%"
            f" interval, in {self.name}'s own units; the model works on logarithms, so that the"
            " mean is larger than the median."
        )

    def entries(self) -> dict[str, Any]:
        """Name, mean and scale of the logarithms, and that they are such."""
        entries = {"target": self.name, "mean": self.mean, "scale": self.scale}
        return entries | self.rules.entries()
