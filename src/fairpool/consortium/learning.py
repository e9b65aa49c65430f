"""From prepared data to a model: a sample of everybody's rows, and the model learned from it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpool.compute.workers import Progress, Workers
from fairpool.consortium.model_building import BuiltModel, Origin, build_model
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.sample import Sample, take_sample
from fairpool.model_kinds import KINDS
from fairpool.parties import Party

SAMPLE_ROWS = 5000
"""Of each party, how many rows are kept to learn hyperparameters from and to look at residuals."""

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
        built: The model, and where its hyperparameters come from.
    """

    preparation: Preparation
    samples: tuple[Sample, ...]
    parties: tuple[Party, ...]
    seen: float
    built: BuiltModel


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
    kind.refuse_too_many_rows([survey.rows for survey in preparation.parties], workers.here)
    seen = _share_of_keys(preparation)
    samples = []
    parties = []
    for section, survey in zip(configuration.parties, preparation.parties, strict=True):
        sample = take_sample(
            survey,
            preparation.encoding,
            most=None if kind.needs_rows else SAMPLE_ROWS,
            seen=seen,
            progress=workers.progress,
        )
        samples.append(sample)
        parties.append(Party(section.name, sample.X, sample.y))
    workers.progress("learning hyperparameters")
    return Learning(
        preparation=preparation,
        samples=tuple(samples),
        parties=tuple(parties),
        seen=seen,
        built=_build(preparation, parties, workers.progress),
    )


def _share_of_keys(preparation: Preparation) -> float:
    rows = sum(survey.rows for survey in preparation.parties)
    return min(1.0, MOST_KEYS / max(rows, 1))


def _build(preparation: Preparation, parties: Sequence[Party], progress: Progress) -> BuiltModel:
    """Learn from public data if there is some, otherwise from all parties' rows."""
    section = preparation.configuration.model
    encoding = preparation.encoding
    if preparation.public is not None:
        sample = take_sample(
            preparation.public, encoding, most=PUBLIC_ROWS, seen=0.0, progress=progress
        )
        words = f"public data ({preparation.public.rows} rows)"
        origin = Origin(X=sample.X, y=sample.y, words=words, public=True)
        return build_model(section, origin, encoding)
    total = sum(survey.rows for survey in preparation.parties)
    origin = Origin(
        X=np.concatenate([party.X for party in parties]),
        y=np.concatenate([party.y for party in parties]),
        words=f"all parties' data ({total} rows)",
        public=False,
    )
    return build_model(section, origin, encoding)
