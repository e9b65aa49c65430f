"""Parties who send sums: which of their contributions take part in a round.

The noise on a contribution is a path of its own, whatever its rows are. So the same rows must not
come in two of them: the second would be a second, independent look at their labels.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce

import numpy as np

from fairpool.consortium.configuration import PartySection
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.re_exports import Recognition
from fairpool.consortium.surveys import Survey
from fairpool.errors import ContributionError
from fairpool.exchange.arrival import Arrived
from fairpool.keyed_noise.identity import coordinate_ids
from fairpool.keyed_noise.paths import Paths
from fairpool.keyed_noise.secret import Secret
from fairpool.models import Classifier, WeightModel
from fairpool.models.weight_model import RowSums
from fairpool.notes import Note
from fairpool.parties import (
    ClassSummary,
    NoisySummary,
    NoisySums,
    PartySummary,
    without_noise,
)
from fairpool.rounds.party_batches import Assignment, Part
from fairpool.rounds.sum_batches import assign_sums
from fairpool.tables.arrays import FloatArray

KNOWN_BY = ("(contributions)",)
"""What is recorded instead of the columns that rows are known by. No column has such a name: where
the party sent rows before, these would be released a second time."""

SAME = 1e-9
"""Sums over the same rows in another order differ by less, those over others by more."""

NOBODY = Identities(
    columns=KNOWN_BY,
    pieces=(),
    sizes=(),
    ids=np.empty((0, 2), np.uint64),
    members=np.empty((0, 2), np.uint64),
)
"""Who the rows are."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SumsTakingPart:
    """A party's contributions in a round.

    Attributes:
        assignment: Which of them take part.
        arrays: What each part is, for the model.
        recognition: What they are beside those of earlier rounds.
    """

    assignment: Assignment
    arrays: Mapping[str, Arrays] = field(repr=False)
    recognition: Recognition


def take_sums(
    survey: Survey,
    section: PartySection,
    context: RoundContext,
    model: WeightModel | Classifier,
    *,
    fewest: int,
    spent: Collection[str],
) -> SumsTakingPart:
    """Which of a party's contributions take part in a round, and what they are for the model.

    Args:
        survey: What arrived.
        section: What the configuration says of the party.
        context: What was released before.
        model: That of the round; its features are a multiple of those of the plan.
        fewest: How many new rows a batch needs.
        spent: The party's batches that were in as many files as their rows allow.
    """
    party = section.permanent_id
    arrived = {part_name(context.secret, party, one.file.digest): one for one in survey.arrived}
    recognition = _recognised(arrived, section, context)
    present = {}
    for name, one in arrived.items():
        present[name] = Part.of_sums(party, one.file.digest, name=name, rows=len(one))
    if survey.is_hidden:  # then nothing that is made of them shows a row
        fewest = 0
        spent = frozenset()
    assignment = assign_sums(present, context.batches_of(party), fewest=fewest, spent=spent)
    arrays = {}
    for name in assignment.part_names:
        arrays[name] = arrays_under(arrived[name].data, model)
    return SumsTakingPart(assignment=assignment, arrays=arrays, recognition=recognition)


def part_name(secret: Secret, party: str, contribution: str) -> str:
    """What a contribution is called as a part: another secret is another noise, as of rows."""
    named = f"{secret.fingerprint}\0{party}\0{contribution}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def arrays_under(
    data: PartySummary | ClassSummary | NoisySummary, model: WeightModel | Classifier
) -> dict[str, FloatArray]:
    """Sums by name, for a model whose features are a multiple of those that they were made with.

    Where their party put noise on them, "noise" says how much (`fairpool.parties.NoisySums`).
    """
    scaled = data.under(model)
    if isinstance(scaled, NoisySummary):
        (sums,) = scaled.sums  # of one contribution
        names = [entry.name for entry in fields(sums) if entry.name != "rows"]
        return {name: getattr(sums, name) for name in names}
    if isinstance(scaled, ClassSummary):
        return {"gram": scaled.grams, "moment": scaled.sums, "squares": scaled.counts}
    squares = np.asarray(scaled.squares, dtype=float)
    return {"gram": scaled.gram, "moment": scaled.moment, "squares": squares}


def summary_of(
    arrays: Arrays, model: WeightModel | Classifier, *, name: str, rows: int, inputs: int
) -> PartySummary | ClassSummary | NoisySummary:
    """Sums as a party of a game: noise on their labels is made of draws for each weight."""
    if "noise" in arrays:
        return summary_of_several([(arrays, rows)], model, name=name, inputs=inputs)
    sums = RowSums(arrays["gram"], arrays["moment"], arrays["squares"])
    return model.summary_of(name, sums, rows=rows, inputs=inputs)


def summary_of_several(
    several: Sequence[tuple[Arrays, int]],
    model: WeightModel | Classifier,
    *,
    name: str,
    inputs: int,
) -> PartySummary | ClassSummary | NoisySummary:
    """Sums of several contributions, on some of which there may be noise, as a party of a game.

    Args:
        several: The sums of each, and its number of rows.
        model: What they are for.
        name: The party.
        inputs: The number of input columns.
    """
    if not any("noise" in arrays for arrays, _ in several):
        nothing = model.moments(np.zeros((0, inputs)), np.zeros(0))
        total = reduce(RowSums.plus, [RowSums(**arrays) for arrays, _ in several], nothing)
        rows = sum(count for _, count in several)
        return model.summary_of(name, total, rows=rows, inputs=inputs)
    sums = []
    for arrays, count in several:
        make = NoisySums if "noise" in arrays else without_noise
        sums.append(make(**arrays, rows=count))
    return NoisySummary(
        name=name,
        sums=tuple(sums),
        noise_variance=model.noise_variance,
        inputs=inputs,
        probe=model.probe(inputs),
    )


def coordinate_noise(
    part: str,
    data: PartySummary | ClassSummary | NoisySummary,
    etas: FloatArray,
    *,
    paths: Paths,
    scale: float,
) -> list[FloatArray]:
    """Draws for each weight of a contribution at some noise variances, each [label sets * draws].

    They are paths in eta, as those of rows are: the symmetric root of the Gram matrix makes noise
    on the moment of them.

    Args:
        part: Its name.
        data: Its sums.
        etas: The variances, in the model's units.
        paths: The noise of every coordinate.
        scale: What one unit of the model is in those of the target.
    """
    variances = [float(eta) * scale**2 for eta in etas]
    return coordinate_noise_at(part, data, variances, paths=paths, scale=scale)


def coordinate_noise_at(
    part: str,
    data: PartySummary | ClassSummary | NoisySummary,
    variances: Sequence[float],
    *,
    paths: Paths,
    scale: float,
) -> list[FloatArray]:
    """The same at variances in squared units of the target, as the ledger has them.

    A path is so rough that the last digit of a variance changes the eighth of the noise, so that
    whoever computes it again must have the same variance to the last bit.
    """
    label_sets = 1 if isinstance(data, PartySummary) else max(data.classes, 1)
    ids = coordinate_ids(paths.secret, part, data.label_draws)
    by_stream = [
        paths.at_many(ids, list(variances), stream=stream) / scale for stream in range(label_sets)
    ]
    return [np.concatenate(of_eta) for of_eta in zip(*by_stream, strict=True)]


def _recognised(
    arrived: Mapping[str, Arrived], section: PartySection, context: RoundContext
) -> Recognition:
    """Refuse rows that may have been released in another contribution, unless that is booked."""
    party = section.permanent_id
    history = context.history
    released = {
        record.contribution: name
        for name, record in history.parts.items()
        if record.party == party and record.contribution
    }
    under_this_secret = {
        record.contribution
        for record in history.parts.values()
        if record.key == context.secret.fingerprint
    }
    second_looks = 0
    for one in arrived.values():
        if one.file.digest in under_this_secret:
            continue
        if one.file.digest in released:
            _refuse_other_secret(one, section, context)
            second_looks += len(one)
            continue
        for digest in released:
            if digest in one.manifest.earlier:
                continue
            if digest not in one.manifest.replaces:
                raise ContributionError(
                    f'party "{section.name}": {one.path} was made without knowing of contribution'
                    f" {digest[:16]} of an earlier round, so that the same rows may be in both, and"
                    " their labels would get new noise, which averages out with the old; have the"
                    " party contribute again on the machine where it made that one"
                )
            if section.second_look != context.number:
                raise ContributionError(
                    f'party "{section.name}": {one.path} stands in place of contribution'
                    f" {digest[:16]} of an earlier round; its labels would get new noise, which"
                    " averages out with the old; if everybody agrees to a second, independent look"
                    f" at them, book it for this round: [[parties]] second_look = {context.number}"
                )
            second_looks += history.parts[released[digest]].rows
    notes = []
    if second_looks:
        text = (
            f'contributions of "{section.name}" with {second_looks} row(s) come again, or others in'
            " their place; their rows are released a second time, with new noise, as was booked"
            " (second_look); in what everybody holds, both looks count"
        )
        notes.append(Note(code="second look", party=section.name, text=text))
    return Recognition(second_looks=second_looks, notes=tuple(notes))


def _refuse_other_secret(one: Arrived, section: PartySection, context: RoundContext) -> None:
    """Refuse a contribution whose noise was made of a secret that was exchanged, unless booked."""
    if section.second_look == context.number:
        return
    raise ContributionError(
        f'party "{section.name}": {one.path} was released before the secret was exchanged; its'
        " labels would get new noise, which averages out with the old; if everybody agrees to a"
        " second, independent look at them, book it for this round: [[parties]] second_look ="
        f" {context.number}"
    )


def refuse_same_sums(
    taking_part: Sequence[tuple[PartySection, Mapping[str, Arrays]]], context: RoundContext
) -> list[Note]:
    """Refuse a party that sends the same sums again under another name; notes of two who do.

    Labels that are released have noise of their own, and the same labels must not get another. Sums
    with noise on them differ whatever they are of.

    Args:
        taking_part: Who sends sums, and what its parts are.
        context: What was released before.
    """
    known: list[tuple[str, str, Arrays]] = []
    now = {part for _, parts in taking_part for part in parts}
    for part, record in context.history.parts.items():
        if record.contribution and part not in now and part not in context.history.erased:
            arrays = context.kept.arrays(part, context.agreement_digest)
            if arrays is not None:
                known.append((record.party, part, arrays))
    notes = []
    for section, parts in taking_part:
        for part, arrays in parts.items():
            for party, other, before in known:
                if part in context.history.parts:
                    break  # it was looked at when it came
                if not _are_the_same(arrays, before):
                    continue
                if party == section.permanent_id and section.second_look != context.number:
                    raise ContributionError(
                        f'party "{section.name}": two of its contributions have the same sums, so'
                        " that the same rows would count twice, and their labels get new noise;"
                        " leave the later one out"
                    )
                if party != section.permanent_id and other in now:
                    text = (
                        f'"{section.name}" and "{party}" sent the same sums: they have the same'
                        " rows, or one of them has the other's; ask both"
                    )
                    notes.append(Note(code="same sums", party=section.name, text=text))
            known.append((section.permanent_id, part, arrays))
    return notes


def _are_the_same(one: Arrays, other: Arrays) -> bool:
    """Whether sums are those of the same rows, but for rounding."""
    if "noise" in one or "noise" in other or one.keys() != other.keys():
        return False
    return all(
        one[name].shape == other[name].shape
        and np.allclose(one[name], other[name], rtol=SAME, atol=SAME * np.abs(one[name]).max())
        for name in one
    )
