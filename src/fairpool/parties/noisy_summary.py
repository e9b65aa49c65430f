"""A party that put noise on its sums, so that no single row can be seen in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairpool.errors import DataError
from fairpool.parties.class_coding import ClassCoding, Level
from fairpool.parties.class_summary import ClassSummary
from fairpool.parties.noisy_statistics import NoisyLevel, NoisyStatistics
from fairpool.parties.party import Party
from fairpool.parties.party_data import FeatureModel, Probed
from fairpool.parties.summary import (
    PartySummary,
    is_same_probe,
    scaling_between,
    with_scaled_features,
)
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisySums:
    """One contribution's sums, and how much noise is on them.

    Attributes:
        gram: The Gram matrix [d, d]; of classes as a `ClassSummary` has them, [k, d, d] or
            [k, 2, d, d].
        moment: The moment [d]; of classes, sums of features [k, d] or [k, 2, d].
        squares: The sum of squared labels; of classes, numbers of rows [k].
        noise: The deviations of the noise on a diagonal entry of a Gram matrix, and on one of the
            moment [2], of classes [k, 2] or [k, 2, 2]; 0: there is none.
        squares_noise: That of the noise on squares, a number.
        rows: How many rows went in, as the party says: a number with noise.
    """

    gram: FloatArray
    moment: FloatArray
    squares: FloatArray
    noise: FloatArray
    squares_noise: FloatArray
    rows: float

    def scaled(self, factors: FloatArray) -> "NoisySums":
        """The same rows' sums in features that are a multiple of these.

        Args:
            factors: Of all features, or of each class's [k, 1].
        """
        return replace(
            self,
            gram=factors[..., None, None] ** 2 * self.gram,
            moment=factors[..., None] * self.moment,
            noise=np.stack([factors**2, np.abs(factors)], axis=-1) * self.noise,
        )

    def level(self, label_noise: float) -> NoisyLevel:
        """Of labels that are numbers."""
        return NoisyLevel(
            gram=self.gram,
            moment=self.moment,
            gram_noise=float(self.noise[0]),
            moment_noise=float(self.noise[1]),
            label_noise=label_noise,
            squares=float(self.squares),
            squares_noise=float(self.squares_noise),
            rows=self.rows,
        )

    def levels(self, coding: ClassCoding, c: int) -> tuple[NoisyLevel, NoisyLevel]:
        """Of class c: over its rows and over all others, in the features that it sees."""
        others = np.arange(len(self.moment)) != c
        if self.moment.ndim == 3:
            inside, outside = self._of(c, 0), self._of(c, 1)
        else:
            inside = self._of(c)
            outside = replace(
                self,
                gram=self.gram[others].sum(axis=0),
                moment=self.moment[others].sum(axis=0),
                noise=np.sqrt(np.square(self.noise[others]).sum(axis=0)),
            )
        inside = replace(inside, squares=self.squares[c])
        outside = replace(
            outside,
            squares=self.squares[others].sum(),
            squares_noise=self.squares_noise * np.sqrt(len(self.moment) - 1),
        )
        return _labelled(inside, coding.inside), _labelled(outside, coding.outside)

    def _of(self, *place: int) -> "NoisySums":
        return replace(
            self, gram=self.gram[place], moment=self.moment[place], noise=self.noise[place]
        )


def _labelled(sums: NoisySums, label: Level) -> NoisyLevel:
    """Sums of features, and a number of rows, as those of rows that all have one label."""
    times = np.array([1.0, abs(label.target)])
    labelled = replace(
        sums,
        moment=label.target * sums.moment,
        squares=label.target**2 * sums.squares,
        noise=times * sums.noise,
        squares_noise=label.target**2 * sums.squares_noise,
        rows=float(sums.squares),
    )
    return labelled.level(label.noise)


def without_noise(
    gram: FloatArray, moment: FloatArray, squares: FloatArray, *, rows: float
) -> NoisySums:
    """Sums that nobody put noise on."""
    return NoisySums(
        gram=gram,
        moment=moment,
        squares=squares,
        noise=np.zeros((*moment.shape[:-1], 2)),
        squares_noise=np.zeros(()),
        rows=rows,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisySummary:
    """What a party sent that put noise on its sums; several contributions add up.

    What they tell is in `fairpool.parties.noisy_statistics`. They need not be possible sums of any
    rows, and nothing of the kind is checked.

    Attributes:
        name: The party.
        sums: Of each contribution; some may have no noise.
        noise_variance: Variance of the labels' noise; of classes it follows from them.
        inputs: Number p of input columns.
        probe: What the model's features are at a few fixed inputs.
    """

    name: str
    sums: Sequence[NoisySums] = field(repr=False)
    noise_variance: float
    inputs: int
    probe: FloatArray = field(repr=False)

    @property
    def columns(self) -> None:
        """Sums have no names of columns."""
        return

    @property
    def shown_rows(self) -> Party:
        """No row can be looked at."""
        return Party(self.name, np.empty((0, self.inputs)), np.empty(0))

    @property
    def classes(self) -> int:
        """How many classes there are; 0: labels are numbers."""
        moment = self.sums[0].moment
        return 0 if moment.ndim == 1 else len(moment)

    @property
    def label_draws(self) -> int:
        """As many as weights for every level of labels and contribution."""
        levels = 2 if self.classes else 1
        return levels * len(self.sums) * int(self.sums[0].moment.shape[-1])

    def __len__(self) -> int:
        return int(sum(one.rows for one in self.sums))

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Refuse a model that has other features."""
        self._refuse_other_probe(self.probe, model)

    def refuse_other_model_of(self, c: int, model: FeatureModel) -> None:
        """The same for the model of class c alone."""
        self._refuse_other_probe(self.probe[c] if self.probe.ndim == 3 else self.probe, model)

    def _refuse_other_probe(self, probe: FloatArray, model: FeatureModel) -> None:
        if not is_same_probe(probe, model.probe(self.inputs)):
            raise DataError(
                f'the sums of "{self.name}" were made with another model; summarise all with the'
                " same one"
            )

    def statistics(self, model: FeatureModel) -> NoisyStatistics:  # noqa: ARG002 -- of that model
        """What a model with weights learns from it."""
        if self.classes:
            raise DataError(f'the sums of "{self.name}" are of classes; use them with a Classifier')
        levels = [one.level(self.noise_variance) for one in self.sums]
        return NoisyStatistics(levels, weights=len(self.sums[0].moment))

    def of_class(self, coding: ClassCoding, c: int) -> "NoisyClass":
        """What class c's latent function learns from."""
        return NoisyClass(summary=self, coding=coding, c=c)

    def under(self, model: Probed) -> "NoisySummary":
        """The same rows' sums for a model whose features are a multiple of these."""
        probe = model.probe(self.inputs)
        shape = (-1, *probe.shape[-2:])
        pairs = list(zip(self.probe.reshape(shape), probe.reshape(shape), strict=True))
        found = [scaling_between(*pair) for pair in pairs]
        # One factor for all, or one for each class, of both levels.
        factors = np.array(found)[:, None] if self.probe.ndim == 3 else np.array(found[0])
        for (old, new), factor in zip(pairs, found, strict=True):
            if not is_same_probe(with_scaled_features(old, factor), new):
                raise DataError(
                    f'the sums of "{self.name}" were made with another model; have it contribute'
                    " again"
                )
        return replace(
            self,
            sums=tuple(one.scaled(factors) for one in self.sums),
            noise_variance=model.noise_variance,
            probe=probe,
        )

    def __add__(self, other: "NoisySummary | PartySummary | ClassSummary") -> "NoisySummary":
        more = _as_noisy(other)
        return replace(self, sums=(*self.sums, *more.sums))

    def __radd__(self, other: "PartySummary | ClassSummary") -> "NoisySummary":
        return _as_noisy(other) + self


def _as_noisy(data: NoisySummary | PartySummary | ClassSummary) -> NoisySummary:
    """Sums without noise as such whose noise is 0."""
    if isinstance(data, NoisySummary):
        return data
    if isinstance(data, PartySummary):
        gram, moment, squares = data.gram, data.moment, np.asarray(data.squares)
        label_noise = data.noise_variance
    else:
        gram, moment, squares = data.grams, data.sums, data.counts
        label_noise = 1.0
    return NoisySummary(
        name=data.name,
        sums=(without_noise(gram, moment, squares, rows=len(data)),),
        noise_variance=label_noise,
        inputs=data.inputs,
        probe=data.probe,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyClass:
    """Sums with noise as one class's latent function sees them: party data of its own.

    Attributes:
        summary: Of all classes.
        coding: What labels are.
        c: The class.
    """

    summary: NoisySummary
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
        """As many as weights for both levels of every contribution."""
        return self.summary.label_draws

    def __len__(self) -> int:
        return len(self.summary)

    def refuse_other_model(self, model: FeatureModel) -> None:
        """Refuse a model that this data was not made for."""
        self.summary.refuse_other_model_of(self.c, model)

    def statistics(self, model: FeatureModel) -> NoisyStatistics:  # noqa: ARG002 -- of that model
        """Both levels of every contribution."""
        levels: list[NoisyLevel] = []
        for one in self.summary.sums:
            levels += one.levels(self.coding, self.c)
        return NoisyStatistics(levels, weights=int(self.summary.sums[0].moment.shape[-1]))
