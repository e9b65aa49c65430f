"""From prepared data to a model: a sample of everybody's rows, and the model learned from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpool.compute.workers import Progress, Workers
from fairpool.consortium.model_building import BuiltModel, Origin, build_model, described
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.rounds.known import Sampling
from fairpool.consortium.sample import Sample, no_sample, take_sample
from fairpool.consortium.sketching import Sketching, share_within
from fairpool.errors import ConfigurationError
from fairpool.model_kinds import KINDS
from fairpool.models import Classifier, WeightModel
from fairpool.parties import Party
from fairpool.realisation.disclosure import Exposure
from fairpool.tables.arrays import FloatArray
from fairpool.targets import label_sets

SAMPLE_ROWS = 5000
"""Of each party, how many rows are kept to learn hyperparameters from and to look at residuals."""

FEWEST_LEARNED_FROM = 100
"""Rows of a party are learned from up to this many, and up to as many as the median party has.

Who sends ten times the rows of anybody else, perhaps made up, does not decide alone what is noise.
"""

PUBLIC_ROWS = 20 * SAMPLE_ROWS
"""Of the public data, how many: they stand for everybody."""

MOST_KEYS = 20_000_000
"""How many rows are compared to find copies; of more, a fair share stands for all."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Learning:
    """A model, and the rows that are kept of each party.

    Attributes:
        preparation: What it was learned from.
        samples: Of each party, a fair sample of its rows; for an exact Gaussian process, all rows.
        parties: The same rows, as parties.
        seen: The share of all rows whose keys the samples hold.
        sampling: How they were taken.
        built: The model, and where its hyperparameters come from.
        public: The inputs of the public data [m, p], if there are some.
    """

    preparation: Preparation
    samples: tuple[Sample, ...]
    parties: tuple[Party, ...]
    seen: float
    sampling: Sampling
    built: BuiltModel
    public: FloatArray | None

    @property
    def sketched(self) -> float:
        """The share of all rows whose sketches the samples hold."""
        return self.sampling.sketched


def learn(preparation: Preparation, workers: Workers | None = None) -> Learning:
    """Read every party's data again, keep what fits into memory, and learn the model from that.

    Args:
        preparation: From `prepare`.
        workers: Who is told about it.
    """
    workers = workers or Workers()
    configuration = preparation.configuration
    # Where values need every row, all of them are kept. For other models the files are summed up
    # later, and a sample is enough to learn from.
    kind = KINDS[configuration.model.kind]
    counts = [survey.rows for survey in preparation.parties]
    kind.refuse_too_many_rows(counts, workers.here)
    sketching = Sketching.of(preparation.encoding, sum(counts))
    sampling = Sampling(
        encoding=preparation.encoding,
        most=None if kind.needs_rows else SAMPLE_ROWS,
        seen=_share_of_keys(preparation),
        sketched=sketching.share,
    )
    samples = _samples(preparation, sampling, sketching, workers)
    parties = [
        Party(section.name, sample.X, sample.y)
        for section, sample in zip(configuration.parties, samples, strict=True)
    ]
    workers.progress("learning hyperparameters")
    origin = _origin(preparation, parties, workers.progress)
    built = _built(preparation, origin)
    _refuse_repeated_rows(preparation, parties, built)
    return Learning(
        preparation=preparation,
        samples=samples,
        parties=tuple(parties),
        seen=sampling.seen,
        sampling=sampling,
        built=built,
        public=origin.X if origin.public else None,
    )


def _samples(
    preparation: Preparation, sampling: Sampling, sketching: Sketching, workers: Workers
) -> tuple[Sample, ...]:
    """Of each party: that of the last round, where its files are as they were, or a new one."""
    samples = []
    for section, survey in zip(preparation.configuration.parties, preparation.parties, strict=True):
        sample = None
        if survey.arrived:
            sample = no_sample(preparation.encoding, sketching)
        elif preparation.context is not None:
            sample = preparation.context.known.sample(section.permanent_id, sampling)
        if sample is None:
            sample = take_sample(
                survey,
                preparation.encoding,
                most=sampling.most,
                seen=sampling.seen,
                progress=workers.progress,
                sketching=sketching,
            )
        samples.append(sample)
    return tuple(samples)


def _built(preparation: Preparation, origin: Origin) -> BuiltModel:
    """The model: that which was agreed, if there is one."""
    section = preparation.configuration.model
    agreement = None if preparation.context is None else preparation.context.agreement
    if agreement is None:
        return build_model(section, origin, preparation.encoding)
    if not agreement.is_draft:
        return agreement.built
    words = described(agreement.built.model, section, preparation.encoding)
    return replace(agreement.built, settings=words)


def _refuse_repeated_rows(
    preparation: Preparation, parties: Sequence[Party], built: BuiltModel
) -> None:
    """Refuse parties whose distinct rows are too few: a row that is there twice hides nothing."""
    rewards = preparation.configuration.rewards
    model = built.model
    if isinstance(model, Classifier):
        model = model.base
    if rewards.share_inputs or len(parties) == 1 or not isinstance(model, WeightModel):
        return
    encoding = preparation.encoding
    features = model.whitened_features(np.zeros((0, len(encoding.features))))
    classes = label_sets(encoding.target)
    distinct = {}
    for party, survey in zip(parties, preparation.parties, strict=True):
        if len(party):
            # Of a large party a sample is looked at, which stands for all.
            share = len(np.unique(party.X, axis=0)) / len(party)
            distinct[party.name] = round(share * survey.rows)
    exposure = Exposure(
        rows=distinct,
        releases=dict.fromkeys(distinct, rewards.files_together(len(parties))),
        weights=classes * features.shape[1],
        classes=classes,
        inputs=len(encoding.columns),
        hidden=rewards.covariance == "hidden",
    )
    problems = exposure.problems()
    if problems:
        raise ConfigurationError(*problems)


def _share_of_keys(preparation: Preparation) -> float:
    rows = sum(survey.rows for survey in preparation.parties)
    return share_within(MOST_KEYS, rows)


def _origin(preparation: Preparation, parties: Sequence[Party], progress: Progress) -> Origin:
    """The rows to learn from: public ones if there are some, otherwise all parties'."""
    if preparation.public is not None:
        sample = take_sample(
            preparation.public,
            preparation.encoding,
            most=PUBLIC_ROWS,
            seen=0.0,
            progress=progress,
        )
        words = f"public data ({preparation.public.rows} rows)"
        return Origin(X=sample.X, y=sample.y, words=words, public=True)
    sizes = [survey.rows for survey in preparation.parties]
    most = max(FEWEST_LEARNED_FROM, int(np.median(sizes)))
    some = [_some_rows(party, most) for party in parties]
    words = f"all parties' data ({sum(sizes)} rows)"
    if max(sizes) > most:
        words = f"all parties' data ({sum(sizes)} rows, learned from {most} of each at most)"
    return Origin(
        X=np.concatenate([party.X for party in some]),
        y=np.concatenate([party.y for party in some]),
        words=words,
        public=False,
    )


def _some_rows(party: Party, most: int) -> Party:
    """So many of a party's rows, spread over all of its table."""
    if len(party) <= most:
        return party
    rows = np.sort(np.random.default_rng(0).permutation(len(party))[:most])
    return Party(party.name, party.X[rows], party.y[rows])
