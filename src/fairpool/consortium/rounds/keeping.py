"""What a release leaves for the next round, and what it forgets: sums, noise, records of files."""

import hashlib

import numpy as np

from fairpool.compute.files import write_atomically
from fairpool.consortium.rounds.agreement import Agreement, sections_of
from fairpool.consortium.rounds.context import (
    RoundContext,
    agreement_paths,
)
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.known import Look, Seen, keep
from fairpool.consortium.scrutiny import Run
from fairpool.ledger.ledger import Ledger
from fairpool.rounds.history import history_of

FORGOTTEN = "forgotten"
"""The kind of the record of sums that were erased after a time."""


def keep_agreement(run: Run, context: RoundContext) -> str:
    """Keep what all rounds share, if it is new; its digest."""
    before = context.agreement
    if before is not None and not before.is_draft:
        return context.agreement_digest
    agreement = Agreement(
        encoding=run.preparation.encoding,
        built=run.built,
        sections=sections_of(run.preparation.configuration),
        features_digest="" if before is None else before.features_digest,
    )
    content, words = agreement.to_bytes()
    digest = hashlib.sha256(content).hexdigest()
    model_path, words_path = agreement_paths(context.folder, digest)
    write_atomically(model_path, content)
    write_atomically(words_path, words)
    return digest


def keep_parts(run: Run, context: RoundContext, agreement: str) -> None:
    """Keep who the rows are that take part, sums over them, and what they are recognised by.

    And the noise on them in new models, of which nothing can be computed anew once rows are gone.
    """
    kept = context.kept
    for contribution in run.contributions:
        remembered = contribution.recognition.remembered
        for place, (part, arrays) in enumerate(contribution.arrays.items()):
            if not contribution.survey.arrived:
                kept.write_keys(contribution.assignment.batches.parts[part])
            if remembered is not None:
                kept.write_sketches(part, remembered.of(contribution.groups == place))
            known = kept.arrays(part, agreement)
            # The same rows in another order have sums that are rounded in another way.
            if known is None or not _are_equal(known, arrays):
                kept.write_arrays(part, agreement, arrays)
    for part, pins in run.pins.items():
        kept.write_pins(part, agreement, pins)


def _are_equal(known: Arrays, arrays: Arrays) -> bool:
    return all(np.array_equal(known[name], arrays[name]) for name in arrays)


def keep_records(run: Run, context: RoundContext, agreement: str) -> None:
    """Keep what was seen of every party's files, for the next round."""
    preparation = run.preparation
    look = Look(columns=preparation.columns, limits=preparation.configuration.limits)
    seen = []
    for contribution, sample in zip(run.contributions, run.samples, strict=True):
        if contribution.survey.arrived:
            continue  # there is nothing to be spared
        seen.append(
            Seen(
                party=contribution.id,
                look=look,
                survey=contribution.survey,
                sampling=run.sampling,
                sample=sample,
                identities=contribution.identities,
                assignment=contribution.assignment,
                arrays=dict(contribution.arrays),
            )
        )
    keep(seen, context.kept, agreement)


def forget(run: Run, ledger: Ledger) -> None:
    """Erase sums over rows that have taken no part for as many rounds as was agreed."""
    most = run.preparation.configuration.retention.rounds
    context = run.preparation.context
    if most is None or context is None:
        return
    history = history_of(ledger.records)
    recent = set()
    for past in history.rounds[-most:]:
        for participation in past.parties:
            for batch in participation.batches:
                recent |= set(history.batches[batch].parts)
    gone = [part for part in history.parts if part not in recent]
    forgotten = [part for part in gone if context.kept.erase_sums(part)]
    if forgotten:
        rows = sum(history.parts[part].rows for part in forgotten)
        summary = f"sums over {rows} row(s) that take no part any longer were erased, as agreed"
        ledger.append(FORGOTTEN, {"parts": forgotten, "rows": rows, "summary": summary})
