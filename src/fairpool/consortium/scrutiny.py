"""What the operator should look at before handing anything out, as notes, residuals and scores."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.audit import (
    AgainstAlone,
    Evidence,
    Uncheckable,
    compare_with_alone,
    held_out_residuals,
    places_in,
)
from fairpool.audit.paired import CONFIDENCE, WORSE
from fairpool.collaboration import Collaboration
from fairpool.compute.workers import Workers
from fairpool.consortium.copies import Copies, look_for_copies
from fairpool.consortium.judging import LeftOut, without_checkpoint
from fairpool.consortium.learning import Learning
from fairpool.consortium.model_building import BuiltModel
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.rounds.comparing import Since, since_last
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.kept import Pins
from fairpool.consortium.rounds.known import Sampling
from fairpool.consortium.sample import Sample, take_sample
from fairpool.consortium.shares import ContributionShares, contribution_shares
from fairpool.consortium.valuation import Valuation
from fairpool.errors import few, shown
from fairpool.model_kinds import KINDS
from fairpool.notes import Note, texts_of
from fairpool.parties import Party
from fairpool.realisation.hidden_covariance import price_notes, ranges_would_help
from fairpool.report.scores import Scores, score_models
from fairpool.tables.arrays import FloatArray
from fairpool.targets import Target

SUSPICIOUS_RESIDUAL = 2.0
"""Labels that are this many predicted standard deviations off, on average, deserve a look."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A finished run: all that it found.

    Attributes:
        preparation: What it was given.
        built: The model, and where its hyperparameters come from.
        collaboration: Values, contributions, rewards, verdicts, models.
        residuals: Per party, how far its labels are from the others' prediction [n].
        copies: Rows that nearly agree, within parties and across.
        scores: On test data, if there is any.
        against_alone: Per party, how its reward predicts beside its own data's model.
        uncheckable: Per party, what of its data has to be taken on trust.
        evidence: What the labels say of each party.
        left_out: Whose data were left out, since their labels harm the others.
        shares: What contributions would be by information, by evidence and by validation.
        notes: Everything the operator should know.
        contributions: What each party contributed, in batches.
        samples: Of each party, a fair sample of its rows.
        sampling: How it was taken.
        since: What changed since the last round; None: there was none.
        pins: The noise of each part in new models, by its variance in squared units of the target.
    """

    preparation: Preparation
    built: BuiltModel
    collaboration: Collaboration
    residuals: FloatArray
    copies: Copies
    scores: Scores | None
    against_alone: tuple[AgainstAlone, ...]
    uncheckable: tuple[Uncheckable | None, ...]
    evidence: Evidence
    left_out: tuple[LeftOut, ...]
    shares: ContributionShares
    notes: tuple[Note, ...]
    contributions: tuple[Contribution, ...]
    samples: tuple[Sample, ...]
    sampling: Sampling
    since: Since | None = None
    pins: Mapping[str, Pins] = field(default_factory=dict, repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in words."""
        return texts_of(self.notes)


def scrutinise(valuation: Valuation, workers: Workers | None = None) -> Run:
    """Look for what information gain cannot see, and score the models on test data.

    Args:
        valuation: From `value`.
        workers: Who is told about it, and what they noted themselves.
    """
    workers = workers or Workers()
    learning = valuation.learning
    preparation = learning.preparation
    collaboration = valuation.collaboration
    workers.progress("looking at residuals")
    residuals = held_out_residuals(collaboration.game, learning.parties)
    scores = None
    test_keys = np.empty(0, dtype=np.uint64)
    test = _test_sample(learning, workers)
    if test is not None:
        scores = score_models(collaboration, test.X, test.y, target=preparation.encoding.target)
        test_keys = test.keys
    workers.progress("looking for copies")
    copies = look_for_copies(learning)
    # In the order of the stages: a report lists them so.
    notes = [
        *preparation.notes,
        *learning.built.notes,
        *workers.notes,
        *collaboration.scheme.notes,
        *valuation.judgement.notes,
        *valuation.notes,
        *copies.notes,
    ]
    notes += overlap_notes(learning.samples, test_keys, learning.seen)
    disclosure = KINDS[preparation.configuration.model.kind].disclosure
    if disclosure.note is not None and preparation.public is None:
        notes.append(disclosure.note)
    notes += residual_notes(learning.parties, residuals, preparation.encoding.target)
    against_alone = _against_alone(valuation, test)
    keepers = [received.model.party for received in collaboration.received if not received.sent]
    notes += worse_notes(against_alone, keepers)
    notes += few_rows_notes(collaboration)
    notes += outlying_notes(collaboration)
    propose_ranges = ranges_would_help(
        learning.built.model, public=learning.public, declared=preparation.encoding.made_up()
    )
    notes += price_notes(
        collaboration.models, collaboration.game.alone, propose_ranges=propose_ranges
    )
    return Run(
        preparation=preparation,
        built=learning.built,
        collaboration=collaboration,
        residuals=residuals,
        copies=copies,
        scores=scores,
        against_alone=against_alone,
        uncheckable=valuation.uncheckable,
        evidence=valuation.judgement.evidence,
        left_out=valuation.judgement.left_out,
        shares=contribution_shares(valuation, test),
        notes=tuple(notes),
        contributions=valuation.judgement.contributions,
        samples=learning.samples,
        sampling=learning.sampling,
        since=_since(valuation, workers),
        pins=valuation.pins,
    )


def _since(valuation: Valuation, workers: Workers) -> Since | None:
    """What changed since the last round, if there was one."""
    context = valuation.learning.preparation.context
    if context is None:
        return None
    workers.progress("comparing with the last round")
    contributions = valuation.judgement.contributions
    return since_last(context, valuation.collaboration, contributions, without_checkpoint(workers))


def _against_alone(valuation: Valuation, test: Sample | None) -> tuple[AgainstAlone, ...]:
    """On all test rows, and on the rows that were kept of each party: all, or a fair sample."""
    learning = valuation.learning
    return compare_with_alone(
        valuation.collaboration.game,
        valuation.collaboration.models,
        X=None if test is None else test.X,
        y=None if test is None else test.y,
        rows=learning.parties,
        target=learning.preparation.encoding.target,
    )


def worse_notes(
    against_alone: Sequence[AgainstAlone], keepers: Collection[str] = ()
) -> Iterator[Note]:
    """Rewards that predict worse than the parties' own data, beyond what chance would explain.

    The chance that any note is about a reward that is no different is 5%, over all comparisons of a
    run (Bonferroni).

    Args:
        against_alone: What was compared.
        keepers: The parties that are sent no new model, so that theirs is of an earlier round.
    """
    compared = []
    for against in against_alone:
        for rows, how in (("test rows", against.test), ("its own rows", against.own_rows)):
            if how is not None:
                compared.append((against.party, rows, how.log_density))
    for party, rows, difference in compared:
        if difference.verdict == WORSE and difference.p_value * len(compared) < 1 - CONFIDENCE:
            why = "somebody else's labels may be wrong, or of another kind"
            if party in keepers:
                why = (
                    "it is the model of an earlier round, without rows that have come since, which"
                    f" its party adds with fairpool update; or {why}"
                )
            text = (
                f'the reward of "{party}" predicts {rows} worse than its own data alone'
                f" ({difference.difference:+.2g} ± {difference.standard_error:.1g} nats per row);"
                f" {why}"
            )
            yield Note(code="reward predicts worse", party=party, text=text)


def _test_sample(learning: Learning, workers: Workers) -> Sample | None:
    """All rows of the test data, if there are any."""
    preparation = learning.preparation
    if preparation.test is None:
        return None
    return take_sample(
        preparation.test,
        preparation.encoding,
        most=None,
        seen=learning.seen,
        progress=workers.progress,
    )


def overlap_notes(
    samples: Sequence[Sample], test_keys: NDArray[np.uint64], seen: float
) -> Iterator[Note]:
    """Test rows that took part in training."""
    wanted = np.unique(test_keys)
    is_shared = np.zeros(len(wanted), dtype=bool)
    for sample in samples:  # one party after the other: their rows may be millions
        is_shared[places_in(wanted, np.sort(sample.keys))] = True
    shared = int(is_shared.sum())
    if shared:
        text = (
            f"{round(shared / seen)} test row(s) are also among the parties' rows; scores on them"
            " are too good"
        )
        yield Note(code="test rows in training", text=text)


def few_rows_notes(result: Collaboration) -> Iterator[Note]:
    """Models from which rows of small parties can be computed, where all parties agreed to that."""
    for model in result.models:
        if model.exposure is None or not model.exposure.small:
            continue
        small = []
        for name in model.exposure.small:
            fewest = model.exposure.fewest_rows(model.exposure.releases[name])
            small.append(f"{shown(name)} ({model.exposure.rows[name]} distinct of {fewest} needed)")
        text = (
            f'from the model for "{model.party}", and those of other recipients, rows of'
            f" {few(small)} can be computed; all parties agreed to that (share_inputs = true)"
        )
        yield Note(code="few rows", party=model.party, text=text)


def outlying_notes(result: Collaboration) -> Iterator[Note]:
    """Rows whose labels stand out, though not so far that nothing is written."""
    largest: dict[tuple[str, str], float] = {}
    for model in result.models:
        if model.exposure is None:
            continue
        for name, row in model.exposure.outlying.items():
            largest[name, row.place] = max(row.share, largest.get((name, row.place), 0.0))
    for (name, place), share in largest.items():
        text = (
            f'{place}: this row of "{name}" makes up {share:.0%} of what a model for another party'
            " tells of these labels; look whether its label is right, and clip it or leave the row"
            " out if nobody may guess where it is"
        )
        yield Note(code="label stands out", party=name, text=text)


def residual_notes(
    parties: Sequence[Party], residuals: FloatArray, target: Target
) -> Iterator[Note]:
    """Labels that disagree with everybody else's."""
    for party, residual in zip(parties, residuals, strict=True):
        if residual > SUSPICIOUS_RESIDUAL:
            text = (
                f'the labels of "{party.name}" are {residual:.1f} predicted standard deviations'
                f" from what the others' data predict; look for {target.likely_errors} (its value"
                " does not show them)"
            )
            yield Note(code="odd labels", party=party.name, text=text)
