"""Exchanging the secret: another one for the rounds to come, and a ledger that begins anew."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from fairpool.compute.files import make_private_folder
from fairpool.consortium.rounds.context import (
    KEPT_FOLDER,
    LEDGER_FILE,
    MAC,
    NEW_KEPT,
    NEW_LEDGER,
    NEW_SECRET,
    SEAL,
    SECRET_FILE,
    STATE_FOLDER,
    RoundContext,
    home_of,
    open_context,
)
from fairpool.consortium.rounds.inspecting import OLDER_LEDGERS
from fairpool.consortium.rounds.kept import SKETCH, Kept
from fairpool.consortium.rounds.releasing import finish_exchange, one_at_a_time, settle
from fairpool.errors import LedgerError
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.verification import verify
from fairpool.rounds.history import IMPORTED, History, history_of, told_by
from fairpool.rounds.party_batches import Part


def exchange_secret(configuration: Path, *, is_lost: bool) -> Secret:
    """Begin a new ledger with a new secret, which knows what the old one told.

    Rows that were released under the old secret cannot be recognised under the new one: released
    again, they have new noise, which counts as a second look at them.

    Args:
        configuration: The collaboration's folder, or its configuration.
        is_lost: Whether the old secret is gone; then the old ledger is believed as its chain
            stands.
    """
    folder = home_of(configuration)
    secret_path = folder / STATE_FOLDER / SECRET_FILE
    ledger_path = folder / LEDGER_FILE
    with one_at_a_time(configuration):
        if is_lost and secret_path.exists():
            raise LedgerError(
                f"{secret_path} is there; if somebody else may know it, exchange it: fairpool key"
                " rotate"
            )
        old = None
        if is_lost:
            found = verify(ledger_path, None)
            if not found.ok:
                line, text = found.problems[0]
                raise LedgerError(f"{ledger_path}, line {line}: {text}; restore it from a backup")
            records = found.records
            head = found.head
        else:
            settle(configuration)
            old = open_context(configuration)
            records = Ledger.open(ledger_path, old.secret.subkey(MAC)).records
            head = old.head
        secret = Secret.fresh()
        _seal_anew(folder, history_of(records), old, secret)
        _begin_anew(folder, secret, told_by(records), head=head, is_lost=is_lost)
    return secret


def _seal_anew(folder: Path, history: History, old: RoundContext | None, secret: Secret) -> None:
    """A copy of what is kept of rows, sealed with a new secret; it is put in place later."""
    place = folder / STATE_FOLDER / NEW_KEPT
    shutil.rmtree(place, ignore_errors=True)
    make_private_folder(place)
    new = Kept(place, secret.subkey(SEAL))
    before = Kept(folder / STATE_FOLDER / KEPT_FOLDER, b"" if old is None else old.kept.seal)
    agreement = "" if history.last is None else history.last.agreement
    for part, record in history.parts.items():
        if part in history.erased:
            continue
        if not record.contribution:  # of which nobody here knows the rows
            new.write_keys(Part.of(record.party, before.keys(part, record.party)))
        for purpose in (agreement, SKETCH):
            arrays = before.arrays(part, purpose, is_trusted=old is None)
            if arrays is not None:
                new.write_arrays(part, purpose, arrays)


def _begin_anew(
    folder: Path, secret: Secret, told: Sequence[tuple[object, ...]], *, head: str, is_lost: bool
) -> None:
    """A ledger whose first record is what the old one told; the old one stays beside it."""
    why = "was lost" if is_lost else "was exchanged"
    beginning = folder / NEW_LEDGER
    beginning.unlink(missing_ok=True)
    ledger = Ledger.open(beginning, secret.subkey(MAC))
    archived = folder / OLDER_LEDGERS.replace("*", head[:12])
    records = []
    for kind, time, body in told:
        records.append({"kind": kind, "time": time, "body": body})
    ledger.append(
        IMPORTED,
        {
            "ledger": archived.name,
            "head": head,
            "records": records,
            "summary": f"the secret {why}; what was released before is told by {archived.name}",
        },
    )
    new_secret = folder / STATE_FOLDER / NEW_SECRET
    new_secret.unlink(missing_ok=True)
    secret.write(new_secret)
    os.replace(folder / LEDGER_FILE, archived)
    finish_exchange(folder)
