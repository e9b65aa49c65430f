"""From a model to values, contributions, rewards, and one model per party."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairpool.collaboration import Collaboration, collaboration_of
from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
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
        seed: The secret seed of the noise.
    """

    learning: Learning
    collaboration: Collaboration
    seed: int


def value(learning: Learning, workers: Workers | None = None) -> Valuation:
    """Value every coalition's data, and make each party's model.

    Args:
        learning: From `learn`.
        workers: Who sums up tables and values coalitions, who is told about it, and where values
            are kept meanwhile.
    """
    workers = workers or Workers()
    request = learning.preparation.request
    configuration = learning.preparation.configuration
    # Whoever knows the seed can remove the noise from the rewards.
    seed = secrets.randbits(128) if request.seed is None else request.seed
    data: Sequence[PartyData] = learning.parties
    model = learning.built.model
    if not KINDS[configuration.model.kind].needs_rows:
        assert isinstance(model, WeightModel)  # other models need rows
        data = _summaries(learning, model, workers)
    workers.progress("valuing, and making the models")
    valuers = workers
    if len(data) < FEWEST_KEPT:
        # Files on disk would take longer than the values themselves.
        valuers = replace(workers, checkpoint=None)
    collaboration = collaboration_of(
        data,
        model,
        rho=configuration.rewards.rho if request.rho is None else request.rho,
        rng=seed,
        contributions=configuration.valuation.contributions,
        evaluations=configuration.valuation.evaluations,
        precision=configuration.valuation.precision,
        workers=valuers,
        mechanism=configuration.rewards.mechanism,
    )
    # Each model knows how a table becomes its inputs, so that it can be saved and used as it is.
    encoding = learning.preparation.encoding
    models = tuple(replace(model, encoding=encoding) for model in collaboration.models)
    collaboration = replace(collaboration, models=models)
    return Valuation(learning=learning, collaboration=collaboration, seed=seed)


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
