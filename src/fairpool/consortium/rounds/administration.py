"""What an operator does between rounds: look, verify, erase, exchange the secret."""

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import make_private_folder
from fairpool.consortium.rounds.context import (
    KEPT_FOLDER,
    LEDGER_FILE,
    MAC,
    NEW_KEPT,
    NEW_LEDGER,
    NEW_SECRET,
    ROUNDS_FOLDER,
    SEAL,
    SECRET_FILE,
    STATE_FOLDER,
    RoundContext,
    home_of,
    open_context,
)
from fairpool.consortium.rounds.kept import SKETCH, Kept
from fairpool.consortium.rounds.releasing import finish_exchange, one_at_a_time, settle
from fairpool.errors import DataError, LedgerError, few, shown
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.ledger import Ledger
from fairpool.ledger.verification import Verification, verify
from fairpool.rounds.batches import Part
from fairpool.rounds.history import ERASURE, IMPORTED, History, history_of, told_by

OLDER_LEDGERS = "ledger-before-*.jsonl"
"""Ledgers of secrets that were exchanged; the newest one begins with what they told."""


def history_in(folder: Path) -> History:
    """What a collaboration has released; it must have released something."""
    context = open_context(folder)
    if context.history.last is None:
        raise DataError(f"{folder}: no round was released yet; start with fairpool run {folder}")
    return context.history


@dataclass(frozen=True, kw_only=True)
class FolderVerification:
    """What was found in a collaboration's ledger, and in the files that it tells of.

    Attributes:
        ledger: What was found in the ledger itself.
        files: Files that are not as the ledger tells, in words.
        notes: What is no problem, but should be known.
    """

    ledger: Verification
    files: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.ledger.ok and not self.files


def verify_folder(configuration: Path, heads: Sequence[str] = ()) -> FolderVerification:
    """Check the ledger, and the released files against it; nothing is changed.

    Args:
        configuration: The collaboration's folder, or its configuration.
        heads: The hashes that letters and files carry: the ledger must have a record of each.
    """
    folder = home_of(configuration)
    secret_path = folder / STATE_FOLDER / SECRET_FILE
    mac_key = None
    if secret_path.exists():
        mac_key = Secret.read(secret_path).subkey(MAC)
    older = []
    known = set()
    for path in sorted(folder.glob(OLDER_LEDGERS)):
        found = verify(path, None)
        known |= {record.hash for record in found.records}
        older += [f"{path.name}, line {line}: {text}" for line, text in found.problems]
    ledger = verify(folder / LEDGER_FILE, mac_key, [head for head in heads if head not in known])
    files = [*older, *_changed_files(folder, history_of(ledger.records))]
    notes = []
    if known:
        notes.append(
            "the secret was exchanged before: records of older ledgers are checked by their chain"
            " alone"
        )
    return FolderVerification(ledger=ledger, files=tuple(files), notes=tuple(notes))


def _changed_files(folder: Path, history: History) -> list[str]:
    """Reward files that are gone, or are not what was released."""
    problems = []
    for past in history.rounds:
        for participation in past.parties:
            if participation.path is None:
                continue
            path = folder / participation.path
            try:
                found = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as error:
                problems.append(f"{participation.path}: {error.strerror or error}")
                continue
            if found != participation.file:
                problems.append(
                    f"{participation.path}: not the model that was released in round {past.number}"
                )
    rounds = folder / ROUNDS_FOLDER
    recorded = {past.folder for past in history.rounds}
    if rounds.is_dir():
        for place in sorted(rounds.iterdir()):
            name = f"{ROUNDS_FOLDER}/{place.name}"
            if not place.name.startswith(".") and name not in recorded:
                problems.append(f"{name}: no record of the ledger tells of it")
    return problems


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """What was erased, and what cannot be.

    Attributes:
        party: The party's permanent identity.
        rows: How many rows something was kept of.
        holders: Who holds models that these rows went into.
    """

    party: str
    rows: int
    holders: tuple[str, ...]


def erase_party(configuration: Path, party: str, *, names: Sequence[str]) -> Erasure:
    """Forget all that is kept of a party that has left, at once.

    Args:
        configuration: The collaboration's folder, or its configuration.
        party: Its permanent identity, or what it was called last.
        names: The permanent identities of those who take part by the configuration.
    """
    with one_at_a_time(configuration):
        settle(configuration)
        context = open_context(configuration)
        history = context.history
        identity = _identity_of(history, party)
        if identity in names:
            raise DataError(
                f'party "{party}" still takes part; take it out of the configuration first'
                " ([[parties]]), then erase what is kept of it"
            )
        parts = []
        for name, record in history.parts.items():
            if record.party == identity and name not in history.erased:
                parts.append(name)
        if not parts:
            raise DataError(f'party "{party}": nothing is kept of it any longer')
        rows = sum(history.parts[name].rows for name in parts if _is_leaf(history, name))
        holders = _holders(history, identity)
        ledger = Ledger.open(context.folder / LEDGER_FILE, context.secret.subkey(MAC))
        # The record first: should the process be killed now, the next erasure does the rest.
        ledger.append(
            ERASURE,
            {
                "party": identity,
                "parts": parts,
                "summary": f"all that was kept of {identity} was erased ({len(parts)} parts)",
            },
        )
        for name in parts:
            context.kept.erase(name)
        context.kept.erase_record(identity)
    return Erasure(party=identity, rows=rows, holders=holders)


def _is_leaf(history: History, part: str) -> bool:
    """Whether a part's rows are in no later part: rows are to be counted once."""
    return all(record.parent != part for record in history.parts.values())


def _identity_of(history: History, party: str) -> str:
    """The permanent identity of a party, by that or by what it was called last."""
    known = {}
    for past in history.rounds:
        for participation in past.parties:
            known[participation.name] = participation.id
            known[participation.id] = participation.id
    if party not in known:
        listed = few([shown(name) for name in sorted(set(known))])
        raise DataError(f"party {shown(party)} took part in no round; those who did: {listed}")
    return known[party]


def _holders(history: History, identity: str) -> tuple[str, ...]:
    """Who was sent models that a party's rows went into."""
    holders = {}
    for past in history.rounds:
        for participation in past.parties:
            has_some = any(history.parts[part].party == identity for part in participation.etas)
            if participation.id != identity and has_some:
                holders[participation.id] = participation.name
    return tuple(holders.values())


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
