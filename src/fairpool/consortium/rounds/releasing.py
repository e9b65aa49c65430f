"""The release of a round: recorded, written and recorded again, so that nothing is half done.

In this order: what is kept of rows, the record of the run, the intent with every file's hash, the
files, the record of the release. Files and letters carry the hash of the run's record. A run that
is killed in between is finished or undone by the next one (`settle`).
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairpool.compute.files import make_private_folder, sync_folder, write_atomically
from fairpool.consortium.output import REWARD_FILE, folder_names, refuse_release, render
from fairpool.consortium.rounds.agreement import Agreement, sections_of
from fairpool.consortium.rounds.context import (
    KEPT_FOLDER,
    LATEST_FILE,
    LEDGER_FILE,
    LOCK_FILE,
    MAC,
    NEW_KEPT,
    NEW_LEDGER,
    NEW_SECRET,
    ROUNDS_FOLDER,
    SECRET_FILE,
    STATE_FOLDER,
    RoundContext,
    agreement_paths,
    home_of,
    open_context,
)
from fairpool.consortium.rounds.kept import Arrays
from fairpool.consortium.rounds.known import Look, Seen, keep
from fairpool.consortium.scrutiny import Run
from fairpool.consortium.writing import refuse_link, refuse_output, write
from fairpool.errors import LedgerError
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.lock import exclusive
from fairpool.ledger.transaction import Recovery, begin, finish, recover
from fairpool.rounds.history import Participation, history_of

OLD_RESULT = "result"
"""Where versions before 0.2 wrote what they gave."""

RUN = "run"
"""The kind of the record that letters and files carry the hash of."""

FORGOTTEN = "forgotten"
"""The kind of the record of sums that were erased after a time."""


@dataclass(frozen=True, kw_only=True)
class Released:
    """A round that was released.

    Attributes:
        number: From 1.
        folder: Where its files are.
        head: What its letters and files carry.
    """

    number: int
    folder: Path
    head: str


@contextmanager
def one_at_a_time(configuration: Path) -> Iterator[None]:
    """While it lasts, no other run works on the same collaboration."""
    state = home_of(configuration) / STATE_FOLDER
    refuse_link(state)
    make_private_folder(state)
    with exclusive(state / LOCK_FILE):
        yield


def refuse_place(configuration: Path) -> None:
    """Refuse a folder that cannot be written to, before anything is computed.

    And what stands where the next round would be put: somebody else's, or of a ledger that is gone.
    """
    folder = home_of(configuration)
    context = open_context(configuration)
    refuse_link(folder / ROUNDS_FOLDER)
    refuse_output(folder / ROUNDS_FOLDER / f"{context.number:04d}")
    old = folder / OLD_RESULT
    if context.is_new and (old / "operator" / "result.json").is_file():
        raise LedgerError(
            f"{old}: the result of an earlier version, whose noise nobody can repeat: models of it"
            " and new ones, held together, would tell more than either; if its models were never"
            " handed out, remove it; if they were, move it elsewhere, and know that a party which"
            " holds both can average the two noises"
        )


def finish_exchange(folder: Path) -> None:
    """Put a new secret and its ledger in place, once the old ledger has been put aside.

    Where the old one is still there, nothing was exchanged, and what was prepared is removed.
    """
    new_ledger = folder / NEW_LEDGER
    new_secret = folder / STATE_FOLDER / NEW_SECRET
    if not new_secret.exists():
        new_ledger.unlink(missing_ok=True)
        return
    if new_ledger.exists() and (folder / LEDGER_FILE).exists():
        new_ledger.unlink()
        new_secret.unlink()
        return
    if new_ledger.exists():
        os.replace(new_ledger, folder / LEDGER_FILE)
    new_kept = folder / STATE_FOLDER / NEW_KEPT
    if new_kept.exists():
        shutil.rmtree(folder / STATE_FOLDER / KEPT_FOLDER, ignore_errors=True)
        os.replace(new_kept, folder / STATE_FOLDER / KEPT_FOLDER)
    os.replace(new_secret, folder / STATE_FOLDER / SECRET_FILE)
    sync_folder(folder)


def settle(configuration: Path) -> Recovery | None:
    """Finish or undo what a killed run has left; None where nothing is left."""
    folder = home_of(configuration)
    finish_exchange(folder)
    secret_path = folder / STATE_FOLDER / SECRET_FILE
    if not secret_path.exists():
        return None
    ledger = Ledger.open(folder / LEDGER_FILE, Secret.read(secret_path).subkey(MAC))
    recovery = recover(ledger, folder)
    last = history_of(ledger.records).last
    if last is not None:
        _point_to(folder, last.number)
    return recovery


def release(run: Run) -> Released:
    """Release a round: whoever calls must have seen to it that no other run is at work.

    Args:
        run: What was computed, from the collaboration as it still is.
    """
    context = run.preparation.context
    assert context is not None  # every run of a folder has one
    refuse_release(run)
    folder = context.folder
    state = folder / STATE_FOLDER
    make_private_folder(state)
    if context.is_new:
        context.secret.write(state / SECRET_FILE)
    ledger = Ledger.open(folder / LEDGER_FILE, context.secret.subkey(MAC))
    if ledger.head != context.head:
        raise LedgerError(
            f"{folder / LEDGER_FILE}: something was released while this round was computed; run"
            " again"
        )
    digest = _keep_agreement(run, context)
    _keep_parts(run, context, digest)
    _keep_records(run, context, digest)
    number = context.number
    place = f"{ROUNDS_FOLDER}/{number:04d}"
    told = ledger.append(RUN, _run_body(run, number))
    files = render(run, head=told.hash)
    body = _release_body(run, files, place=place, agreement=digest) | {"head": told.hash}
    intent = begin(ledger, body)
    write(files, folder / place)
    sync_folder(folder / ROUNDS_FOLDER)
    finish(ledger, intent, body)
    _point_to(folder, number)
    _forget(run, ledger)
    return Released(number=number, folder=folder / place, head=told.hash)


def _forget(run: Run, ledger: Ledger) -> None:
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


def _point_to(folder: Path, number: int) -> None:
    """Say which round is the latest."""
    path = folder / LATEST_FILE
    text = f"{ROUNDS_FOLDER}/{number:04d}\n".encode()
    if not path.is_file() or path.read_bytes() != text:
        write_atomically(path, text)


def _keep_agreement(run: Run, context: RoundContext) -> str:
    """Keep what all rounds share, if it is new; its digest."""
    if context.agreement is not None:
        return context.agreement_digest
    agreement = Agreement(
        encoding=run.preparation.encoding,
        built=run.built,
        sections=sections_of(run.preparation.configuration),
    )
    content, words = agreement.to_bytes()
    digest = hashlib.sha256(content).hexdigest()
    model_path, words_path = agreement_paths(context.folder, digest)
    write_atomically(model_path, content)
    write_atomically(words_path, words)
    return digest


def _keep_parts(run: Run, context: RoundContext, agreement: str) -> None:
    """Keep who the rows are that take part, sums over them, and what they are recognised by."""
    kept = context.kept
    for contribution in run.contributions:
        remembered = contribution.recognition.remembered
        for place, (part, arrays) in enumerate(contribution.arrays.items()):
            kept.write_keys(contribution.assignment.batches.parts[part])
            if remembered is not None:
                kept.write_sketches(part, remembered.of(contribution.groups == place))
            known = kept.arrays(part, agreement)
            # The same rows in another order have sums that are rounded in another way.
            if known is None or not _are_equal(known, arrays):
                kept.write_arrays(part, agreement, arrays)


def _are_equal(known: Arrays, arrays: Arrays) -> bool:
    return all(np.array_equal(known[name], arrays[name]) for name in arrays)


def _keep_records(run: Run, context: RoundContext, agreement: str) -> None:
    """Keep what was seen of every party's files, for the next round."""
    preparation = run.preparation
    look = Look(columns=preparation.columns, limits=preparation.configuration.limits)
    seen = []
    for contribution, sample in zip(run.contributions, run.samples, strict=True):
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


def _run_body(run: Run, number: int) -> dict[str, Any]:
    """What is recorded of a run before anything of it is written."""
    result = run.collaboration
    parties = [
        {
            "id": contribution.id,
            "name": contribution.data.name,
            "rows": len(contribution.data),
            "inputs": _inputs(contribution),
        }
        for contribution in run.contributions
    ]
    return {
        "round": number,
        "rho": result.asked,
        "total": result.game.total,
        "terms": hashlib.sha256(run.preparation.text.encode()).hexdigest(),
        "parties": parties,
        "summary": f"round {number} of {result.game.n} parties was computed",
    }


def _inputs(contribution: Any) -> list[str]:
    """The SHA-256 of a party's files, in order."""
    contents = contribution.survey.contents
    return [contents[file].sha256 for file in contribution.survey.source.files]


def _release_body(
    run: Run, files: dict[str, bytes], *, place: str, agreement: str
) -> dict[str, Any]:
    """What is recorded of a release."""
    context = run.preparation.context
    assert context is not None
    result = run.collaboration
    hashes = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    parts = {}
    batches = {}
    for contribution in run.contributions:
        for name in contribution.assignment.batches.active:
            batch = contribution.assignment.batches.batches[name]
            batches[name] = {"party": contribution.id, "parts": list(batch.parts)}
        for name in contribution.assignment.part_names:
            part = contribution.assignment.batches.parts[name]
            parts[name] = {
                "party": contribution.id,
                "parent": part.parent,
                "rows": len(part),
                "key": context.secret.fingerprint,
            }
    participations = _participations(run, hashes, place)
    sent = sum(one.file is not None for one in participations)
    return {
        "round": context.number,
        "folder": place,
        "files": hashes,
        "rho": result.asked,
        "rho_used": result.rho,
        "contributions": result.contributions.concept.name,
        "total": result.game.total,
        "kept": None if result.kept is None else result.kept.tolist(),
        "terms": hashlib.sha256(run.preparation.text.encode()).hexdigest(),
        "agreement": agreement,
        "parties": [one.to_dict() for one in participations],
        "parts": parts,
        "batches": batches,
        "second_looks": _second_looks(run),
        "summary": f"round {context.number}: {sent} new model(s) for {result.game.n} parties",
    }


def _second_looks(run: Run) -> dict[str, int]:
    """By party, how many rows of earlier rounds come again with new noise, as was booked."""
    booked = {}
    for contribution in run.contributions:
        if contribution.recognition.second_looks:
            booked[contribution.id] = contribution.recognition.second_looks
    return booked


def _participations(run: Run, hashes: dict[str, str], place: str) -> list[Participation]:
    """Who took part, what it was sent, and what it holds."""
    result = run.collaboration
    scale = run.preparation.encoding.target.noise_scale
    folders = folder_names(result.game.names)
    participations = []
    for i, contribution in enumerate(run.contributions):
        path = f"parties/{folders[i]}/{REWARD_FILE}"
        file = hashes.get(path)
        model = result.models[i]
        holds = model.value
        etas: dict[str, float] = {}
        if run.collaboration.received:
            holds = run.collaboration.received[i].holds
            for part, of_part in run.collaboration.received[i].etas.items():
                if of_part < float("inf"):
                    etas[part] = of_part * scale**2
        eta: float | None = None
        if file is not None and model.eta < float("inf"):
            eta = model.eta * scale**2
        participations.append(
            Participation(
                id=contribution.id,
                name=contribution.data.name,
                rows=len(contribution.data),
                waiting=contribution.assignment.waiting,
                batches=tuple(sorted(contribution.assignment.batches.active)),
                identity=contribution.identities.columns,
                inputs=tuple(_inputs(contribution)),
                value=float(result.game.alone[i]),
                reward=float(result.rewards[i]),
                holds=holds,
                eta=eta,
                file=file,
                path=None if file is None else f"{place}/{path}",
                etas=etas,
            )
        )
    return participations
