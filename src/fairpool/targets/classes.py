"""A target that is one of several classes, whose probabilities are predicted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairpool.columns.rules import NO_RULES, Rules
from fairpool.errors import ConfigurationError, DataError, RewardFileError, few, shown
from fairpool.keys import Key, above
from fairpool.models import Classifier, Model
from fairpool.models.classifier import log_probability
from fairpool.parties import ClassCoding
from fairpool.parties.class_coding import MOST_CLASSES
from fairpool.stored import number, text
from fairpool.tables.arrays import FloatArray
from fairpool.targets.kind import SeenLabels, TargetKind
from fairpool.targets.target import NOISE_DIGITS, ComparisonNames, Measure, Score

BINS = 10
"""Of probabilities, for their calibration."""

SHARED, PER_CLASS = "shared", "per_class"
KERNELS = (SHARED, PER_CLASS)
"""Whether the classes' latent functions have one kernel, or each one of its own."""


def _tidy(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Labels as they are compared: accents may be written in two ways, and blanks do not count."""
    return pc.utf8_normalize(pc.utf8_trim_whitespace(column.cast(pa.string())), form="NFC")


def tidied(levels: Sequence[str]) -> tuple[str, ...]:
    """Labels as they are compared, one by one."""
    return tuple(_tidy(pa.chunked_array([pa.array(levels, pa.string())])).to_pylist())


@dataclass(frozen=True, kw_only=True)
class ClassTarget:
    """A column of classes, of which the model sees the numbers 0 .. k - 1.

    Attributes:
        name: The column.
        levels: The classes, as they stand in tables.
        other: The one of them that all other labels count as; None: there are no others.
        concentration: See `ClassCoding`.
        label_blind: See `ClassCoding`.
        kernels: One of `KERNELS`.
        rules: What is done to labels first: values that stand for missing ones.
    """

    name: str
    levels: tuple[str, ...]
    other: str | None = None
    concentration: float = 0.01
    label_blind: bool = False
    kernels: str = SHARED
    rules: Rules = NO_RULES

    kind = "classes"
    type = pa.string()
    noise_scale = 1.0
    comparison = ComparisonNames(
        log_density="log probability of the true class",
        error="Brier's score",
        short_error="Brier's score",
        is_root=False,
    )
    likely_errors = "classes that were exchanged, or coded in another way"
    measures = (
        Measure(
            key="log_loss",
            title="log loss",
            meaning="Mean of minus the logarithm of the probability that was given to the true"
            " class of test rows: how surprised a model is by them. Lower is better.",
            digits=".3f",
        ),
        Measure(
            key="errors",
            title="wrong",
            meaning="The share of test rows whose class is not the most probable one; accuracy is"
            " one less that.",
            digits=".3f",
        ),
        Measure(
            key="calibration_error",
            title="calibration error",
            meaning="How far the most probable class's probability is from how often it is right,"
            " on average over ten groups of test rows by that probability.",
            digits=".3f",
        ),
    )

    @property
    def coding(self) -> ClassCoding:
        """The classes as numbers with noise."""
        return ClassCoding(
            classes=len(self.levels),
            concentration=self.concentration,
            label_blind=self.label_blind,
        )

    def classifier(self, model: Model) -> Classifier:
        """A model of these classes, made of one of numbers."""
        models: Model | tuple[Model, ...] = model
        if self.kernels == PER_CLASS:
            models = (model,) * len(self.levels)
        return Classifier(
            models,
            len(self.levels),
            concentration=self.concentration,
            label_blind=self.label_blind,
        )

    def indicators(self, y: FloatArray) -> FloatArray:
        """For each class whether a row is of it, 1 or 0 [m, k]."""
        return np.asarray(y[:, None] == np.arange(len(self.levels)), dtype=np.float64)

    def counts(self, seen: Mapping[str, int]) -> dict[str, int]:
        """How many rows there are of each class, of labels as they stand in a table."""
        labels = pa.chunked_array([pa.array(list(seen), pa.string())])
        counts = dict.fromkeys(self.levels, 0)
        for place, count in zip(self.encode(labels), seen.values(), strict=True):
            counts[self.levels[int(place)]] += count
        return counts

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """The class, every class's probability, and how much of it hangs on what is not known."""
        of_levels = [f"probability of {level}" for level in self.levels]
        return (self.name, *of_levels, "doubt")

    def encode(self, column: pa.ChunkedArray) -> FloatArray:
        """The numbers of classes [m]; a label that is none is refused."""
        labels = self.rules.without_tokens(column)
        place = pc.index_in(_tidy(labels), value_set=pa.array(self.levels, pa.string()))
        if self.other is not None:
            others = pa.scalar(self.levels.index(self.other), pa.int32())
            place = pc.if_else(pc.is_valid(labels), pc.fill_null(place, others), place)
        unknown = pc.and_(pc.is_valid(labels), pc.is_null(place))
        if pc.any(unknown).as_py():
            first = labels.filter(unknown)[0].as_py()
            raise DataError(
                f'the target "{self.name}": {shown(first)} is none of the classes'
                f" {few([shown(level) for level in self.levels])}; correct it, or leave the row out"
            )
        return np.asarray(pc.cast(place, pa.float64()).to_numpy(), dtype=np.float64)

    def decode(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities are what they are."""
        return mean, variance

    def predictions(
        self, mean: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray | NDArray[np.str_], ...]:
        """The most probable class, all probabilities, and the standard deviation of its own."""
        classes = np.array(self.levels, dtype=object)[mean.argmax(axis=1)]
        return (classes, *mean.T, np.sqrt(variance))

    def score(self, y: FloatArray, mean: FloatArray, variance: FloatArray) -> Score:
        """Log loss, share of wrong classes, and calibration error."""
        return {
            "log_loss": -float(np.mean(self.log_density(y, mean, variance))),
            "errors": float(np.mean(mean.argmax(axis=1) != y)),
            "calibration_error": calibration_error(y, mean),
        }

    def log_density(
        self,
        y: FloatArray,
        mean: FloatArray,
        variance: FloatArray,  # noqa: ARG002 -- the probabilities have it in them
    ) -> FloatArray:
        """The logarithm of the probability of each label's class [t]."""
        return log_probability(y, mean)

    def squared_error(
        self,
        y: FloatArray,
        mean: FloatArray,
        variance: FloatArray,  # noqa: ARG002
    ) -> FloatArray:
        """Of each row's probabilities [t], summed over the classes (Brier's score)."""
        return np.asarray(np.square(self.indicators(y) - mean).sum(axis=1))

    def noise_in_words(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The noise's standard deviation, beside what it has to hide."""
        deviation = f"a standard deviation of {self.noise_figure(variance, digits)}"
        return f"{deviation}, {self._beside_labels}"

    def noise_figure(self, variance: float, digits: int = NOISE_DIGITS) -> str:
        """The noise's standard deviation, on the numbers that classes become."""
        return f"{variance**0.5:.{digits}g}"

    @property
    def noise_unit(self) -> str:
        """That it is a standard deviation, and what to compare it with."""
        return f"standard deviation, {self._beside_labels}"

    def label_noise_in_words(self, noise_variance: float) -> str:  # noqa: ARG002 -- the coding's
        """What follows from the concentration."""
        own = self.noise_figure(self.coding.inside.noise)
        others = self.noise_figure(self.coding.outside.noise)
        deviations = f"{own} on a label's own class and {others} on the others"
        if self.label_blind:
            deviations = f"{own} on every class"
        return (
            f"a standard deviation of {deviations}, where these are {self._apart} apart"
            f" (concentration {self.concentration:g})"
        )

    @property
    def _beside_labels(self) -> str:
        return f"where a label's own class and the others are {self._apart} apart"

    @property
    def _apart(self) -> str:
        return f"{self.coding.inside.target - self.coding.outside.target:.3g}"

    def promise(self) -> str:
        """What a letter says that predictions are."""
        return (
            f"For every row you get the most probable {self.name}, the probability of every class,"
            " and a doubt: the standard deviation of the first one's probability, by all that the"
            " model does not know."
        )

    def entries(self) -> dict[str, Any]:
        """Name, classes and coding, and what is not as by default."""
        entries: dict[str, Any] = {
            "target": self.name,
            "levels": list(self.levels),
            "concentration": self.concentration,
            "label_blind": self.label_blind,
        }
        if self.other is not None:
            entries["other"] = self.other
        if self.kernels != SHARED:
            entries["kernels"] = self.kernels
        return entries | self.rules.entries()

    @classmethod
    def of_entries(cls, entries: dict[str, Any]) -> "ClassTarget":
        """The target with these entries."""
        levels = entries["levels"]
        if not isinstance(levels, list) or not 2 <= len(levels) <= MOST_CLASSES:
            raise RewardFileError(f"{shown(levels)} are no classes")
        names = tuple(text(level) for level in levels)
        other = entries.get("other")
        if len({*names}) < len(names) or (other is not None and other not in names):
            raise RewardFileError(f"{shown(levels)} are no classes: one is there twice, or lacking")
        if not isinstance(entries["label_blind"], bool):
            raise RewardFileError("label_blind must be true or false")
        kernels = text(entries.get("kernels", SHARED))
        if kernels not in KERNELS:
            raise RewardFileError(f"kernels {shown(kernels)} is none of {', '.join(KERNELS)}")
        return cls(
            name=text(entries["target"]),
            levels=names,
            other=other,
            concentration=number(entries["concentration"], "concentration", least=1e-9),
            label_blind=entries["label_blind"],
            kernels=kernels,
            rules=Rules.of_entries(entries, of_numbers=False),
        )


def calibration_error(y: FloatArray, p: FloatArray) -> float:
    """Mean over rows of |how often the most probable class is right - how probable it was|, by bin.

    Naeini, Cooper, Hauskrecht, AAAI 2015 (expected calibration error, with ten equal bins).

    Args:
        y: Classes [t].
        p: Probabilities [t, k].
    """
    likely = p.max(axis=1)
    is_right = p.argmax(axis=1) == y
    bins = np.minimum((likely * BINS).astype(int), BINS - 1)
    error = 0.0
    for place in np.unique(bins):
        rows = bins == place
        error += rows.mean() * abs(is_right[rows].mean() - likely[rows].mean())
    return float(error)


@dataclass(frozen=True, kw_only=True)
class ClassLabels:
    """A column of classes, as far as the configuration says what they are.

    Attributes:
        name: The column.
        levels: The classes; None: those of public data.
        other: The class that all other labels count as; None: other labels are wrong.
        concentration: See `ClassCoding`.
        label_blind: See `ClassCoding`.
        kernels: One of `KERNELS`.
        rules: Values that stand for missing ones.
    """

    name: str
    levels: tuple[str, ...] | None = None
    other: str | None = None
    concentration: float = 0.01
    label_blind: bool = False
    kernels: str = SHARED
    rules: Rules = NO_RULES

    type = pa.string()

    @property
    def in_words(self) -> str:
        """What a label must be."""
        if self.levels is None:
            return "a class, as text"
        return f"one of the classes {few([shown(level) for level in self.levels])}"

    @classmethod
    def of_settings(cls, settings: Any) -> "ClassLabels":
        """The column of the [target] section, with this kind's keys."""
        other = None if settings.other is None else tidied([settings.other])[0]
        labels = cls(
            name=settings.column,
            other=other,
            concentration=settings.concentration,
            label_blind=settings.label_blind,
            kernels=settings.kernels,
        )
        if settings.levels is None:
            return labels
        return labels.listed(settings.levels)

    def listed(self, levels: Sequence[str]) -> "ClassLabels":
        """The same with these classes, and the one that all others count as."""
        known = tidied(levels)
        if self.other is not None and self.other not in known:
            known = (*known, self.other)
        return replace(self, levels=known)

    @classmethod
    def of_target(cls, target: ClassTarget) -> "ClassLabels":
        """What more labels of a target must be."""
        return cls(name=target.name, levels=target.levels, other=target.other, rules=target.rules)

    def declared(self, rules: Rules) -> "ClassLabels":
        """The same with what [columns.NAME] says of it."""
        return replace(self, rules=rules)

    def wrong(self, column: pa.ChunkedArray) -> NDArray[np.bool_]:
        """Labels that are none of the classes, where these are listed."""
        if self.levels is None or self.other is not None:
            return np.zeros(len(column), dtype=bool)
        known = pc.is_in(_tidy(column), value_set=pa.array(self.levels, pa.string()))
        return np.asarray(pc.and_(pc.is_valid(column), pc.invert(known)).to_numpy(), dtype=bool)

    def fix(self, parties: Sequence[SeenLabels], public: SeenLabels | None) -> ClassTarget:
        """The target with the classes that were listed, or else those of public data."""
        levels = self.levels
        if levels is None and public is not None:
            levels = tuple(sorted({*tidied(list(public.levels))}))
            if self.other is not None and self.other not in levels:
                levels = (*levels, self.other)
        if levels is None:
            found: dict[str, None] = {}
            for seen in parties:
                found |= dict.fromkeys(tidied(list(seen.levels)))
            listed = few([shown(level) for level in sorted(found)])
            raise ConfigurationError(
                f'the target "{self.name}" has no levels, and there is no [public] data to take'
                f" them from: which classes there are would be learned from the parties' labels,"
                f" and told to everybody; say levels = [...] in [target]; the tables have {listed}"
            )
        if not 2 <= len(levels) <= MOST_CLASSES:
            raise ConfigurationError(
                f'the target "{self.name}" has {len(levels)} class(es); it needs 2 to'
                f" {MOST_CLASSES}"
            )
        self._refuse_unknown(parties, levels)
        return ClassTarget(
            name=self.name,
            levels=levels,
            other=self.other,
            concentration=self.concentration,
            label_blind=self.label_blind,
            kernels=self.kernels,
            rules=self.rules,
        )

    def _refuse_unknown(self, parties: Sequence[SeenLabels], levels: tuple[str, ...]) -> None:
        """Refuse labels that public data have not."""
        if self.other is not None:
            return
        problems = []
        for seen in parties:
            unknown = [label for label in tidied(list(seen.levels)) if label not in levels]
            if unknown:
                problems.append(
                    f'{seen.owner}: {shown(unknown[0])} in the target "{self.name}" is none of the'
                    f" classes of the public data ({few([shown(level) for level in levels])}); list"
                    " all classes as levels in [target], or name one that all others count as, such"
                    ' as other = "other"'
                )
        if problems:
            raise ConfigurationError(*problems)


def _levels(levels: list[str] | None) -> list[str] | None:
    if levels is not None and len({*tidied(levels)}) < max(len(levels), 1):
        raise ValueError(f"{shown(levels)} is not allowed; give every class once")
    return levels


def same_levels(levels: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two lists name the same classes, in whatever order."""
    return {*tidied(levels)} == {*tidied(others)}


def _kernels(word: str) -> str:
    if word not in KERNELS:
        raise ValueError(f"{shown(word)} is not allowed; give one of {', '.join(KERNELS)}")
    return word


CLASSES = TargetKind(
    name=ClassTarget.kind,
    labels=ClassLabels.of_settings,
    more_labels=ClassLabels.of_target,
    decode=ClassTarget.of_entries,
    declared=ClassLabels.declared,
    listed=ClassLabels.listed,
    of_numbers=False,
    noise_is_learned=False,
    keys={
        "levels": Key(type=list[str] | None, default=None, check=_levels),
        "other": Key(type=str | None, default=None, check=lambda value: value),
        "concentration": Key(type=float, default=0.01, check=above(0)),
        "label_blind": Key(type=bool, default=False, check=lambda value: value),
        "kernels": Key(type=str, default=SHARED, check=_kernels),
    },
)
