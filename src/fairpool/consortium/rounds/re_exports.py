"""Rows of earlier rounds that come again, written otherwise: refused, or booked on purpose.

They would get new noise on labels that were released before, and two noises average out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairpool.audit.known_rows import KnownRows
from fairpool.audit.re_exports import RULES, ReExport, find_re_export
from fairpool.compute.workers import Progress
from fairpool.consortium.configuration import PartySection
from fairpool.consortium.learning import Learning
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.rounds.remembering import (
    Remembered,
    Remembering,
    first_encoding,
    id_columns,
    place_of,
    remember_rows,
)
from fairpool.consortium.sketching import MOST_SKETCHED
from fairpool.consortium.surveys import scrambled
from fairpool.notes import Note
from fairpool.rounds.row_keys import places


@dataclass(frozen=True, kw_only=True, eq=False)
class Recognition:
    """A party's rows beside those of earlier rounds.

    Attributes:
        remembered: What is remembered of its rows, to be kept; None: nothing can be.
        second_looks: How many rows of earlier rounds come again, as was booked.
        problems: What forbids a release, in words.
        notes: What the operator should know.
    """

    remembered: Remembered | None = field(default=None, repr=False)
    second_looks: int = 0
    problems: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def recognise(
    learning: Learning,
    i: int,
    context: RoundContext,
    *,
    identities: Identities,
    progress: Progress,
) -> Recognition:
    """Compare a party's new rows with those of earlier rounds, and with those of who has left.

    A party without new rows is not read.

    Args:
        learning: The model, and everybody's files.
        i: The party.
        context: What was released before.
        identities: Who its rows are.
        progress: Called as rows are read.
    """
    preparation = learning.preparation
    section = preparation.configuration.parties[i]
    party = section.permanent_id
    survey = preparation.parties[i]
    is_new = _are_new(identities, context, party)
    if not is_new.any():
        return Recognition()
    rows = sum(one.rows for one in preparation.parties)
    remembering = Remembering(
        first=first_encoding(context, preparation.encoding),
        now=preparation.encoding,
        ids=id_columns(identities.columns, preparation.encoding),
        share=min(1.0, MOST_SKETCHED / max(rows, 1)),
    )
    if not remembering.is_possible(survey):
        return Recognition(notes=(_incomparable(section.name),))
    remembered = remember_rows(
        remembering, survey, identities, party=party, secret=context.secret, progress=progress
    )
    present = {one.permanent_id for one in preparation.configuration.parties}
    found = _find(remembering, remembered, is_new=is_new, context=context, party=party, of=present)
    recognition = Recognition(remembered=remembered)
    if not found.findings:
        return _with_notes(recognition, found, section, context)
    new = np.unique(np.concatenate([finding.new for _, finding in found.findings]))
    if section.second_look == context.number:
        booked = Recognition(remembered=remembered, second_looks=len(new))
        return _with_notes(booked, found, section, context)
    place = place_of(remembering, survey, int(found.numbers[new[0]]))
    text = _refusal(found, section, context, count=len(new), where=str(place))
    return Recognition(remembered=remembered, problems=(text,))


def _are_new(identities: Identities, context: RoundContext, party: str) -> NDArray[np.bool_]:
    """Which rows were in no earlier release, as far as their keys tell [m]."""
    is_new = np.ones(len(identities.keys), dtype=bool)
    for part in context.batches_of(party).parts.values():
        is_new &= places(part.keys, identities.keys) < 0
    return is_new


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """What was found: whose rows come again, and how; and of how many rows nothing is kept.

    New rows are counted among those with these numbers.
    """

    findings: list[tuple[str, ReExport]]
    numbers: NDArray[np.int64]
    forgotten: int


def _find(
    remembering: Remembering,
    remembered: Remembered,
    *,
    is_new: NDArray[np.bool_],
    context: RoundContext,
    party: str,
    of: set[str],
) -> _Found:
    """Compare new rows with the party's own of earlier rounds, and with those of who has left."""
    own, forgotten = _known_rows(context, party, len(remembering.names))
    is_chosen = is_new[remembered.numbers]
    # Where an id stands for the inputs, a row with corrected ones is new, but its noise is not.
    is_chosen &= ~np.isin(remembered.rows.noise, own.noise)
    chosen = np.flatnonzero(is_chosen)
    new = remembered.rows.some(chosen)
    findings = []
    owners = dict.fromkeys(record.party for record in context.history.parts.values())
    for owner in owners:
        if owner != party and owner in of:
            continue  # near copies of somebody who is there are another matter
        known = own
        if owner != party:
            known, _ = _known_rows(context, owner, len(remembering.names))
        finding = find_re_export(
            _some(known, MOST_SKETCHED - len(new)),
            new,
            names=remembering.names,
            texts=remembering.text_places,
        )
        if finding is not None:
            findings.append((owner, finding))
    return _Found(findings=findings, numbers=remembered.numbers[chosen], forgotten=forgotten)


def _known_rows(context: RoundContext, party: str, k: int) -> tuple[KnownRows, int]:
    """What is remembered of a party's rows of earlier rounds; of how many nothing is."""
    history = context.history
    several = [KnownRows.nothing(k)]
    seen: set[str] = set()
    forgotten = 0
    for name, record in history.parts.items():
        if record.party != party or name in history.erased:
            continue
        if record.parent in seen:
            seen.add(name)  # these rows are among its parent's
            continue
        rows = context.kept.sketches(name)
        if rows is None or rows.sketch.shape[0] != k:
            forgotten += record.rows
        else:
            seen.add(name)
            several.append(rows)
    if len(several) > 1:
        several = several[1:]  # no rows have no ids, either
    return KnownRows.together(several), forgotten


def _some(known: KnownRows, most: int) -> KnownRows:
    """So many of the known rows at most, spread over all of them."""
    if len(known) <= most:
        return known
    order = np.argsort(scrambled(np.arange(len(known))))
    return known.some(np.sort(order[: max(most, 0)]))


# In words.


def _with_notes(
    recognition: Recognition, found: _Found, section: PartySection, context: RoundContext
) -> Recognition:
    notes = []
    name = section.name
    if recognition.second_looks:
        text = (
            f'{recognition.second_looks} row(s) of "{name}" are rows of earlier rounds, written'
            f" otherwise ({_in_words(found.findings, name)}); they are released a second time, with"
            " new noise, as was booked (second_look); in what everybody holds, both looks count"
        )
        notes.append(Note(code="second look", party=name, text=text))
    elif section.second_look == context.number:
        text = (
            f'a second look is booked for "{name}", but none of its new rows was found among those'
            " of earlier rounds"
        )
        notes.append(Note(code="no second look", party=name, text=text))
    if found.forgotten:
        text = (
            f'{found.forgotten} row(s) of "{name}" of earlier rounds cannot be compared with its'
            " new ones, since nothing is kept of them: sent again, written otherwise, they would"
            " not be recognised"
        )
        notes.append(Note(code="rows not compared", party=name, text=text))
    return Recognition(
        remembered=recognition.remembered,
        second_looks=recognition.second_looks,
        notes=tuple(notes),
    )


def _incomparable(name: str) -> Note:
    text = (
        f'the new rows of "{name}" cannot be compared with those of earlier rounds, since columns'
        " of the first round are gone or are of another kind now; look yourself that none of them"
        " was sent before"
    )
    return Note(code="rows not compared", party=name, text=text)


def _refusal(
    found: _Found, section: PartySection, context: RoundContext, *, count: int, where: str
) -> str:
    left = [owner for owner, _ in found.findings if owner != section.permanent_id]
    others = f" and {count - 1} other new row(s)" if count > 1 else ""
    whose = "are rows of earlier rounds, written otherwise"
    remedy = (
        'Send these rows as they were sent before (of a party with a column of kind "id" from its'
        " first round on, other digits of inputs would not matter)"
    )
    if _was_exchanged(context, section.permanent_id):
        whose = "were released under a secret that was exchanged since, and have other noise now"
        remedy = "Leave them out of this round"
    if len(left) == len(found.findings):
        latest = context.history.latest(left[0])
        assert latest is not None  # its parts are in the history
        whose = f'are rows of "{latest.name}", which takes part no longer'
        remedy = f'If it is the same party, say so: [[parties]] id = "{left[0]}"'
    return (
        f'{where}: this{others} of party "{section.name}" {whose}:'
        f" {_in_words(found.findings, section.name)}. They would get new noise, and two noises on"
        f" one label average out: what everybody holds would tell more than was agreed. {remedy};"
        " or, if everybody agrees to a second, independent look at these labels, book it for this"
        f" round: [[parties]] second_look = {context.number}"
    )


def _was_exchanged(context: RoundContext, party: str) -> bool:
    """Whether a party's rows were released under another secret than the one there is now."""
    for record in context.history.parts.values():
        if record.party == party and record.key != context.secret.fingerprint:
            return True
    return False


def _in_words(findings: Sequence[tuple[str, ReExport]], name: str) -> str:
    """How most of the rows agree with those of earlier rounds."""
    _, largest = max(findings, key=lambda one: len(one[1].new))
    alteration = largest.alteration
    if largest.by_id:
        if alteration.kind in RULES:
            return f"their ids are known, and their labels are the earlier ones, {alteration.kind}"
        return "their ids are known, and their labels are the same but for rounding"
    there = f'in the new rows of "{name}"'
    if alteration.kind in ("rounded", "jitter"):
        return "they agree up to rounding or jitter"
    if alteration.kind == "exact":
        return "they agree in all columns, but perhaps for case and blanks of texts"
    if alteration.kind == "other labels" or alteration.column is None:
        return f"they agree {alteration.words(there)}"
    return f'they agree in all columns but "{alteration.column}"'
