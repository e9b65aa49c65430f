"""From a model to values, contributions, rewards, and one model per party."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fairpool.audit import Uncheckable, uncheckable_information
from fairpool.collaboration import Collaboration, collaboration_of
from fairpool.compute.workers import Workers
from fairpool.consortium.configuration import PartySection
from fairpool.consortium.judging import Judgement, judge, valuers_of
from fairpool.consortium.learning import Learning
from fairpool.consortium.outlying import Rows, look_at_rows
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.rounds.context import RoundContext, nobody
from fairpool.consortium.rounds.kept import Pins
from fairpool.consortium.rounds.realising import RoundRealiser
from fairpool.errors import ConfigurationError
from fairpool.model_kinds import KINDS
from fairpool.notes import Note
from fairpool.parties import ClassSummary, PartySummary
from fairpool.realisation import ModelReward, Models
from fairpool.realisation.label_noise import LabelNoise
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Valuation:
    """What everybody's data are worth, and what everybody receives.

    Attributes:
        judgement: What the labels say, and the model that values everything.
        collaboration: Values, contributions, rewards, verdicts, models.
        uncheckable: Per party, what of its data has to be taken on trust.
        notes: What the operator should know of rounds.
        pins: The noise of each part in new models, by its variance in squared units of the target.
    """

    judgement: Judgement
    collaboration: Collaboration
    uncheckable: tuple[Uncheckable | None, ...]
    notes: tuple[Note, ...] = ()
    pins: Mapping[str, Pins] = field(default_factory=dict)

    @property
    def learning(self) -> Learning:
        """The model, learned without those who were left out."""
        return self.judgement.learning


def value(
    learning: Learning,
    workers: Workers | None = None,
) -> Valuation:
    """Value every coalition's data, and make each party's model.

    Args:
        learning: From `learn`.
        workers: Who sums up tables and values coalitions, who is told about it, and where values
            are kept meanwhile.
    """
    workers = workers or Workers()
    judgement = judge(learning, workers)
    workers.progress("valuing, and making the models")
    realiser = _realiser(judgement, workers)
    collaboration = _collaborate(judgement, realiser, workers)
    notes: list[Note] = []
    for contribution in judgement.contributions:
        notes += contribution.notes()
    if realiser is not None:
        collaboration = replace(collaboration, received=realiser.results)
        notes += realiser.notes
    models = _with_encoding(collaboration.models, judgement.learning.preparation)
    valuation = Valuation(
        judgement=judgement,
        collaboration=replace(collaboration, models=models),
        uncheckable=(),
        notes=tuple(notes),
        pins={} if realiser is None else realiser.pins,
    )
    return _looked_at(valuation, workers)


def _realiser(judgement: Judgement, workers: Workers) -> RoundRealiser | None:
    """What makes the models of a round; None: the mechanism knows nothing of rounds."""
    learning = judgement.learning
    preparation = learning.preparation
    mechanism = preparation.configuration.rewards.mechanism
    if mechanism != LabelNoise.name:
        _refuse_second_round(preparation.context, mechanism)
        return None
    return RoundRealiser(
        learning=learning,
        context=preparation.context or nobody(preparation.folder),
        contributions=judgement.contributions,
        rho=_rho(preparation),
        workers=workers,
    )


def _rho(preparation: Preparation) -> float | str:
    """What was asked for: by this run, or else by the configuration."""
    asked = preparation.request.rho
    return preparation.configuration.rewards.rho if asked is None else asked


def _collaborate(
    judgement: Judgement, realiser: RoundRealiser | None, workers: Workers
) -> Collaboration:
    """The whole chain, from values to models."""
    learning = judgement.learning
    configuration = learning.preparation.configuration
    return collaboration_of(
        judgement.game,
        rho=_rho(learning.preparation),
        rng=None,
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
        most=_most(configuration.parties),
        realiser=realiser,
    )


def _looked_at(valuation: Valuation, workers: Workers) -> Valuation:
    """The same, knowing which rows stand out in the models, and what nobody can check."""
    preparation = valuation.learning.preparation
    collaboration = valuation.collaboration
    if KINDS[preparation.configuration.model.kind].needs_rows:
        return replace(valuation, uncheckable=uncheckable_information(collaboration.game))
    look = look_at_rows(
        collaboration.game,
        collaboration.models,
        _rows_behind(valuation.judgement),
        encoding=preparation.encoding,
        workers=workers,
        rows_are_agreed=preparation.configuration.rewards.share_inputs,
    )
    return replace(
        valuation,
        collaboration=replace(collaboration, models=look.models),
        uncheckable=look.uncheckable,
    )


def _refuse_second_round(context: RoundContext | None, mechanism: str) -> None:
    """Refuse to release again what a mechanism knows nothing of having released before."""
    if context is not None and context.history.last is not None:
        raise ConfigurationError(
            f'[rewards] mechanism = "{mechanism}" does not know what two releases tell together,'
            f" and there was one already (round {context.history.last.number}); use"
            f' mechanism = "{LabelNoise.name}"'
        )


def _most(parties: Sequence[PartySection]) -> FloatArray | None:
    """What share of v_N each party wants to hold at most [n]; None: all want what they are due."""
    most = [party.share_wanted for party in parties]
    return np.array(most) if min(most) < 1 else None


def _with_encoding(models: Sequence[ModelReward], preparation: Preparation) -> Models:
    """New models know how a table becomes their inputs, so that they can be used as they are."""
    encoding = preparation.encoding
    encoded = []
    for reward, party in zip(models, preparation.parties, strict=True):
        if reward.encoding is not None:  # of an earlier round
            encoded.append(reward)
            continue
        exposure = reward.exposure
        if exposure is not None:  # a category or a text is one thing to guess, as `check` counts it
            exposure = replace(exposure, inputs=len(encoding.columns))
        delivery = party.source.delivery
        encoded.append(replace(reward, encoding=encoding, delivery=delivery, exposure=exposure))
    return Models(encoded)


def _rows_behind(judgement: Judgement) -> list[Rows | None]:
    """The files that were summed up; None where a party did so itself."""
    rows: list[Rows | None] = []
    learning = judgement.learning
    for contribution, kept in zip(judgement.contributions, learning.parties, strict=True):
        survey = contribution.survey
        if survey.arrived:
            rows.append(None)
            continue
        assert isinstance(contribution.data, PartySummary | ClassSummary)  # not an exact process
        taking_part = contribution.identities.by_piece(contribution.groups >= 0)
        rows.append(
            Rows(
                source=survey.source,
                contents=survey.contents,
                summary=contribution.data,
                present=contribution.present,
                kept=kept,
                taking_part=taking_part,
            )
        )
    return rows
