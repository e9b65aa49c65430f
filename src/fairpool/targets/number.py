"""A target that is a number: standardised, and predicted with a 95% interval."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.columns.rules import NO_RULES, Rules, Scaled, as_numbers
from fairpool.errors import ConfigurationError
from fairpool.models import log_normal_density, mnlp
from fairpool.stored import number, text
from fairpool.tables.arrays import LARGEST, TINY, FloatArray
from fairpool.tables.columns import standardise_numbers
from fairpool.tables.moments import scaling_of
from fairpool.targets.kind import SeenLabels, TargetKind
from fairpool.targets.log_number import LogNumberTarget
from fairpool.targets.target import (
    NOISE_DIGITS,
    OF_NUMBERS,
    Z_95,
    Measure,
    Score,
    share_of_variance,
)


@dataclass(frozen=True)
class NumberTarget:
    """A column of numbers; the model works on (y - mean) / scale.

    Attributes:
        name: The column.
        mean: The labels' mean.
        scale: Their standard deviation.
        rules: What is done to labels first.
    """

    name: str
    mean: float
    scale: float
    _: KW_ONLY
    rules: Rules = NO_RULES

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
        Measure(key="rmse", title="RMSE", meaning="", digits=".4g"),
    )

    @property
    def noise_scale(self) -> float:
        """The scale: what one unit of the model is in those of the labels, or their logarithms."""
        return self.scale

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """The target itself, and how sure its prediction is."""
        return (self.name, "standard_deviation", "lower_95", "upper_95")

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The labels, standardised [m]."""
        y = np.empty(len(column))
        values = self.rules.transformed(as_numbers(column))
        standardise_numbers(values, self.mean, self.scale, out=y)
        return y

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances in the target's own units."""
        return self.mean + self.scale * mean, self.scale**2 * variance

    def predictions(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, ...]:
        """Mean, standard deviation and 95% interval [t]."""
        mean, variance = self.decode(mean, variance)
        deviation = np.sqrt(variance)
        lower = mean - Z_95 * deviation
        upper = mean + Z_95 * deviation
        return mean, deviation, lower, upper

    def score(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> Score:
        """MNLP and RMSE in the target's own units."""
        rmse = float(np.sqrt(np.mean(self.squared_error(y, mean, variance))))
        # A density of labels in another unit is smaller by that unit, hence the logarithm.
        return {"mnlp": float(mnlp(y, mean, variance)) + float(np.log(self.scale)), "rmse": rmse}

    def log_density(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of each label [t] in the target's own units."""
        return np.asarray(log_normal_density(y, mean, variance) - np.log(self.scale))

    def squared_error(
        self,
        y: FloatArray,
        mean: FloatArray,
        variance: FloatArray,  # noqa: ARG002 -- the mean says it all
    ) -> FloatArray:
        """Of each predicted mean [t] in the target's own units, squared."""
        return np.asarray(self.scale**2 * (mean - y) ** 2)

    def noise_in_words(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The noise's standard deviation, in the target's own units, and beside all labels'."""
        deviation = f"a standard deviation of {self.noise_figure(variance, digits)}"
        return f"{deviation} in the units of {self.name}{self._beside_labels(variance)}"

    def noise_figure(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The noise's standard deviation, in the target's own units."""
        return f"{self.scale * variance**0.5:.{digits}g}"

    @property
    def noise_unit(self) -> str:
        """That it is a standard deviation, and of what."""
        return f"standard deviation, in the units of {self.name}"

    def label_noise_in_words(self, noise_variance: float) -> str:
        """As any other noise."""
        return self.noise_in_words(noise_variance)

    def _beside_labels(self, variance: float) -> str:
        """What to compare noise with; nothing where labels are as they came."""
        if self.rules.bounds is not None:
            return f" (whose range is {self.rules.bounds})"
        if self.mean == 0 and self.scale == 1:
            return ""
        return f" ({share_of_variance(variance)} the labels' variance)"

    def promise(self) -> str:
        """What a letter says that predictions are."""
        return (
            f"For every row you get a prediction of {self.name}, its standard deviation and a 95%"
            f" interval, in {self.name}'s own units."
        )

    def entries(self) -> dict[str, Any]:
        """Name, mean and scale, and what is not as by default."""
        entries = {"target": self.name, "mean": self.mean, "scale": self.scale}
        return entries | self.rules.entries()

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> "NumberTarget | LogNumberTarget":
        """The target with these entries, all of them checked."""
        rules = Rules.of_entries(entries)
        name = text(entries["target"])
        most = LARGEST
        if rules.log:
            most = float(np.log(LARGEST))
        mean = number(entries["mean"], "mean", least=-most, most=most)
        scale = number(entries["scale"], "scale", least=TINY, most=most)
        if rules.log:
            return LogNumberTarget(name=name, mean=mean, scale=scale, rules=rules)
        return cls(name, mean=mean, scale=scale, rules=rules)


@dataclass(frozen=True)
class NumberLabels:
    """A column of numbers of which mean and deviation are not yet known.

    Attributes:
        name: The column.
        rules: What is done to labels first.
    """

    name: str
    rules: Rules = NO_RULES

    type = pa.float64()

    @property
    def in_words(self) -> str:
        """What a label must be."""
        if self.rules.bounds is not None and not self.rules.clips:
            return f"a number in {self.rules.bounds}"
        if self.rules.log and self.rules.bounds is None:
            return "a number above 0, which has a logarithm"
        return "a number"

    @classmethod
    def of_target(cls, target: NumberTarget | LogNumberTarget) -> "NumberLabels":
        """What more labels of a target must be."""
        return cls(target.name, target.rules)

    @classmethod
    def of_settings(cls, settings: Any) -> "NumberLabels":
        """The column of the [target] section."""
        return cls(settings.column)

    def declared(self, rules: Rules) -> "NumberLabels":
        """The same with what [columns.NAME] says of it."""
        return replace(self, rules=rules)

    def wrong(self, column: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Labels out of range, or without a logarithm; every other finite number can be learned."""
        if self.rules == NO_RULES:
            return np.zeros(len(column), dtype=bool)
        values = as_numbers(column)
        return self.rules.refused(values) | self.rules.without_logarithm(values)

    def fix(
        self, parties: Sequence[SeenLabels], public: SeenLabels | None
    ) -> NumberTarget | LogNumberTarget:
        """The target with the scaling of its range, or of public data, or of all parties'."""
        if self.rules.declared is not None and public is None and not parties:
            return self._scaled(self.rules.declared)  # nobody's rows are needed
        public_moments = None if public is None else public.moments
        scaling = scaling_of([seen.moments for seen in parties], public_moments)
        (mean,) = scaling.means
        (scale,) = scaling.scales
        if scale == 0:
            raise ConfigurationError(
                f'the target "{self.name}" has the same value everywhere; there is nothing to learn'
            )
        return self._scaled(self.rules.declared or Scaled(mean, scale))

    def _scaled(self, scaled: Scaled) -> NumberTarget | LogNumberTarget:
        kind = LogNumberTarget if self.rules.log else NumberTarget
        return kind(name=self.name, mean=scaled.mean, scale=scaled.scale, rules=self.rules)


NUMBER = TargetKind(
    name=NumberTarget.kind,
    labels=NumberLabels.of_settings,
    more_labels=NumberLabels.of_target,
    decode=NumberTarget.of_entries,
    declared=NumberLabels.declared,
)

LABELS = NumberTarget("the labels", mean=0.0, scale=1.0)
"""What is predicted where nothing is known of it but numbers."""
