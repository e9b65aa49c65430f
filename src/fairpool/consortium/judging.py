"""From a model to games, and to what the labels say of each party: before anything is released.

Here the parties' rows are summed up, all coalitions are valued, and the labels are judged. What is
done about a party whose labels harm the others is the operator's choice, `[rewards] on_harm`.
"""

from dataclasses import dataclass, replace

import numpy as np

from fairpool.audit import Evidence, PartyEvidence, judge_evidence
from fairpool.audit.agreement import SIMULATIONS
from fairpool.audit.evidence import fewest_simulations
from fairpool.audit.evidence_notes import (
    CANNOT_BE_COMPARED,
    dispute_in_words,
    evidence_notes,
    harm_in_words,
)
from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning, learn
from fairpool.consortium.preparation import leave_out
from fairpool.consortium.rounds.context import nobody
from fairpool.consortium.rounds.contributing import Caution, contribute
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.dominance import dominated_batches
from fairpool.consortium.rounds.scales import learn_scales
from fairpool.consortium.surveys import Survey
from fairpool.errors import DataError
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray
from fairpool.values import EvidenceGain, InformationGain

FEWEST_KEPT = 9
"""From this many parties on, values are kept on disk until the run is done; fewer take no time."""

SEED = 0
"""Of labels that are drawn to compare the parties' with: they hide nothing, and a run that is
repeated says the same.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """A party whose data were left out, since its labels harm the others.

    Attributes:
        evidence: What was found.
        survey: Its files.
        rows: How many rows it sent.
    """

    evidence: PartyEvidence
    survey: Survey
    rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """What everybody's data are, and what the labels say of it.

    Attributes:
        learning: The model, learned without those who were left out.
        contributions: What each party contributes to the round: rows in batches, sums over them.
        game: The values.
        evidence: What the labels say of each party.
        left_out: Who was left out.
        notes: What the operator should know of that.
    """

    learning: Learning
    contributions: tuple[Contribution, ...]
    game: InformationGain
    evidence: Evidence
    left_out: tuple[LeftOut, ...]
    notes: tuple[Note, ...]

    @property
    def kept(self) -> FloatArray | None:
        """How much each party keeps of what a reward adds to its own data [n]; None: all.

        Where the operator chose to discount: of a party that harms, its agreement over that of
        honest labels.
        """
        rewards = self.learning.preparation.configuration.rewards
        if rewards.on_harm != "discount" or not self.evidence.harmful:
            return None
        kept = np.ones(len(self.evidence.parties))
        for i in self.evidence.harmful:
            kept[i] = self.evidence.parties[i].share
        return kept


def judge(learning: Learning, workers: Workers) -> Judgement:
    """Sum up everybody's rows, value all coalitions, and compare the labels with each other.

    Where parties that harm are to be left out, everything is learned again without them, and the
    others are judged again.

    Args:
        learning: From `learn`.
        workers: Who sums up tables and values coalitions, who is told about it, and where values
            are kept meanwhile.
    """
    left_out: list[LeftOut] = []
    notes: list[Note] = []
    while True:
        judgement = _judge_once(learning, workers)
        rewards = learning.preparation.configuration.rewards
        notes += evidence_notes(judgement.evidence, rewards.on_harm)
        if rewards.on_harm == "stop":
            _refuse_harm(judgement.evidence)
        if rewards.on_harm != "warn":
            _refuse_what_cannot_be_judged(judgement.evidence, rewards.on_harm)
        harmful = judgement.evidence.harmful
        if rewards.on_harm != "exclude" or not harmful:
            return replace(judgement, left_out=tuple(left_out), notes=tuple(notes))
        for i in harmful:
            survey = learning.preparation.parties[i]
            found = judgement.evidence.parties[i]
            left_out.append(LeftOut(evidence=found, survey=survey, rows=judgement.game.rows[i]))
        names = {judgement.evidence.parties[i].party for i in harmful}
        learning = learn(leave_out(learning.preparation, names, workers), workers)


def _judge_once(learning: Learning, workers: Workers) -> Judgement:
    contributions = _contributions(learning, workers)
    context = learning.preparation.context
    if context is not None and context.learns_from_sums:
        workers.progress("learning noise from sums")
        learning, contributions = learn_scales(learning, contributions)
    game = _game(learning, contributions)
    evidence_game = EvidenceGain.of(game)
    if game.enumerable:
        # One factorisation of each coalition's matrix gives its value and its evidence.
        evidence_game.values(valuers_of(workers, game.n))
    rewards = learning.preparation.configuration.rewards
    workers.progress("comparing labels")
    level = rewards.false_alarms
    evidence = judge_evidence(
        evidence_game,
        level=level,
        rng=SEED,
        # A small chance takes many simulations to tell.
        simulations=max(SIMULATIONS, fewest_simulations(level)),
        executor=without_checkpoint(workers),
    )
    return Judgement(
        learning=learning,
        contributions=contributions,
        game=game,
        evidence=evidence,
        left_out=(),
        notes=(),
    )


def valuers_of(workers: Workers, parties: int) -> Workers:
    """The workers, who keep values on disk only where computing them takes longer than that."""
    return workers if parties >= FEWEST_KEPT else without_checkpoint(workers)


def without_checkpoint(workers: Workers) -> Workers:
    """The same workers, who keep nothing on disk."""
    return replace(workers, checkpoint=None)


def _game(learning: Learning, contributions: tuple[Contribution, ...]) -> InformationGain:
    return InformationGain(learning.built.model, [one.data for one in contributions])


def _contributions(learning: Learning, workers: Workers) -> tuple[Contribution, ...]:
    """Everybody's rows in batches, such that no row dominates a new one.

    A larger batch hides its rows better; where that does not help, a party's first batch is judged
    with all its rows (`fairpool.consortium.outlying`), and rows of a later one wait.
    """
    context = learning.preparation.context or nobody(learning.preparation.folder)
    contributions = contribute(learning, context, workers)
    while True:
        game = _game(learning, contributions)
        dominated = dominated_batches(game, contributions, learning, workers)
        more = {}
        for contribution in contributions:
            batches = len(contribution.assignment.new)
            if contribution.id not in dominated:
                continue
            if batches > 1:
                more[contribution.id] = Caution(most_batches=batches // 2)
            elif context.history.latest(contribution.id) is not None:
                more[contribution.id] = Caution(may_begin=False)
        if not more:
            return contributions
        contributions = contribute(learning, context, workers, cautions=more, known=contributions)


def _refuse_harm(evidence: Evidence) -> None:
    """Stop before anything is released, where labels do not agree."""
    problems = [harm_in_words(evidence.parties[i]) for i in evidence.harmful]
    if evidence.disputed:
        problems.append(dispute_in_words(evidence))
    if problems:
        remedy = 'correct or leave out the data, or set [rewards] on_harm = "warn"'
        raise DataError(*[f"{problem}; {remedy}" for problem in problems])


def _refuse_what_cannot_be_judged(evidence: Evidence, on_harm: str) -> None:
    """Where labels cannot be compared, what was agreed for parties that harm cannot be done."""
    if not evidence.comparable:
        raise DataError(
            f'[rewards] on_harm = "{on_harm}" cannot be kept: {CANNOT_BE_COMPARED}; or set'
            ' on_harm = "warn"'
        )
