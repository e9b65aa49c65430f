"""The release of a round: recorded, written and recorded again, so that nothing is half done.

In this order: what is kept of rows, the record of the run, the intent with every file's hash, the
files, the record of the release. Files and letters carry the hash of the run's record. A run that
is killed in between is finished or undone by the next one (`settle`).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import make_private_folder, sync_folder, write_atomically
from fairpool.consortium.agreed_terms import refuse_other_terms
from fairpool.consortium.configuration_file import read_configuration
from fairpool.consortium.output import render
from fairpool.consortium.party_files import Release, refuse_release
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
    home_of,
    open_context,
)
from fairpool.consortium.rounds.keeping import forget, keep_agreement, keep_parts, keep_records
from fairpool.consortium.rounds.operator_key import operator_key
from fairpool.consortium.rounds.recording import RUN, release_body, run_body
from fairpool.consortium.scrutiny import Run
from fairpool.consortium.writing import refuse_link, refuse_output, write
from fairpool.errors import LedgerError
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.lock import exclusive
from fairpool.ledger.transaction import Recovery, begin, finish, recover
from fairpool.rounds.history import history_of

OLD_RESULT = "result"
"""Where versions before 0.2 wrote what they gave."""

OLD_SEED = "seed.txt"
"""The seed of the noise in that, of the first of these versions."""


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


def refuse_place(configuration: Path, rho: float | str | None = None) -> None:
    """Refuse a folder that cannot be written to, before anything is computed.

    And what stands where the next round would be put: somebody else's, or of a ledger that is gone.
    And terms that are not those of the plan.

    Args:
        configuration: The folder with collaboration.toml, or the file.
        rho: Instead of the configuration's; None: that.
    """
    folder = home_of(configuration)
    context = open_context(configuration)
    if context.plan is not None:
        file = read_configuration(configuration)
        refuse_other_terms(context.plan.plan, file.configuration, rho)
    refuse_link(folder / ROUNDS_FOLDER)
    refuse_output(folder / ROUNDS_FOLDER / f"{context.number:04d}")
    if context.is_new:
        _refuse_old_result(folder / OLD_RESULT)


def _refuse_old_result(old: Path) -> None:
    """Refuse to begin beside what an earlier version gave, until somebody has decided about it."""
    operator = old / "operator"
    if not (operator / "result.json").is_file() and not (operator / OLD_SEED).is_file():
        return
    seed = ""
    if (operator / OLD_SEED).is_file():
        seed = (
            f"; {operator / OLD_SEED} is the seed of that noise, with which anybody takes it off:"
            " remove it, in backups as well"
        )
    raise LedgerError(
        f"{old}: the result of an earlier version, whose noise is no row's own: models of it and"
        " new ones, held together, would tell more than either; if its models were never handed"
        " out, remove it; if they were, move it elsewhere, and know that a party which holds both"
        f" can average the two noises{seed}"
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
    if context.plan is not None:
        preparation = run.preparation
        refuse_other_terms(context.plan.plan, preparation.configuration, preparation.request.rho)
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
    digest = keep_agreement(run, context)
    keep_parts(run, context, digest)
    keep_records(run, context, digest)
    number = context.number
    place = f"{ROUNDS_FOLDER}/{number:04d}"
    told = ledger.append(RUN, run_body(run, number))
    date = told.time.partition("T")[0]
    rendered = render(run, Release(head=told.hash, date=date, key=operator_key(folder)))
    files = rendered.files
    body = release_body(run, files, place=place, agreement=digest) | {
        "head": told.hash,
        "statements": {one.statement.party: one.digest for one in rendered.statements},
    }
    intent = begin(ledger, body)
    write(files, folder / place)
    sync_folder(folder / ROUNDS_FOLDER)
    finish(ledger, intent, body)
    _point_to(folder, number)
    forget(run, ledger)
    return Released(number=number, folder=folder / place, head=told.hash)


def _point_to(folder: Path, number: int) -> None:
    """Say which round is the latest."""
    path = folder / LATEST_FILE
    text = f"{ROUNDS_FOLDER}/{number:04d}\n".encode()
    if not path.is_file() or path.read_bytes() != text:
        write_atomically(path, text)
