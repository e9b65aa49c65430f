"""What an operator looks at between rounds: the history, and whether all is as it was written."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairpool.consortium.rounds.context import (
    LEDGER_FILE,
    MAC,
    ROUNDS_FOLDER,
    SECRET_FILE,
    STATE_FOLDER,
    home_of,
    open_context,
)
from fairpool.errors import DataError
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.verification import Verification, verify
from fairpool.rounds.history import History, history_of

OLDER_LEDGERS = "ledger-before-*.jsonl"
"""Ledgers of secrets that were exchanged; the newest one begins with what they told."""


def history_in(folder: Path) -> History:
    """What a collaboration has released; it must have released something."""
    context = open_context(folder)
    if context.history.last is None:
        raise nothing_released(folder)
    return context.history


def nothing_released(folder: Path) -> DataError:
    """What to say of a folder from which nothing was released."""
    return DataError(f"{folder}: no round was released yet; start with fairpool run {folder}")


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
    if not heads and not _has_traces(folder):
        raise nothing_released(folder)
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


def _has_traces(folder: Path) -> bool:
    """Whether anything is there that a round leaves; without any of it no ledger is missing."""
    traces = (LEDGER_FILE, OLDER_LEDGERS, ROUNDS_FOLDER, f"{STATE_FOLDER}/{SECRET_FILE}")
    return any(True for trace in traces for _ in folder.glob(trace))


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
