"""How rows become sums: encoding and model, from public data or from what was declared."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.columns import choose_features, wanted_columns
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.encoder_folders import open_encoders
from fairpool.consortium.faults import Columns
from fairpool.consortium.findings import survey_within
from fairpool.consortium.heads import column_names
from fairpool.consortium.learning import PUBLIC_ROWS
from fairpool.consortium.limits import Limits
from fairpool.consortium.model_building import Origin, build_model
from fairpool.consortium.planning.bounds import feature_bound, label_bound
from fairpool.consortium.planning.requirements import column_problems
from fairpool.consortium.sample import take_sample
from fairpool.consortium.scaling import fix_encoding
from fairpool.consortium.survey_problems import survey_problems
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, Source
from fairpool.encoding import TableEncoding
from fairpool.errors import PlanError
from fairpool.exchange.plan import Plan
from fairpool.model_kinds import KINDS
from fairpool.models import Classifier, WeightModel

DECLARED = "declared ranges and levels"
"""Where all comes from if there are no public data."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedFeatures:
    """How rows become sums.

    Attributes:
        encoding: How tables become X and y.
        model: By which rows are summed up.
        origin: Where both come from, in words.
        learned_from_sums: Whether noise and prior scale are still to be learned.
        feature_bound: R^2, see `Plan`.
        label_bound: Y.
    """

    encoding: TableEncoding
    model: WeightModel | Classifier
    origin: str
    learned_from_sums: bool
    feature_bound: float | None
    label_bound: float | None

    @classmethod
    def of_plan(cls, plan: Plan) -> "PlannedFeatures":
        """Those of a plan that was made before."""
        return cls(
            encoding=plan.encoding,
            model=plan.model,
            origin=plan.origin,
            learned_from_sums=plan.learned_from_sums,
            feature_bound=plan.feature_bound,
            label_bound=plan.label_bound,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedColumns:
    """How tables become numbers, before there is a model.

    Attributes:
        encoding: How tables become X and y.
        wanted: How tables are read for it.
        public: What public data hold; None: there are none.
    """

    encoding: TableEncoding
    wanted: Columns
    public: Survey | None


@dataclass(frozen=True, kw_only=True)
class PublicFiles:
    """The files with public data.

    Attributes:
        source: The files; None: there are no public data.
        digest: Of what they hold; empty: there are none.
    """

    source: Source | None
    digest: str = ""

    @classmethod
    def find(
        cls, configuration: Configuration, folder: Path, *, owner: str = PUBLIC
    ) -> "PublicFiles":
        """The files that [public] names.

        Args:
            configuration: What it says.
            folder: What paths are relative to.
            owner: What errors call these data.
        """
        if configuration.public is None:
            return cls(source=None)
        delivery = configuration.delivery_of(configuration.public)
        assert delivery is not None  # configurations that make no sense were refused
        source = Source.find(owner, configuration.public.patterns, folder, delivery=delivery)
        total = hashlib.sha256()
        for file in source.files:
            with file.open("rb") as stream:
                total.update(hashlib.file_digest(stream, "sha256").digest())
        return cls(source=source, digest=total.hexdigest())


def plan_features(
    configuration: Configuration, folder: Path, public: PublicFiles, workers: Workers
) -> PlannedFeatures:
    """Encoding and model; refused with every problem that is found.

    Args:
        configuration: What is wanted.
        folder: What paths are relative to.
        public: The public data.
        workers: Who looks at them, and who is told about it.
    """
    columns = plan_columns(configuration, folder, public, workers)
    return plan_model(configuration, columns, workers)


def plan_columns(
    configuration: Configuration, folder: Path, public: PublicFiles, workers: Workers
) -> PlannedColumns:
    """The encoding; see `plan_features`."""
    encoders = open_encoders(configuration.plan, folder)
    source = public.source
    heads = {}
    if source is not None:
        limits = configuration.limits
        heads = {file: column_names(file, limits, source.delivery) for file in source.files}
    features = choose_features(encoders.plan, heads)
    problems = [*encoders.problems, *_input_problems(configuration, features)]
    if problems:
        raise PlanError(*problems)
    columns = wanted_columns(encoders.plan, features)
    surveys: dict[str, Survey] = {}
    if source is not None:
        surveys[PUBLIC] = looked_at(source, columns, configuration.limits, workers)
    encoding, _ = fix_encoding(encoders.plan, columns, features=features, surveys=surveys)
    unfit = KINDS[configuration.model.kind].problems(
        configuration.model, encoding, public=bool(surveys)
    )
    if unfit:
        raise PlanError(*unfit)
    return PlannedColumns(encoding=encoding, wanted=columns, public=surveys.get(PUBLIC))


def looked_at(source: Source, columns: Columns, limits: Limits, workers: Workers) -> Survey:
    """What public data hold; refused with everything that is wrong with them.

    Args:
        source: Their files.
        columns: How they are read.
        limits: What they may be at most.
        workers: Who looks at them.
    """
    seen = survey_within(source, columns=columns, limits=limits, workers=workers, known=None)
    found = survey_problems(seen, columns, limits=limits)
    if found:
        raise PlanError(*(problem.text for problem in found))
    return seen


def _input_problems(configuration: Configuration, features: tuple[str, ...]) -> list[str]:
    """No inputs, or inputs of which too little is known."""
    if not features and configuration.public is not None:
        return ["features: public data have no column that can be an input; list some"]
    return [*column_problems(configuration, features)]


def plan_model(
    configuration: Configuration, columns: PlannedColumns, workers: Workers
) -> PlannedFeatures:
    """The model, learned from public data, or with all that is to be learned left to sums.

    Args:
        configuration: What is wanted.
        columns: How tables become numbers.
        workers: Who is told about it.
    """
    section = configuration.model
    encoding = columns.encoding
    public = columns.public
    words = DECLARED
    X = np.zeros((0, len(encoding.features)))
    y = np.zeros(0)
    if public is not None:
        sample = take_sample(
            public, encoding, most=PUBLIC_ROWS, seen=0.0, progress=workers.progress
        )
        X, y = sample.X, sample.y
        words = f"public data ({public.rows} rows)"
    learned_from_sums = section.learn and public is None
    if learned_from_sums:
        section = section.model_copy(update={"learn": False})
    built = build_model(section, Origin(X=X, y=y, words=words, public=True), encoding)
    assert isinstance(built.model, WeightModel | Classifier)  # others were refused
    origin = built.origin
    if public is None:
        origin = words
    return PlannedFeatures(
        encoding=encoding,
        model=built.model,
        origin=origin,
        learned_from_sums=learned_from_sums,
        feature_bound=feature_bound(built.model, encoding),
        label_bound=label_bound(built.model, encoding),
    )
