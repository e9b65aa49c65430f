"""What stands for parties' rows in a what-if, and what the first round would learn of it.

Public data do, as they do for a plan. Without them test data do: no round learns from these, but
nothing that is found out here goes into a round. Without either, rows are made up as was declared.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.learning import PUBLIC_ROWS
from fairpool.consortium.model_building import Origin, build_model
from fairpool.consortium.planning.features import (
    PlannedColumns,
    PlannedFeatures,
    PublicFiles,
    looked_at,
    plan_columns,
    plan_model,
)
from fairpool.consortium.planning.made_up_rows import DealtRows, RowSource, made_up_source
from fairpool.consortium.planning.requirements import (
    column_problems,
    feature_problems,
    model_problems,
)
from fairpool.consortium.rounds.scales import with_rounded_scales
from fairpool.consortium.sample import Sample, take_sample
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, TEST
from fairpool.errors import DataError, PlanError
from fairpool.model_kinds import KINDS
from fairpool.models import Classifier, WeightModel
from fairpool.parties import Party

SHORTEST = (
    "--what-if: or, which is shorter, give some rows that are like the parties', as [public] or"
    ' [test] data, such as [test] data = "test.csv": then nothing needs to be declared for it'
)
"""What to do where so much is lacking that nothing can be simulated."""

SEED = 0
"""Of the choice of rows that features are made of."""

MOST_LEARNED_ANEW = 1000
"""Rows; several times as many would take long, and what is learned from them differs little."""


class Scales(StrEnum):
    """Where the noise variance and the scale of the prior come from, on which all figures rest."""

    GIVEN = "given"
    """The configuration gives them, and a round uses just these."""

    PUBLIC = "public"
    """They are learned from public data, as those of a round are."""

    TEST = "test"
    """They are learned from test data, those of a round from the parties'."""

    START = "start"
    """They are where learning starts: nobody knows any labels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StandIn:
    """What stands for parties' rows.

    Attributes:
        configuration: What is simulated; where no plan can be written, its public data are the test
            data.
        columns: How tables become numbers.
        sample: Public or test rows; None: there are none.
        source: Where parties' rows come from.
        needed: How many rows the parties have together.
        lacking: Why no plan can be written, so that parties send rows; empty: one can.
    """

    configuration: Configuration
    columns: PlannedColumns
    sample: Sample | None
    source: RowSource
    needed: int
    lacking: tuple[str, ...]

    @classmethod
    def find(
        cls, configuration: Configuration, folder: Path, *, needed: int, workers: Workers
    ) -> "StandIn":
        """What there is, by a configuration; refused with everything that is lacking.

        Args:
            configuration: What it says.
            folder: What paths are relative to.
            needed: How many rows the parties have together.
            workers: Who looks at public or test data, and who is told about it.
        """
        lacking = _lacking(configuration)
        as_public = configuration.model_copy(update={"public": configuration.test})
        if lacking and configuration.test is None:
            raise PlanError(*lacking, SHORTEST)
        if lacking:
            configuration = as_public
            public = PublicFiles.find(as_public, folder, owner=TEST)
        else:
            public = PublicFiles.find(configuration, folder)
        columns = plan_columns(configuration, folder, public, workers)
        survey = columns.public
        if survey is None and configuration.test is not None:
            survey = _test_rows(as_public, folder, columns, workers)
        sample = None
        source = made_up_source(columns.encoding, needed)
        if survey is not None:
            sample = take_sample(
                survey, columns.encoding, most=PUBLIC_ROWS, seen=0.0, progress=workers.progress
            )
            kind = "public" if survey.source.owner == PUBLIC else "test"
            source = DealtRows(X=sample.X, y=sample.y, needed=needed, kind=kind)
        return cls(
            configuration=configuration,
            columns=columns,
            sample=sample,
            source=source,
            needed=needed,
            lacking=lacking,
        )

    @property
    def scales(self) -> Scales:
        """Where noise variance and prior scale come from."""
        if not self.configuration.model.learn:
            return Scales.GIVEN
        if self.lacking:
            return Scales.TEST
        if self.columns.public is not None:
            return Scales.PUBLIC
        return Scales.START if self.sample is None else Scales.TEST

    def features(self, configuration: Configuration, workers: Workers) -> PlannedFeatures:
        """How rows become sums, by the model that the first round would have, as far as is known.

        Args:
            configuration: That of `self`, maybe with another number of weights.
            workers: Who is told about it.
        """
        if self.lacking:
            assert self.sample is not None  # without test data it was refused
            workers.progress("learning hyperparameters")
            return _learned_from_rows(configuration, self.columns, self.sample, self.needed)
        features = plan_model(configuration, self.columns, workers)
        if features.learned_from_sums and self.sample is not None:
            return _learned_from_sums(features, self.sample)
        return features

    def learned_anew(self, number: int, workers: Workers) -> PlannedFeatures:
        """What `features` has, learned from another choice of these rows: about two in three.

        They are drawn as often as there are rows, and each that came is taken once: copies would
        seem to have no noise.

        Args:
            number: Which choice.
            workers: Who is told about it.
        """
        assert self.sample is not None  # there is nothing to choose from otherwise
        known = len(self.sample.X)
        rng = np.random.default_rng([SEED, number])
        chosen = np.unique(rng.integers(known, size=min(known, MOST_LEARNED_ANEW)))
        workers.progress("learning from other rows")
        sample = replace(self.sample, X=self.sample.X[chosen], y=self.sample.y[chosen])
        return _learned_from_rows(self.configuration, self.columns, sample, self.needed)


def _lacking(configuration: Configuration) -> tuple[str, ...]:
    """Why no plan can be written: what only the parties' rows could tell."""
    listed = configuration.features or ()
    inputs = tuple(name for name in listed if configuration.plan.may_be_input(name))
    of_columns = column_problems(configuration, inputs)
    return (*model_problems(configuration), *feature_problems(configuration), *of_columns)


def _test_rows(
    as_public: Configuration, folder: Path, columns: PlannedColumns, workers: Workers
) -> Survey | None:
    """Test rows, read as was declared; None: they have not been gathered yet."""
    try:
        source = PublicFiles.find(as_public, folder, owner=TEST).source
    except DataError:
        return None
    assert source is not None  # there is a section
    return looked_at(source, columns.wanted, as_public.limits, workers)


def _learned_from_rows(
    configuration: Configuration, columns: PlannedColumns, sample: Sample, needed: int
) -> PlannedFeatures:
    """As a round learns to which all send rows: features, length scales and all else.

    Features are made of as many rows as the round has, since their number may depend on that;
    hyperparameters of every known row once, since copies of a row would seem to have no noise.
    """
    section = configuration.model
    places = _places(len(sample.X), needed)
    given = section.model_copy(update={"learn": False})
    origin = Origin(X=sample.X[places], y=sample.y[places], words=TEST, public=False)
    model = build_model(given, origin, columns.encoding).model
    if section.learn:
        some = _places(len(sample.X), min(len(sample.X), KINDS[section.kind].learning_rows))
        model = model.learn(sample.X[some], sample.y[some]).model
    assert isinstance(model, WeightModel | Classifier)  # others were refused
    return PlannedFeatures(
        encoding=columns.encoding,
        model=model,
        origin=TEST,
        learned_from_sums=False,
        feature_bound=None,
        label_bound=None,
    )


def _places(known: int, needed: int) -> list[int]:
    """So many of the known rows in random order; each several times if that is more than all."""
    rng = np.random.default_rng(SEED)
    places: list[int] = []
    while len(places) < needed:
        places += rng.permutation(known)[: needed - len(places)].tolist()
    return places


def _learned_from_sums(features: PlannedFeatures, sample: Sample) -> PlannedFeatures:
    """As the first round of a plan learns: noise variance and prior scale, from sums."""
    model = features.model
    sums = model.summarise(Party(TEST, sample.X, sample.y))
    learned = model.learn_from_sums([sums])
    inputs = len(features.encoding.features)
    return replace(features, model=with_rounded_scales(model, learned.model, inputs))
