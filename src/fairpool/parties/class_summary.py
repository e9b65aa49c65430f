"""What a model of classes with weights needs to know of a party instead of its rows.

Of each class the Gram matrix of its rows, the sum of their features, and their number. Since a
class's latent function sees two levels of labels and noise only (`ClassCoding`), these say it all.
Where classes have priors of their own, and so features of their own, the rows of all other classes
are summed up in these as well.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairpool.errors import DataError, shown
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.parties.class_coding import ClassCoding, Level
from fairpool.parties.party import Party
from fairpool.parties.party_data import FeatureModel, Probed, Told, UnequalRows
from fairpool.parties.plausibility import REMEDY
from fairpool.parties.summary import PartySummary, scaling_between, with_scaled_features
from fairpool.tables.arrays import FloatArray, as_numeric, read_only


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassSummary:
    """A party's sufficient statistics for a classifier with weights; two of one party add up.

    Attributes:
        name: The party.
        grams: A^T A over the rows of each class, A their whitened features [k, d, d]. Of classes
            with features of their own, over the rows of the class and over all others
            [k, 2, d, d].
        sums: A^T 1, the sum of these rows' features [k, d] or [k, 2, d].
        counts: How many rows there are of each class [k].
        inputs: Number p of input columns.
        probe: What the model's features are at a few fixed inputs, to tell summaries of different
            models apart [3, d + 1]; of classes with features of their own, of each [k, 3, d + 1].
    """

    name: str
    grams: FloatArray
    sums: FloatArray
    counts: FloatArray
    inputs: int
    probe: FloatArray

    noise_is_summed = False
    """Whether noise on labels comes summed up over the rows, see `SummedClassRows`."""

    def __post_init__(self) -> None:
        where = f'the summary of "{self.name}"'
        for field in ("grams", "sums", "counts"):
            values = read_only(as_numeric(getattr(self, field), f"{where}: {field}"))
            object.__setattr__(self, field, values)
        counts = self.counts
        if counts.ndim != 1 or not (np.isfinite(counts) & (counts == np.rint(counts))).all():
            raise DataError(f"{where}: counts {shown(counts.tolist())} are no numbers of rows")
        k = len(counts)
        d = self.sums.shape[-1]
        shape: tuple[int, ...] = (k, d)
        if self.has_own_features:
            shape = (k, 2, d)
        probes = self.probe.shape[:-2] in ((), (k,))
        if self.sums.shape != shape or self.grams.shape != (*shape, d) or not probes:
            raise DataError(
                f"{where}: grams {self.grams.shape}, sums {self.sums.shape} and counts"
                f" {counts.shape} do not fit: [k, d, d], [k, d] and [k]; {REMEDY}"
            )
        checked = [self._checked(c) for c in range(k)]
        object.__setattr__(self, "of_classes", tuple(checked))

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.counts)

    @property
    def has_own_features(self) -> bool:
        """Whether every class has features of its own."""
        return self.probe.ndim == 3

    def level_sums(self, c: int) -> "tuple[LevelSums, LevelSums]":
        """Over the rows of class c and over all others, in the features that class c sees."""
        others = np.arange(len(self.counts)) != c
        if self.has_own_features:
            inside, outside = zip(self.grams[c], self.sums[c], strict=True)
        else:
            inside = (self.grams[c], self.sums[c])
            outside = (self.grams[others].sum(axis=0), self.sums[others].sum(axis=0))
        return (
            self._level(*inside, rows=float(self.counts[c])),
            self._level(*outside, rows=float(self.counts[others].sum())),
        )

    def _level(self, gram: FloatArray, features: FloatArray, *, rows: float) -> "LevelSums":
        return LevelSums(gram, features, rows=rows, noise_is_summed=self.noise_is_summed)

    def _checked(self, c: int) -> tuple[PartySummary, ...]:
        """Sums that class c sees and that no others are made of, as those of rows labelled 1."""
        inside, outside = self.level_sums(c)
        if not self.has_own_features:
            return (self._as_summary(inside, self.probe),)
        probe = self.probe[c]
        return self._as_summary(inside, probe), self._as_summary(outside, probe)

    def _as_summary(self, sums: "LevelSums", probe: FloatArray) -> PartySummary:
        return PartySummary(
            name=self.name,
            gram=sums.gram,
            moment=sums.features,
            squares=sums.rows,
            noise_variance=1.0,
            rows=int(sums.rows),
            inputs=self.inputs,
            probe=probe,
        )

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def columns(self) -> None:
        """Sums have no names of columns."""
        return

    @property
    def shown_rows(self) -> Party:
        """No row can be looked at."""
        return Party(self.name, np.empty((0, self.inputs)), np.empty(0))

    @property
    def label_draws(self) -> int:
        """For each class's latent function, as many as weights for each of both levels."""
        return 2 * int(self.sums.shape[-1])

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Refuse a model that has other features, or of which no rows have these sums."""
        for c in range(len(self.counts)):
            self.refuse_other_model_of(c, model)

    def refuse_other_model_of(self, c: int, model: FeatureModel) -> None:
        """The same for the model of class c alone."""
        of_classes: tuple[tuple[PartySummary, ...], ...]
        of_classes = self.of_classes  # type: ignore[attr-defined]
        for summary in of_classes[c]:
            summary.refuse_other_model(model)

    def statistics(self, model: FeatureModel) -> "ClassStatistics":  # noqa: ARG002
        """There are none for a single label: only a classifier knows what to ask for."""
        raise DataError(f'the summary of "{self.name}" is one of classes; use it with a Classifier')

    def of_class(self, coding: ClassCoding, c: int) -> "ClassData":
        """What class c's latent function learns from."""
        return ClassData(summary=self, coding=coding, c=c)

    def under(self, model: Probed) -> "ClassSummary":
        """The same rows' sums for a classifier whose features are a multiple of these.

        So are those of one whose prior was scaled by learning from sums, or each class's was.
        """
        probe = model.probe(self.inputs)
        if probe.shape != self.probe.shape:
            raise DataError(
                f'the summary of "{self.name}" was made with another model; summarise all with the'
                " same one"
            )
        shape = (-1, *probe.shape[-2:])
        old, new = self.probe.reshape(shape), probe.reshape(shape)
        factors = np.array([scaling_between(*pair) for pair in zip(old, new, strict=True)])
        probes = [with_scaled_features(*pair) for pair in zip(old, factors, strict=True)]
        # One factor for all classes, or one for each, of both levels.
        by_class = factors.reshape(-1, *(1,) * (self.sums.ndim - 1))
        scaled = replace(
            self,
            grams=by_class[..., None] ** 2 * self.grams,
            sums=by_class * self.sums,
            probe=np.reshape(probes, probe.shape),
        )
        of_classes: tuple[tuple[PartySummary, ...], ...]
        of_classes = scaled.of_classes  # type: ignore[attr-defined]
        every = np.broadcast_to(new, (len(of_classes), *new.shape[1:]))
        for (summary, *_), expected in zip(of_classes, every, strict=True):
            summary.refuse_other_probe(expected)
        return replace(scaled, probe=probe)

    def __add__(self, other: "ClassSummary") -> "ClassSummary":
        if not isinstance(other, ClassSummary):
            return NotImplemented  # sums with noise know how to add these
        if self.name != other.name or self.counts.shape != other.counts.shape:
            raise DataError(
                f'summaries of "{self.name}" and "{other.name}" are not of one party and the same'
                " classes"
            )
        of_classes: tuple[tuple[PartySummary, ...], ...]
        of_classes = self.of_classes  # type: ignore[attr-defined]
        probes = np.broadcast_to(other.probe, (len(of_classes), *other.probe.shape[-2:]))
        for (summary, *_), probe in zip(of_classes, probes, strict=True):
            summary.refuse_other_probe(probe)
        return replace(
            self,
            grams=self.grams + other.grams,
            sums=self.sums + other.sums,
            counts=self.counts + other.counts,
        )

    def __repr__(self) -> str:
        k = len(self.counts)
        d = self.sums.shape[-1]
        return f"ClassSummary({self.name!r}, {len(self)} rows, {k} classes, {d} weights)"


class SummedClassRows(ClassSummary):
    """Sums over rows that are still at hand: noise on their labels is summed up over them.

    It comes as the sums over the rows of the class, and over all others, 2 d numbers for each
    class.
    """

    noise_is_summed = True


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassData:
    """A summary as one class's latent function sees it: party data of its own.

    Attributes:
        summary: Of all classes.
        coding: What labels are.
        c: The class.
    """

    summary: ClassSummary
    coding: ClassCoding
    c: int

    @property
    def name(self) -> str:
        """The party."""
        return self.summary.name

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return self.summary.inputs

    @property
    def columns(self) -> None:
        """Sums have no names of columns."""
        return

    @property
    def shown_rows(self) -> Party:
        """No row can be looked at."""
        return self.summary.shown_rows

    @property
    def label_draws(self) -> int:
        """As many as weights for each of both levels."""
        return self.summary.label_draws

    def __len__(self) -> int:
        return len(self.summary)

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Refuse a model that this data was not made for."""
        self.summary.refuse_other_model_of(self.c, model)

    def statistics(self, model: FeatureModel) -> "ClassStatistics":  # noqa: ARG002 -- of that model
        """Sums over the rows of the class, and over all others."""
        inside, outside = self.summary.level_sums(self.c)
        return ClassStatistics(inside=inside, outside=outside, coding=self.coding)


@dataclass(frozen=True, eq=False)
class LevelSums:
    """Sums over rows of one level of labels and noise.

    Attributes:
        gram: A^T A [d, d].
        features: A^T 1 [d].
        rows: How many rows there are.
        noise_is_summed: Whether noise comes summed up over the rows (`SummedClassRows`).
    """

    gram: FloatArray
    features: FloatArray
    rows: float
    noise_is_summed: bool = False

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise on the labels adds to the sum over the rows [d]."""
        return z if self.noise_is_summed else self.root @ z

    @cached_property
    def root(self) -> FloatArray:
        """R [d, d], symmetric, with R R = A^T A."""
        eigenvalues, vectors = spectrum(self.gram)
        return np.asarray(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)) @ vectors.T)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassStatistics:
    """What a class's latent function learns from a party: two levels of labels and noise.

    Attributes:
        inside: Of rows of the class.
        outside: Of all other rows.
        coding: What labels and noise these have.
    """

    inside: LevelSums
    outside: LevelSums
    coding: ClassCoding

    @property
    def _levels(self) -> tuple[tuple[LevelSums, Level], ...]:
        return (self.inside, self.coding.inside), (self.outside, self.coding.outside)

    @cached_property
    def told(self) -> Told:
        """What the rows tell as they are."""
        inside, outside = self.coding.inside, self.coding.outside
        return Told(
            self.inside.gram / inside.noise + self.outside.gram / outside.noise,
            inside.target / inside.noise * self.inside.features
            + outside.target / outside.noise * self.outside.features,
        )

    @property
    def told_squares(self) -> float:
        """Sum of squared labels over their noise variances."""
        return sum(sums.rows * level.target**2 / level.noise for sums, level in self._levels)

    @property
    def label_count(self) -> int:
        """How many rows there are."""
        return int(self.inside.rows + self.outside.rows)

    @property
    def common_noise(self) -> float:
        """Where all rows are of one level, its noise; nan where they differ, inf without rows."""
        found = np.unique([level.noise for sums, level in self._levels if sums.rows])
        if len(found) > 1:
            return np.nan
        return float(found[0]) if len(found) else np.inf

    @property
    def gram(self) -> FloatArray:
        """A^T A of all rows [d, d]."""
        return self.inside.gram + self.outside.gram

    @property
    def moment(self) -> FloatArray:
        """A^T t of all rows [d]."""
        moments = [level.target * sums.features for sums, level in self._levels]
        return np.asarray(moments[0] + moments[1])

    def disturbance(self, z: FloatArray) -> FloatArray:
        """What noise on the labels adds to the moment: R z of each level."""
        inside, outside = np.split(z, 2)
        return np.asarray(self.inside.disturbance(inside) + self.outside.disturbance(outside))

    def weakened(self, eta: float, z: FloatArray) -> Told:
        """What is told when noise of variance eta, made of z, is added to the labels."""
        precision = np.zeros_like(self.gram)
        moment = np.zeros((len(precision), *z.shape[1:]))
        for (sums, level), noise in zip(self._levels, np.split(z, 2), strict=True):
            weight = 1 / (level.noise + eta)
            precision = precision + weight * sums.gram
            disturbance = np.zeros(moment.shape)
            if noise.any():  # a root takes longer than all else
                disturbance = sums.disturbance(noise)
            moment = moment + weight * (level.target * sums.features + disturbance.T).T
        return Told(precision, moment)

    def squared_weights(self, eta: float) -> FloatArray:
        """A^T D^2 A [d, d], D one over noise variances to which eta was added."""
        inside, outside = self._levels
        squares = np.zeros_like(self.gram)
        for sums, level in (inside, outside):
            squares = squares + sums.gram / (level.noise + eta) ** 2
        return squares

    @property
    def unequal_rows(self) -> UnequalRows | None:
        """Gram matrices of both levels, where there are rows of both and their noise differs."""
        if not np.isnan(self.common_noise):
            return None
        noise = np.array([level.noise for _, level in self._levels])
        grams = np.stack([sums.gram for sums, _ in self._levels])
        return UnequalRows(grams / noise[:, None, None], noise)
