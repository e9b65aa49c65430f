"""From a model to values, contributions, rewards, and one model per party."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairpool.audit import Uncheckable, uncheckable_information
from fairpool.collaboration import Collaboration, collaboration_of
from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
from fairpool.consortium.outlying import Rows, look_at_rows
from fairpool.consortium.statistics import summarise_files
from fairpool.model_kinds import KINDS
from fairpool.models import WeightModel
from fairpool.parties import PartyData, PartySummary

FEWEST_KEPT = 9
"""From this many parties on, values are kept on disk until the run is done; fewer take no time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Valuation:
    """What everybody's data are worth, and what everybody receives.

    Attributes:
        learning: The model that values them.
        collaboration: Values, contributions, rewards, verdicts, models.
        uncheckable: Per party, what of its data has to be taken on trust.
    """

    learning: Learning
    collaboration: Collaboration
    uncheckable: tuple[Uncheckable | None, ...]


def value(
    learning: Learning,
    workers: Workers | None = None,
    *,
    rng: np.random.Generator | int | None = None,
) -> Valuation:
    """Value every coalition's data, and make each party's model.

    Args:
        learning: From `learn`.
        workers: Who sums up tables and values coalitions, who is told about it, and where values
            are kept meanwhile.
        rng: Of the noise. None: fresh, as in every run of the command. With any other one the
            models are repeatable, for tests, and are not to be handed out.
    """
    workers = workers or Workers()
    request = learning.preparation.request
    configuration = learning.preparation.configuration
    data: Sequence[PartyData] = learning.parties
    model = learning.built.model
    summaries: list[PartySummary] = []
    if not KINDS[configuration.model.kind].needs_rows:
        assert isinstance(model, WeightModel)  # other models need rows
        summaries = _summaries(learning, model, workers)
        data = summaries
    workers.progress("valuing, and making the models")
    valuers = workers
    if len(data) < FEWEST_KEPT:
        # Files on disk would take longer than the values themselves.
        valuers = replace(workers, checkpoint=None)
    collaboration = collaboration_of(
        data,
        model,
        rho=configuration.rewards.rho if request.rho is None else request.rho,
        rng=rng,
        contributions=configuration.valuation.contributions,
        evaluations=configuration.valuation.evaluations,
        precision=configuration.valuation.precision,
        workers=valuers,
        mechanism=configuration.rewards.mechanism,
        covariance=configuration.rewards.covariance,
        colluding=configuration.rewards.colluding,
        public=learning.public,
        declared=learning.preparation.encoding.made_up(),
    )
    # Each model knows how a table becomes its inputs, so that it can be saved and used as it is.
    encoding = learning.preparation.encoding
    encoded = []
    parties = learning.preparation.parties
    for reward, party in zip(collaboration.models, parties, strict=True):
        encoded.append(replace(reward, encoding=encoding, delivery=party.source.delivery))
    collaboration = replace(collaboration, models=tuple(encoded))
    if not summaries:
        uncheckable = uncheckable_information(collaboration.game)
        return Valuation(learning=learning, collaboration=collaboration, uncheckable=uncheckable)
    look = look_at_rows(
        collaboration.game,
        collaboration.models,
        _rows_behind(summaries, learning),
        encoding=encoding,
        workers=workers,
        rows_are_agreed=configuration.rewards.share_inputs,
    )
    return Valuation(
        learning=learning,
        collaboration=replace(collaboration, models=look.models),
        uncheckable=look.uncheckable,
    )


def _summaries(learning: Learning, model: WeightModel, workers: Workers) -> list[PartySummary]:
    """Every party's sufficient statistics: of all its rows, not of the sample alone."""
    preparation = learning.preparation
    summaries = []
    for party, survey in zip(learning.parties, preparation.parties, strict=True):
        summary = summarise_files(
            party.name,
            survey.source,
            encoding=preparation.encoding,
            model=model,
            expected=survey.contents,
            workers=workers,
        )
        summaries.append(summary)
    return summaries


def _rows_behind(summaries: Sequence[PartySummary], learning: Learning) -> list[Rows]:
    """The files that were summed up."""
    rows = []
    surveys = learning.preparation.parties
    for summary, survey, kept in zip(summaries, surveys, learning.parties, strict=True):
        rows.append(
            Rows(source=survey.source, contents=survey.contents, summary=summary, kept=kept)
        )
    return rows
