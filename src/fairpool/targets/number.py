"""A target that is a number: standardised, and predicted with a 95% interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.errors import ConfigurationError
from fairpool.models import mnlp
from fairpool.stored import number, text
from fairpool.tables.arrays import LARGEST, TINY, FloatArray
from fairpool.tables.columns import standardise
from fairpool.tables.moments import scaling_of
from fairpool.targets.kind import SeenLabels, TargetKind
from fairpool.targets.target import Measure, Score

Z_95 = 1.96
"""Half the width of a 95% interval, in standard deviations."""


@dataclass(frozen=True)
class NumberTarget:
    """A column of numbers; the model works on (y - mean) / scale.

    Attributes:
        name: The column.
        mean: The labels' mean.
        scale: Their standard deviation.
    """

    name: str
    mean: float
    scale: float

    kind = "number"
    type = pa.float64()
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
    def prediction_columns(self) -> tuple[str, ...]:
        """The target itself, and how sure its prediction is."""
        return (self.name, "standard_deviation", "lower_95", "upper_95")

    @property
    def labels(self) -> "NumberLabels":
        """Numbers."""
        return NumberLabels(self.name)

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The labels, standardised [m]."""
        y = np.empty(len(column))
        standardise(column, self.mean, self.scale, out=y)
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
        rmse = self.scale * float(np.sqrt(np.mean((mean - y) ** 2)))
        # A density of labels in another unit is smaller by that unit, hence the logarithm.
        return {"mnlp": float(mnlp(y, mean, variance)) + float(np.log(self.scale)), "rmse": rmse}

    def added_noise_in_words(self, variance: float) -> str:
        """The noise's standard deviation, in the target's own units."""
        deviation = self.scale * variance**0.5
        return f"standard deviation {deviation:.4g}, in {self.name}'s own units"

    def noise_in_words(self, noise_variance: float) -> str:
        """The noise's standard deviation."""
        deviation = np.sqrt(noise_variance)
        in_units = f"{deviation * self.scale:.4g} {self.name}"
        return f"{in_units} ({deviation:.3g} standard deviations)"

    def promise(self) -> str:
        """What a letter says that predictions are."""
        return (
            f"For every row you get a prediction of {self.name}, its standard deviation and a 95%"
            f" interval, in {self.name}'s own units."
        )

    def entries(self) -> dict[str, Any]:
        """Name, mean and scale."""
        return {"target": self.name, "mean": self.mean, "scale": self.scale}

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> "NumberTarget":
        """The target with these entries, all of them checked."""
        return cls(
            name=text(entries["target"]),
            mean=number(entries["mean"], "mean", least=-LARGEST, most=LARGEST),
            scale=number(entries["scale"], "scale", least=TINY, most=LARGEST),
        )


@dataclass(frozen=True)
class NumberLabels:
    """A column of numbers of which mean and deviation are not yet known."""

    name: str

    type = pa.float64()
    in_words = "a number"

    @classmethod
    def of_settings(cls, settings: Any) -> "NumberLabels":
        """The column of the [target] section."""
        return cls(settings.column)

    def wrong(self, column: pa.ChunkedArray) -> NDArray[np.bool_]:
        """None: every finite number can be learned."""
        return np.zeros(len(column), dtype=bool)

    def fix(self, parties: Sequence[SeenLabels], public: SeenLabels | None) -> NumberTarget:
        """The target with the scaling of public data, or else of all parties'."""
        public_moments = None if public is None else public.moments
        scaling = scaling_of([seen.moments for seen in parties], public_moments)
        (mean,) = scaling.means
        (scale,) = scaling.scales
        if scale == 0:
            raise ConfigurationError(
                f'the target "{self.name}" has the same value everywhere; there is nothing to learn'
            )
        return NumberTarget(self.name, mean=mean, scale=scale)


NUMBER = TargetKind(
    name=NumberTarget.kind, labels=NumberLabels.of_settings, decode=NumberTarget.of_entries
)
