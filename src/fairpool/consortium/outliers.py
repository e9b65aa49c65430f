"""Values far from all others, in the columns' own units: told of, or refused where they do harm.

Scaling divides by the standard deviation, and one value can make that anything: with a cell of 1e20
everybody's rows become the same number, nothing is learned from the column, and rows that differ
look like copies. So what is far is judged before scaling, by medians, which few values cannot move.

- A value is far if it is `FAR` median deviations from the median of all, and from that of its own
  party's values, unless that is how the column is made: the largest of log-normal or exponential
  values are as far, and no errors. How heavy the tail is shows at the other parties, whose values
  no party can choose.
- A column that has a far value, and a standard deviation of more median deviations than `[limits]
  spread` allows, is refused: scaled, most of its values would be nearly the same.
- So is a column in which the values of a party would all be the same number, whoever is the cause.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from fairpool.columns.rules import NO_RULES, Rules
from fairpool.consortium.faults import Columns
from fairpool.consortium.limits import Limits
from fairpool.consortium.surveys import Extreme, Survey
from fairpool.consortium.tables import PUBLIC, Place
from fairpool.errors import ConfigurationError
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray
from fairpool.tables.delivery import AS_AGREED, Delivery
from fairpool.tables.moments import Moments

FAR = 20.0
"""A value this many median deviations from the median is far, unless the tail is heavy."""

OF_WHOLE_PARTY = 1e3
"""And a value this many is far even if its party's values all are: it may be another unit."""

ALWAYS_FAR = 1e4
"""A value this many is far however heavy the tail: parties could make each other's tails."""

TAIL = 0.99
"""The quantile of distances from the median that shows how heavy a tail is."""

SAME = 1e6
"""Values that differ by less than one part in so many of the scale are the same to a model."""

ROUNDING = 1e-10
"""Distances below this part of the values themselves are rounding."""

MOST_TOLD = 20
"""Of one owner, so many far values are listed and the others counted."""

TOGETHER = 64
"""So many columns are looked at together; of all, the values of many owners may fill memory."""

Problem = Callable[[], str]
"""A problem that is put into words when it is told: its line is looked for in the file."""


class Spread(NamedTuple):
    """Where most values of a column are: their median, and the median distance from it.

    The distance is 0 where it cannot be told.
    """

    median: float
    deviation: float


@dataclass(frozen=True, eq=False)
class Spreads:
    """Where most values of several columns are.

    Attributes:
        medians: Of their values [k].
        deviations: The median distances from them [k]; 0: it cannot be told.
    """

    medians: FloatArray
    deviations: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> "Spreads":
        """Those of rows [m, k]; where most values are one and the same, of the others."""
        medians, deviations = _plain_spreads(values)
        for k in np.flatnonzero(deviations == 0):
            distances = np.abs(values[:, k] - medians[k])
            others = distances[distances > _rounding(values)[k]]
            if len(others):
                deviations[k] = np.median(others)
        return cls(medians, deviations)

    @classmethod
    def of_all(cls, samples: Sequence[FloatArray]) -> "Spreads":
        """Those of several owners' rows together."""
        medians, deviations = _plain_spreads(np.concatenate(samples))
        unknown = np.flatnonzero(deviations == 0)
        if len(unknown):
            # Most values are one and the same. Of the others a single owner may have nearly all, so
            # the owners' deviations are compared: few owners cannot move the median of those.
            of_owners = [cls.of(values[:, unknown]).deviations for values in samples]
            for k, own in zip(unknown, np.transpose(of_owners), strict=True):
                known = np.sort(own[own > 0])
                if len(known):
                    deviations[k] = known[len(known) // 2]
        return cls(medians, deviations)

    def __getitem__(self, k: int) -> Spread:
        return Spread(float(self.medians[k]), float(self.deviations[k]))


def _medians(values: FloatArray) -> FloatArray:
    """The medians of what is present in rows [m, k]; 0 where nothing is."""
    medians = np.asarray(np.median(values, axis=0))
    for k in np.flatnonzero(np.isnan(medians)):
        present = values[:, k][~np.isnan(values[:, k])]
        medians[k] = np.median(present) if len(present) else 0.0
    return medians


def _plain_spreads(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Medians [k] and median distances from them [k]; 0 where these are but rounding."""
    medians = _medians(values)
    deviations = _medians(np.abs(values - medians))
    deviations[deviations <= _rounding(values)] = 0.0
    return medians, deviations


def _rounding(values: FloatArray) -> FloatArray:
    """Distances between values that are but rounding, column by column [k]."""
    # By the median, not the largest of the values: that may be the one that is far.
    return ROUNDING * _medians(np.abs(values))


@dataclass(frozen=True, kw_only=True)
class FarValue:
    """A value that is far from all others.

    Attributes:
        owner: Whose it is.
        column: In which column.
        extreme: The value and where it is.
        spread: That of all others.
        rules: What was done to values before they were judged.
        delivery: How its file comes.
    """

    owner: str
    column: str
    extreme: Extreme
    spread: Spread
    rules: Rules = NO_RULES
    delivery: Delivery = AS_AGREED

    @property
    def distance(self) -> float:
        """From the middle of all others."""
        return abs(self.extreme.value - self.spread.median)

    def __str__(self) -> str:
        place = Place(self.extreme.file, self.extreme.row, dialect=self.delivery.dialect)
        value = self.delivery.value_text(self.column, self.rules.original(self.extreme.value))
        return (
            f"{self.owner}: {place}, {self.delivery.described(self.column)}: {value} is far from"
            f" all others (the middle is {self.rules.original(self.spread.median):g})"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Group:
    """Some columns of owners who are judged together: all parties, or the public data.

    Attributes:
        names: The columns.
        columns: How they were read.
        surveys: What was seen of each owner's data.
        samples: Some of each owner's rows.
        own: Where most of each owner's values are.
        all: Where most of all values are.
        scales: The standard deviations over all rows [k].
    """

    names: Sequence[str]
    columns: Columns
    surveys: Sequence[Survey]
    samples: Sequence[FloatArray]
    own: Sequence[Spreads]
    all: Spreads
    scales: FloatArray

    @classmethod
    def of(cls, columns: Columns, chosen: slice, surveys: Sequence[Survey]) -> "_Group":
        """Some of the columns that are read as numbers."""
        samples = [survey.sample.values[:, chosen] for survey in surveys]
        moments = Moments()
        for survey in surveys:
            moments = moments.merged(survey.moments)
        return cls(
            names=columns.numbers[chosen],
            columns=columns,
            surveys=surveys,
            samples=samples,
            own=[Spreads.of(values) for values in samples],
            all=Spreads.of_all(samples),
            scales=moments.deviation[chosen],
        )

    def far_values(self, k: int, survey: Survey) -> Iterator[FarValue]:
        """Of the smallest and the largest value of an owner in column k, those that are far."""
        spread = self.all[k]
        for extreme in survey.extremes.get(self.names[k], ()):
            value = FarValue(
                owner=survey.source.owner,
                column=self.names[k],
                extreme=extreme,
                spread=spread,
                rules=self.columns.rules_of(self.names[k]),
                delivery=survey.source.delivery,
            )
            if spread.deviation == 0 or value.distance <= FAR * spread.deviation:
                continue
            of_whole_party = not self.is_strange(k, value, survey)
            if of_whole_party and value.distance <= OF_WHOLE_PARTY * spread.deviation:
                continue
            tail = self._end_of_tail(k, value, survey)
            if value.distance > min(tail, ALWAYS_FAR * spread.deviation):
                yield value

    def is_strange(self, k: int, value: FarValue, survey: Survey) -> bool:
        """Whether a value is far from its owner's other values, too.

        If not, the owner is elsewhere as a whole: another place, another time, or another unit.
        """
        for other, values in zip(self.surveys, self.samples, strict=True):
            if other is survey:
                (median,) = _medians(values[:, [k]])
                (deviation,) = _medians(np.abs(values[:, [k]] - median))
                return bool(abs(value.extreme.value - median) > FAR * deviation)
        return True

    def _end_of_tail(self, k: int, value: FarValue, survey: Survey) -> float:
        """The distance from the median that hardly a value of a heavy tail reaches.

        It is as many times beyond the outermost hundredth as that is beyond the middle: twice as
        far out on a logarithmic scale, on which the tails of log-normal values are those of normal
        ones. The others' values tell, as far as there are others.
        """
        others = []
        for other, values in zip(self.surveys, self.samples, strict=True):
            if other is not survey:
                others.append(values[:, [k]])
        column = np.concatenate(others or [values[:, [k]] for values in self.samples])
        distances = column[:, 0] - value.spread.median
        if value.extreme.value < value.spread.median:
            distances = -distances
        distances = distances[distances > max(_rounding(column)[0], 0.0)]
        if not len(distances):
            return 0.0
        return float(np.quantile(distances, TAIL) ** 2 / np.median(distances))


def look_for_outliers(
    columns: Columns, surveys: dict[str, Survey], limits: Limits
) -> list[FarValue]:
    """The values that are far from all others; those that would ruin the scaling are refused.

    Args:
        columns: How tables were read.
        surveys: Every source's data, by owner.
        limits: What is allowed.
    """
    of_parties = [survey for survey in surveys.values() if survey.source.is_party]
    far: list[FarValue] = []
    problems: list[Problem] = []
    if not of_parties:  # all send sums
        return far
    for start in range(0, len(columns.numbers), TOGETHER):
        chosen = slice(start, start + TOGETHER)
        parties = _Group.of(columns, chosen, of_parties)
        public = None
        if PUBLIC in surveys:
            public = _Group.of(columns, chosen, [surveys[PUBLIC]])
        for k, name in enumerate(parties.names):
            for survey in surveys.values():
                far += parties.far_values(k, survey)
            # The scaling of a declared range is nobody's to ruin.
            if columns.rules_of(name).bounds is None:
                problems += _problems_of(k, parties, public, limits=limits)
    if problems:
        raise ConfigurationError(*_few_texts(problems))
    return far


def _problems_of(
    k: int, parties: _Group, public: _Group | None, *, limits: Limits
) -> list[Problem]:
    """What would ruin column k when it is scaled."""
    problems = [*_crushing(k, parties, limits)]
    if public is not None:
        problems += _crushing(k, public, limits)
    # Of a value that was just named, the consequences need not be told.
    return problems or [*_made_constant(k, parties, public or parties)]


def _crushing(k: int, group: _Group, limits: Limits) -> Iterator[Problem]:
    """The far values of a column that make it nearly constant when it is scaled."""
    scale = float(group.scales[k])
    deviation = group.all[k].deviation
    if deviation == 0 or scale <= limits.spread * deviation:
        return
    for survey in group.surveys:
        for value in group.far_values(k, survey):
            if value.distance > scale and group.is_strange(k, value, survey):
                yield partial(_crushing_text, value, scale, limits=limits)


def _crushing_text(value: FarValue, scale: float, *, limits: Limits) -> str:
    return (
        f"{value}; it makes the standard deviation {scale / value.spread.deviation:.3g} times the"
        " median deviation, so that all other values would be nearly the same when scaled; correct"
        " it, leave out its row, give the column's logarithm, or raise spread in [limits] (it is"
        f" {limits.spread:g})"
    )


def _made_constant(k: int, parties: _Group, scaling: _Group) -> Iterator[Problem]:
    """Parties whose values would all be the same number when they are scaled."""
    scale = float(scaling.scales[k])
    for survey, spreads, values in zip(parties.surveys, parties.own, parties.samples, strict=True):
        own = spreads[k]
        # What varies hardly more than by rounding was constant before.
        varies = own.deviation * SAME > float(_medians(np.abs(values[:, [k]]))[0])
        if varies and scale > SAME * own.deviation:
            yield partial(_constant_text, k, survey.source.owner, own=own, scaling=scaling)


def _constant_text(k: int, owner: str, *, own: Spread, scaling: _Group) -> str:
    """What makes a party's values the same: the value that is farthest from them."""
    column = scaling.names[k]
    farthest = None
    for survey in scaling.surveys:
        for extreme in survey.extremes.get(column, ()):
            value = FarValue(
                owner=survey.source.owner,
                column=column,
                extreme=extreme,
                spread=own,
                rules=scaling.columns.rules_of(column),
                delivery=survey.source.delivery,
            )
            if farthest is None or value.distance > farthest.distance:
                farthest = value
    return (
        f'{owner}: column "{column}": its values lie around {own.median:g}, mostly within'
        f" {own.deviation:g}, and would all be the same number when they are divided by the"
        f" standard deviation, {scaling.scales[k]:.3g}; look for another unit, and at this value:"
        f" {farthest}"
    )


def outlier_notes(far: Sequence[FarValue], parties: dict[str, str]) -> Iterator[Note]:
    """A note for each far value, up to some for each owner.

    Args:
        far: The values.
        parties: The names of those owners that are parties.
    """
    told: dict[str, int] = {}
    for value in far:
        told[value.owner] = told.get(value.owner, 0) + 1
        # Each line number is looked for in the file, which takes time.
        if told[value.owner] <= MOST_TOLD:
            text = f"{value}; if it is an error, correct it"
            yield Note(code="outlier", party=parties.get(value.owner), text=text)
    for owner, count in told.items():
        if count > MOST_TOLD:
            text = f"{owner}: and {count - MOST_TOLD} more value(s) far from all others"
            yield Note(code="outlier", party=parties.get(owner), text=text)


def _few_texts(problems: Sequence[Problem]) -> list[str]:
    """The first problems in words, and how many more there are."""
    texts = [problem() for problem in problems[:MOST_TOLD]]
    more = len(problems) - MOST_TOLD
    if more > 0:
        texts.append(f"and {more} more value(s) for which scaling would make a column constant")
    return texts
