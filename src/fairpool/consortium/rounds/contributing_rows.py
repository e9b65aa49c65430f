"""What a party contributes that sent rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from fairpool.compute.workers import Workers
from fairpool.consortium.learning import Learning
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.contribution import Contribution
from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.part_data import arrays_of, data_of, rows_of_part, together
from fairpool.consortium.rounds.part_sums import sum_parts
from fairpool.consortium.rounds.re_exports import Recognition
from fairpool.model_kinds import KINDS
from fairpool.models import Classifier, WeightModel
from fairpool.models.weight_model import RowSums
from fairpool.parties import ClassSummary, PartyData, PartySummary
from fairpool.rounds.party_batches import Assignment


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsTakingPart:
    """A party's rows in a round.

    Attributes:
        identities: Who they are.
        assignment: Which of them take part.
        recognition: What they are beside those of earlier rounds.
        stands_out: Whether new rows wait since one of them would stand out among them.
    """

    identities: Identities
    assignment: Assignment
    recognition: Recognition
    stands_out: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class _Data:
    """What a party's rows are for the model.

    Attributes:
        arrays: Each part, to be kept.
        data: All of them together.
        present: Those of them that are still there; None: all are, or nothing is summed up.
    """

    arrays: dict[str, Arrays]
    data: PartyData
    present: PartySummary | ClassSummary | None = None


def contribution_of_rows(
    learning: Learning, i: int, context: RoundContext, workers: Workers, *, taken: RowsTakingPart
) -> Contribution:
    """What a party contributes that sent rows: those that take part, or sums over them.

    Args:
        learning: The model.
        i: The party.
        context: What was released before.
        workers: Who sums up tables.
        taken: Which of its rows take part.
    """
    preparation = learning.preparation
    model = learning.built.model
    name = preparation.configuration.parties[i].name
    inputs = len(preparation.encoding.features)
    if KINDS[preparation.configuration.model.kind].needs_rows:
        what = _rows(learning, i, context, taken)
    else:
        what = _sums(learning, i, context, workers, taken)
    parts = {}
    for part in taken.assignment.part_names:
        count = len(taken.assignment.batches.parts[part])
        parts[part] = data_of(what.arrays[part], model, name=name, rows=count, inputs=inputs)
    return Contribution(
        id=preparation.configuration.parties[i].permanent_id,
        survey=preparation.parties[i],
        identities=taken.identities,
        assignment=taken.assignment,
        parts=parts,
        arrays=what.arrays,
        data=what.data,
        present=what.present,
        recognition=taken.recognition,
        stands_out=taken.stands_out,
    )


def _rows(learning: Learning, i: int, context: RoundContext, taken: RowsTakingPart) -> _Data:
    """The rows themselves, for a model that needs them."""
    rows = learning.parties[i]
    arrays: dict[str, Arrays] = {}
    for place, part in enumerate(taken.assignment.part_names):
        of_part = rows_of_part(taken.identities, taken.assignment, place)
        arrays[part] = {"X": rows.X[of_part], "y": rows.y[of_part]}
    standing = _standing_arrays(context, taken.assignment)
    if not standing:
        return _Data(arrays=arrays, data=rows.some_rows(taken.assignment.groups >= 0))
    arrays |= standing
    data = data_of(
        reduce(together, arrays.values()),
        learning.built.model,
        name=rows.name,
        rows=0,
        inputs=rows.X.shape[1],
    )
    return _Data(arrays=arrays, data=data)


def _sums(
    learning: Learning, i: int, context: RoundContext, workers: Workers, taken: RowsTakingPart
) -> _Data:
    """Sums over the rows of each part."""
    model = learning.built.model
    assert isinstance(model, WeightModel | Classifier)  # other models need rows
    preparation = learning.preparation
    name = preparation.configuration.parties[i].name
    names = taken.assignment.part_names
    standing = _standing_arrays(context, taken.assignment)
    # Of rows that are gone, the record of the files knows nothing.
    sums = None if standing else _known_sums(learning, i, context, names)
    if sums is None:
        sums = sum_parts(
            preparation.parties[i],
            taken.identities,
            taken.assignment.groups,
            parts=len(names),
            encoding=preparation.encoding,
            model=model,
            workers=workers,
        )
    inputs = len(preparation.encoding.features)
    nothing = model.moments(np.zeros((0, inputs)), np.zeros(0))
    present = None
    if standing:
        there = int((taken.assignment.groups >= 0).sum())
        total = reduce(RowSums.plus, sums, nothing)
        present = model.summary_of(name, total, rows=there, inputs=inputs)
    arrays = dict(zip(names, map(arrays_of, sums), strict=True)) | standing
    total = reduce(RowSums.plus, [RowSums(**arrays[part]) for part in names], nothing)
    data = model.summary_of(name, total, rows=taken.assignment.rows, inputs=inputs)
    return _Data(arrays=arrays, data=data, present=present)


def _standing_arrays(context: RoundContext, assignment: Assignment) -> dict[str, Arrays]:
    """What is kept of the parts that stand as they were, some of whose rows are gone."""
    found = {}
    for part in assignment.part_names:
        if part in assignment.standing:
            arrays = context.kept.arrays(part, context.agreement_digest)
            assert arrays is not None  # see `Standing.may_stand`
            found[part] = arrays
    return found


def _known_sums(
    learning: Learning, i: int, context: RoundContext, parts: Sequence[str]
) -> list[RowSums] | None:
    """Each part's sums, where they are kept of these very files and for this model."""
    preparation = learning.preparation
    if context.agreement is None:  # the model is new
        return None
    party = preparation.configuration.parties[i].permanent_id
    known = context.known.sums(party, parts, context.agreement_digest, preparation.encoding)
    if known is None:
        return None
    return [RowSums(one["gram"], one["moment"], one["squares"]) for one in known]
