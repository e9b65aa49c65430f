"""What each party contributes to a round: rows in batches, and sums over each part of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.contributing_rows import RowsTakingPart, contribution_of_rows
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.identification import Identities, identify
from fairpool.consortium.rounds.needed_rows import needed_rows
from fairpool.consortium.rounds.re_exports import Recognition, recognise
from fairpool.consortium.rounds.standing import Standing
from fairpool.consortium.rounds.sums import (
    NOBODY,
    refuse_same_sums,
    summary_of,
    summary_of_several,
    take_sums,
)
from fairpool.errors import DataError
from fairpool.models import Classifier, WeightModel
from fairpool.rounds.batches import MOST_BATCHES, assign
from fairpool.rounds.party_batches import Assignment


@dataclass(frozen=True, kw_only=True)
class Caution:
    """How new batches of a party are made, where one row would dominate one of them.

    Attributes:
        most_batches: How many at most: a larger batch hides a row better.
        may_begin: Whether there are new ones at all; otherwise new rows wait.
    """

    most_batches: int = MOST_BATCHES
    may_begin: bool = True


def contribute(
    learning: Learning,
    context: RoundContext,
    workers: Workers,
    *,
    cautions: Mapping[str, Caution] | None = None,
    known: Sequence[Contribution] = (),
) -> tuple[Contribution, ...]:
    """Every party's contribution.

    Args:
        learning: The model.
        context: What was released before.
        workers: Who sums up tables.
        cautions: By permanent identity, how new batches are made.
        known: Contributions of the same round that were made with other cautions: rows that were
            identified are not identified again.
    """
    cautions = cautions or {}
    done = {one.id: one for one in known}
    contributions = []
    problems: list[str] = []
    for i, section in enumerate(learning.preparation.configuration.parties):
        party = section.permanent_id
        before = done.get(party)
        if before is not None and party not in cautions:
            contributions.append(before)
            continue
        if learning.preparation.parties[i].arrived:
            contributions.append(_contribution_of_sums(learning, i, context))
            continue
        recognised = _recognised(learning, i, context, workers, before)
        problems += recognised.recognition.problems
        if problems:
            continue  # nothing is summed up in vain
        taken = _taking_part(learning, i, context, recognised, cautions.get(party, Caution()))
        contributions.append(contribution_of_rows(learning, i, context, workers, taken=taken))
    if problems:
        raise DataError(*problems)
    return tuple(contributions) if known else _without_same_sums(learning, contributions, context)


def _without_same_sums(
    learning: Learning, contributions: Sequence[Contribution], context: RoundContext
) -> tuple[Contribution, ...]:
    """The same, with notes of those whose sums are another's; refused where they are their own."""
    sections = learning.preparation.configuration.parties
    sending = [
        (section, one.arrays)
        for section, one in zip(sections, contributions, strict=True)
        if one.survey.arrived
    ]
    notes = refuse_same_sums(sending, context)
    noted = []
    for section, one in zip(sections, contributions, strict=True):
        own = [note for note in notes if note.party == section.name]
        recognition = replace(one.recognition, notes=(*one.recognition.notes, *own))
        noted.append(replace(one, recognition=recognition) if own else one)
    return tuple(noted)


def _contribution_of_sums(learning: Learning, i: int, context: RoundContext) -> Contribution:
    """What a party contributes that sent sums."""
    preparation = learning.preparation
    survey = preparation.parties[i]
    section = preparation.configuration.parties[i]
    model = learning.built.model
    assert isinstance(model, WeightModel | Classifier)  # a plan has no other
    if section.second_look != context.number:
        refuse_other_identity(context, section.permanent_id, NOBODY)
    _refuse_erased(context, section.permanent_id)
    needed = needed_rows(learning)
    taken = take_sums(
        survey,
        section,
        context,
        model,
        fewest=needed.fewest,
        spent=needed.spent(section.permanent_id, context.history),
    )
    inputs = len(preparation.encoding.features)
    parts = {}
    several = []
    for part, arrays in taken.arrays.items():
        rows = len(taken.assignment.batches.parts[part])
        several.append((arrays, rows))
        parts[part] = summary_of(arrays, model, name=section.name, rows=rows, inputs=inputs)
    data = summary_of_several(several, model, name=section.name, inputs=inputs)
    return Contribution(
        id=section.permanent_id,
        survey=survey,
        identities=NOBODY,
        assignment=taken.assignment,
        parts=parts,
        arrays=taken.arrays,
        data=data,
        recognition=taken.recognition,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Recognised:
    """Who a party's rows are.

    Attributes:
        identities: Who.
        recognition: What they are beside those of earlier rounds.
        assignment: Which take part, if all did in the last round and the files are the same.
    """

    identities: Identities
    recognition: Recognition
    assignment: Assignment | None


def _recognised(
    learning: Learning,
    i: int,
    context: RoundContext,
    workers: Workers,
    before: Contribution | None,
) -> _Recognised:
    """Who a party's rows are.

    Args:
        learning: The model.
        i: The party.
        context: What was released before.
        workers: Who reads tables.
        before: Its contribution to the same round, made with other cautions.
    """
    encoding = learning.preparation.encoding
    party = learning.preparation.configuration.parties[i].permanent_id
    batches = context.batches_of(party)
    assignment = context.known.assignment(party, batches, encoding)
    if before is not None:
        return _Recognised(
            identities=before.identities, recognition=before.recognition, assignment=assignment
        )
    identities = _identified(learning, i, context, workers)
    recognition = Recognition()
    if assignment is None:  # otherwise all rows took part in the last round
        recognition = recognise(
            learning, i, context, identities=identities, progress=workers.progress
        )
    return _Recognised(identities=identities, recognition=recognition, assignment=assignment)


def _identified(learning: Learning, i: int, context: RoundContext, workers: Workers) -> Identities:
    """Who a party's rows are: read from its files, unless these are as they were."""
    encoding = learning.preparation.encoding
    section = learning.preparation.configuration.parties[i]
    party = section.permanent_id
    survey = learning.preparation.parties[i]
    known = context.known.identities(party, survey.source, encoding)
    if known is not None:
        return known
    identities = identify(
        survey, encoding, party=party, secret=context.secret, progress=workers.progress
    )
    if section.second_look != context.number:
        refuse_other_identity(context, party, identities)
    _refuse_erased(context, party)
    return identities


def _taking_part(
    learning: Learning, i: int, context: RoundContext, recognised: _Recognised, caution: Caution
) -> RowsTakingPart:
    """Which of a party's rows take part: as in the last round, or assigned to batches anew."""
    party = learning.preparation.configuration.parties[i].permanent_id
    needed = needed_rows(learning)
    spent = needed.spent(party, context.history)
    assignment = recognised.assignment
    if assignment is not None:
        assignment = replace(
            assignment, fewest=needed.fewest, spent=spent & assignment.batches.active
        )
    else:
        assignment = assign(
            recognised.identities.keys,
            context.batches_of(party),
            fewest=needed.fewest,
            lasting=needed.lasting,
            spent=spent,
            most_batches=caution.most_batches,
            may_begin=caution.may_begin,
            may_stand=Standing(context=context, party=party).may_stand,
        )
    return RowsTakingPart(
        identities=recognised.identities,
        assignment=assignment,
        recognition=recognised.recognition,
        stands_out=not caution.may_begin,
    )


def _refuse_erased(context: RoundContext, party: str) -> None:
    """Refuse a party of which nothing is known any longer but that it took part."""
    if any(context.history.parts[part].party == party for part in context.history.erased):
        raise DataError(
            f'party "{party}": all that was kept of it was erased, so that its known rows cannot be'
            " told from new ones; leave it out, or, if all its rows are new, give it another id"
            " ([[parties]] id)"
        )


def refuse_other_identity(context: RoundContext, party: str, identities: Identities) -> None:
    """Refuse rows that are known by other columns than before: all would seem to be new."""
    before = context.history.latest(party)
    if before is None or set(before.identity) == set(identities.columns):
        return
    raise DataError(
        f'party "{before.name}": its rows were known by {", ".join(before.identity)} so far, and'
        f" would now be known by {', '.join(identities.columns)}; all of them would get new noise,"
        ' which averages out with the old; keep the same columns, of kind "id" or inputs, or, if'
        " everybody agrees to a second, independent look at these labels, book it for this round:"
        f" [[parties]] second_look = {context.number}"
    )
