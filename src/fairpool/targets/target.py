"""What a label is: its encoding, noise and scores, and the words for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fairpool.columns.rules import Rules
from fairpool.tables.arrays import FloatArray

Z_95 = 1.96
"""Half the width of a 95% interval, in standard deviations."""

NOISE_DIGITS = 3
"""Of noise, as people are told of it."""

Score = dict[str, float]
"""How well one model predicts: a number for every one of the target's measures."""


@dataclass(frozen=True, kw_only=True)
class ComparisonNames:
    """What `log_density` and `squared_error` are called, where two models are compared by them.

    Attributes:
        log_density: Of one row, in nats.
        error: In a sentence.
        short_error: In a table.
        is_root: Whether the root of the mean is told, so that it has the target's unit.
    """

    log_density: str = "log density"
    error: str = "root mean squared error"
    short_error: str = "RMSE"
    is_root: bool = True


OF_NUMBERS = ComparisonNames()


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A way to score predictions; lower is better.

    Attributes:
        key: In result.json.
        title: In tables and charts.
        meaning: What it is, for the report's terms; empty if everybody knows.
        digits: How it is shown.
    """

    key: str
    title: str
    meaning: str
    digits: str


def share_of_variance(variance: float) -> str:
    """Noise on labels that were scaled to variance 1, beside that variance.

    >>> share_of_variance(0.163), share_of_variance(0.00001), share_of_variance(2.4)
    ('16% of', 'less than 0.01% of', '2.4 times')
    """
    if variance >= 1:
        return f"{variance:.3g} times"
    if variance < 0.0001:
        return "less than 0.01% of"
    return f"{100 * variance:.2g}% of"


class Target(Protocol):
    """What is predicted."""

    @property
    def kind(self) -> str:
        """Which of `TARGETS` it is."""
        ...  # pragma: no cover

    @property
    def name(self) -> str:
        """The column with the labels."""
        ...  # pragma: no cover

    @property
    def type(self) -> pa.DataType:
        """As what the column is read: float64 or string."""
        ...  # pragma: no cover

    @property
    def rules(self) -> Rules:
        """What is done to labels before they are encoded."""
        ...  # pragma: no cover

    @property
    def noise_scale(self) -> float:
        """What noise of deviation 1 on labels as the model sees them is in units that never change.

        A row's noise is the same in every round, even where the scaling is learned anew.
        """
        ...  # pragma: no cover

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The labels y [m] as the model sees them; missing ones as NaN."""
        ...  # pragma: no cover

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictive means and variances in the target's own units."""
        ...  # pragma: no cover

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """What `fairpool predict` gives for every row."""
        ...  # pragma: no cover

    def predictions(
        self, mean: FloatArray, variance: FloatArray
    ) -> Sequence[FloatArray | NDArray[np.str_]]:
        """These columns [t], numbers or text, from what the model predicts."""
        ...  # pragma: no cover

    @property
    def measures(self) -> tuple[Measure, ...]:
        """How predictions are scored; the first one is drawn."""
        ...  # pragma: no cover

    def score(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> Score:
        """How well labels y [t], as the model sees them, were predicted."""
        ...  # pragma: no cover

    def log_density(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of each label [t] in the target's own units (or its log probability); more is better."""
        ...  # pragma: no cover

    def squared_error(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Of each prediction [t] in the target's own units, squared; less is better."""
        ...  # pragma: no cover

    @property
    def comparison(self) -> ComparisonNames:
        """What these are called where two models are compared by them."""
        ...  # pragma: no cover

    @property
    def likely_errors(self) -> str:
        """What to look for where a party's labels are far from what the others' data predict."""
        ...  # pragma: no cover

    def noise_in_words(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """How much noise on encoded labels is, wherever people are told: its standard deviation."""
        ...  # pragma: no cover

    def noise_figure(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The same in a table's cell."""
        ...  # pragma: no cover

    @property
    def noise_unit(self) -> str:
        """What these figures are, below the table."""
        ...  # pragma: no cover

    def label_noise_in_words(self, noise_variance: float) -> str:
        """How noisy the labels themselves are taken to be."""
        ...  # pragma: no cover

    def promise(self) -> str:
        """What a letter says that predictions are."""
        ...  # pragma: no cover

    def entries(self) -> dict[str, Any]:
        """Itself as entries of a reward file's encoding."""
        ...  # pragma: no cover
