"""What each party contributes to a round: rows in batches, and sums over each part of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.identification import Identities, identify
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.part_sums import sum_parts
from fairpool.consortium.rounds.re_exports import Recognition, recognise
from fairpool.consortium.surveys import Survey
from fairpool.errors import DataError
from fairpool.model_kinds import KINDS
from fairpool.models import Classifier, Model, WeightModel
from fairpool.models.weight_model import RowSums
from fairpool.notes import Note
from fairpool.parties import (
    ClassSummary,
    Party,
    PartyData,
    PartySummary,
    SummedClassRows,
    SummedRows,
)
from fairpool.realisation.disclosure import Exposure
from fairpool.rounds.batches import MOST_BATCHES, Assignment, assign
from fairpool.tables.arrays import FloatArray
from fairpool.targets import label_sets


@dataclass(frozen=True, kw_only=True)
class Caution:
    """How new batches of a party are made, where one row would dominate one of them.

    Attributes:
        most_batches: How many at most: a larger batch hides a row better.
        may_begin: Whether there are new ones at all; otherwise new rows wait.
    """

    most_batches: int = MOST_BATCHES
    may_begin: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class Contribution:
    """One party's contribution to a round.

    Attributes:
        id: The party's permanent identity.
        survey: Its files.
        identities: Who its rows are.
        assignment: Which of them take part.
        parts: What each part that takes part is, as the model learns from it.
        arrays: The same, to be kept.
        data: All of them together.
        recognition: What its rows are beside those of earlier rounds.
        stands_out: Whether new rows wait since one of them would stand out among them.
    """

    id: str
    survey: Survey
    identities: Identities
    assignment: Assignment
    parts: Mapping[str, PartyData] = field(repr=False)
    arrays: Mapping[str, Arrays] = field(repr=False)
    data: PartyData = field(repr=False)
    recognition: Recognition = field(default_factory=Recognition)
    stands_out: bool = False

    @property
    def groups(self) -> NDArray[np.intp]:
        """For each row, the place of its part; -1: it waits."""
        return self.assignment.groups

    def notes(self) -> list[Note]:
        """What the operator should know: who waits, and what left."""
        notes = [*self.recognition.notes]
        name = self.data.name
        if self.assignment.waiting:
            why = (
                f"a batch needs {self.assignment.fewest} that were never released, since files with"
                " few rows more or less than before would tell these"
            )
            if self.stands_out:
                why = (
                    "the label of one of them is so far from what others predict that it would be"
                    " located among so few; look whether it is right"
                )
            text = (
                f'{self.assignment.waiting} row(s) of "{name}" wait until enough new ones come:'
                f" {why}"
            )
            notes.append(Note(code="rows wait", party=name, text=text))
        if self.assignment.left:
            text = (
                f'{self.assignment.withdrawn} row(s) of "{name}" are gone since the last round,'
                f" and with them {len(self.assignment.left)} batch(es) of rows that were released"
                " together; the other rows of these return with the next batch"
            )
            notes.append(Note(code="rows left", party=name, text=text))
        return notes


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
    identified = {one.id: one.identities for one in known}
    done = {one.id: one for one in known}
    cautions = cautions or {}
    contributions = []
    problems: list[str] = []
    preparation = learning.preparation
    for i, section in enumerate(preparation.configuration.parties):
        party = section.permanent_id
        if party in done and party not in cautions:
            contributions.append(done[party])
            continue
        survey = preparation.parties[i]
        identities = identified.get(party)
        if identities is None:
            identities = context.known.identities(party, survey.source, preparation.encoding)
        if identities is None:
            identities = identify(
                survey,
                preparation.encoding,
                party=party,
                secret=context.secret,
                progress=workers.progress,
            )
            if section.second_look != context.number:
                _refuse_other_identity(context, party, identities)
            _refuse_erased(context, party)
        caution = cautions.get(party, Caution())
        batches = context.batches_of(party)
        assignment = context.known.assignment(party, batches, preparation.encoding)
        recognition = Recognition()
        if party in done:
            recognition = done[party].recognition
        elif assignment is None:  # otherwise all rows took part in the last round
            recognition = recognise(
                learning, i, context, identities=identities, progress=workers.progress
            )
        problems += recognition.problems
        if problems:
            continue  # nothing is summed up in vain
        if assignment is None:
            assignment = assign(
                identities.keys,
                batches,
                fewest=fewest_new_rows(learning),
                most_batches=caution.most_batches,
                may_begin=caution.may_begin,
            )
        contributions.append(
            _contribution(
                learning,
                i,
                party=party,
                identities=identities,
                assignment=assignment,
                recognition=recognition,
                workers=workers,
            )
        )
        if not caution.may_begin:
            contributions[-1] = replace(contributions[-1], stands_out=True)
    if problems:
        raise DataError(*problems)
    return tuple(contributions)


def fewest_new_rows(learning: Learning) -> int:
    """How many new rows a batch needs: as many as a party whose rows are in all files."""
    preparation = learning.preparation
    rewards = preparation.configuration.rewards
    parties = len(preparation.configuration.parties)
    model = learning.built.model
    base = model.base if isinstance(model, Classifier) else model
    if rewards.share_inputs or parties == 1 or not isinstance(base, WeightModel):
        return 0
    encoding = preparation.encoding
    classes = label_sets(encoding.target)
    weights = base.whitened_features(np.zeros((0, len(encoding.features)))).shape[1]
    exposure = Exposure(
        rows={},
        releases={},
        weights=classes * weights,
        classes=classes,
        inputs=len(encoding.columns),
        hidden=rewards.covariance == "hidden",
    )
    return exposure.fewest_rows(rewards.files_together(parties))


def _refuse_erased(context: RoundContext, party: str) -> None:
    """Refuse a party of which nothing is known any longer but that it took part."""
    if any(context.history.parts[part].party == party for part in context.history.erased):
        raise DataError(
            f'party "{party}": all that was kept of it was erased, so that its known rows cannot be'
            " told from new ones; leave it out, or, if all its rows are new, give it another id"
            " ([[parties]] id)"
        )


def _refuse_other_identity(context: RoundContext, party: str, identities: Identities) -> None:
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


def _contribution(
    learning: Learning,
    i: int,
    *,
    party: str,
    identities: Identities,
    assignment: Assignment,
    recognition: Recognition,
    workers: Workers,
) -> Contribution:
    preparation = learning.preparation
    survey = preparation.parties[i]
    model = learning.built.model
    name = preparation.configuration.parties[i].name
    inputs = len(preparation.encoding.features)
    names = assignment.part_names
    arrays: dict[str, Arrays] = {}
    if KINDS[preparation.configuration.model.kind].needs_rows:
        rows = learning.parties[i]
        for place, part in enumerate(names):
            of_part = rows_of_part(identities, assignment, place)
            arrays[part] = {"X": rows.X[of_part], "y": rows.y[of_part]}
        data: PartyData = rows.some_rows(assignment.groups >= 0)
    else:
        assert isinstance(model, WeightModel | Classifier)  # other models need rows
        sums = _known_sums(learning, party, names)
        if sums is None:
            sums = sum_parts(
                survey,
                identities,
                assignment.groups,
                parts=len(names),
                encoding=preparation.encoding,
                model=model,
                workers=workers,
            )
        for part, sums_of_part in zip(names, sums, strict=True):
            arrays[part] = arrays_of(sums_of_part)
        nothing = model.moments(np.zeros((0, inputs)), np.zeros(0))
        total = reduce(RowSums.plus, sums, nothing)
        data = model.summary_of(
            name, total, rows=int((assignment.groups >= 0).sum()), inputs=inputs
        )
    parts = {}
    for place, part in enumerate(names):
        count = int((assignment.groups == place).sum())
        parts[part] = data_of(arrays[part], model, name=name, rows=count, inputs=inputs)
    return Contribution(
        id=party,
        survey=survey,
        identities=identities,
        assignment=assignment,
        parts=parts,
        arrays=arrays,
        data=data,
        recognition=recognition,
    )


def _known_sums(learning: Learning, party: str, parts: Sequence[str]) -> list[RowSums] | None:
    """Each part's sums, where they are kept of these very files and for this model."""
    preparation = learning.preparation
    context = preparation.context
    if context is None or context.agreement is None:  # the model is new
        return None
    known = context.known.sums(party, parts, context.agreement_digest, preparation.encoding)
    if known is None:
        return None
    return [RowSums(one["gram"], one["moment"], one["squares"]) for one in known]


def rows_of_part(identities: Identities, assignment: Assignment, place: int) -> NDArray[np.intp]:
    """The rows of a part, in the order of its keys."""
    rows = np.flatnonzero(assignment.groups == place)
    return rows[np.argsort(identities.keys[rows])]


def arrays_of(sums: RowSums) -> dict[str, FloatArray]:
    """Sums over rows, by name."""
    return {
        "gram": np.asarray(sums.gram),
        "moment": np.asarray(sums.moment),
        "squares": np.asarray(sums.squares, dtype=float),
    }


def data_of(arrays: Arrays, model: Model, *, name: str, rows: int, inputs: int) -> PartyData:
    """A part, as the model learns from it: sums whose noise is summed up, or rows."""
    if "X" in arrays:
        return Party(name, arrays["X"], arrays["y"])
    assert isinstance(model, WeightModel | Classifier)  # other models need rows
    sums = RowSums(arrays["gram"], arrays["moment"], arrays["squares"])
    summary = model.summary_of(name, sums, rows=rows, inputs=inputs)
    entries = {entry.name: getattr(summary, entry.name) for entry in fields(summary)}
    if isinstance(summary, ClassSummary):
        return SummedClassRows(**entries)
    assert isinstance(summary, PartySummary)
    return SummedRows(**entries)
