"""From a model to values, contributions, rewards, and one model per party."""

from dataclasses import dataclass, replace

import numpy as np

from fairpool.audit import Uncheckable, uncheckable_information
from fairpool.collaboration import Collaboration, collaboration_of
from fairpool.compute.workers import Workers
from fairpool.consortium.judging import Judgement, judge, valuers_of
from fairpool.consortium.learning import Learning
from fairpool.consortium.outlying import Rows, look_at_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Valuation:
    """What everybody's data are worth, and what everybody receives.

    Attributes:
        judgement: What the labels say, and the model that values everything.
        collaboration: Values, contributions, rewards, verdicts, models.
        uncheckable: Per party, what of its data has to be taken on trust.
    """

    judgement: Judgement
    collaboration: Collaboration
    uncheckable: tuple[Uncheckable | None, ...]

    @property
    def learning(self) -> Learning:
        """The model, learned without those who were left out."""
        return self.judgement.learning


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
    judgement = judge(learning, workers)
    learning = judgement.learning
    request = learning.preparation.request
    configuration = learning.preparation.configuration
    workers.progress("valuing, and making the models")
    collaboration = collaboration_of(
        judgement.game,
        rho=configuration.rewards.rho if request.rho is None else request.rho,
        rng=rng,
        contributions=configuration.valuation.contributions,
        evaluations=configuration.valuation.evaluations,
        precision=configuration.valuation.precision,
        workers=valuers_of(workers, judgement.game.n),
        mechanism=configuration.rewards.mechanism,
        covariance=configuration.rewards.covariance,
        colluding=configuration.rewards.colluding,
        public=learning.public,
        declared=learning.preparation.encoding.made_up(),
        kept=judgement.kept,
    )
    # Each model knows how a table becomes its inputs, so that it can be saved and used as it is.
    encoding = learning.preparation.encoding
    encoded = []
    parties = learning.preparation.parties
    for reward, party in zip(collaboration.models, parties, strict=True):
        exposure = reward.exposure
        if exposure is not None:  # a category or a text is one thing to guess, as `check` counts it
            exposure = replace(exposure, inputs=len(encoding.columns))
        delivery = party.source.delivery
        encoded.append(replace(reward, encoding=encoding, delivery=delivery, exposure=exposure))
    collaboration = replace(collaboration, models=tuple(encoded))
    if not judgement.summaries:
        uncheckable = uncheckable_information(collaboration.game)
        return Valuation(judgement=judgement, collaboration=collaboration, uncheckable=uncheckable)
    look = look_at_rows(
        collaboration.game,
        collaboration.models,
        _rows_behind(judgement),
        encoding=encoding,
        workers=workers,
        rows_are_agreed=configuration.rewards.share_inputs,
    )
    return Valuation(
        judgement=judgement,
        collaboration=replace(collaboration, models=look.models),
        uncheckable=look.uncheckable,
    )


def _rows_behind(judgement: Judgement) -> list[Rows]:
    """The files that were summed up."""
    rows = []
    learning = judgement.learning
    surveys = learning.preparation.parties
    for summary, survey, kept in zip(judgement.summaries, surveys, learning.parties, strict=True):
        rows.append(
            Rows(source=survey.source, contents=survey.contents, summary=summary, kept=kept)
        )
    return rows
