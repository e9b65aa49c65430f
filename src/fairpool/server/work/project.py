"""The folder of a collaboration, as the command line has it, and everybody's data in it for a job.

Tables lie there in the clear only while a job holds the folder's lock. Each has the same path in
every round, whatever its party called it: what a ledger tells of files depends on no name that the
service made up for a while.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import half_written, make_private_folder, write_atomically
from fairpool.compute.workers import Progress
from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.folders import folder_names
from fairpool.consortium.rounds.context import (
    KEPT_FOLDER,
    PLAN_FILE,
    SECRET_FILE,
    STATE_FOLDER,
    open_context,
)
from fairpool.consortium.rounds.releasing import one_at_a_time, settle
from fairpool.errors import LedgerError
from fairpool.ledger.lock import HeldError
from fairpool.server.settings import Settings
from fairpool.server.work.places import DATA_FOLDER, PartyFiles, configuration_with, places_of
from fairpool.server.work.vault import Vault

PREVIEWS_FOLDER = ".preview"
CHECKPOINT_FOLDER = ".fairpool-checkpoint"
"""Beside collaboration.toml: what only the operator sees, and values so far."""

LOCK_PAUSE = 0.5
"""Seconds between two attempts at the lock of a folder."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What is to lie in the folder of a collaboration for a round.

    Attributes:
        folder: The collaboration's.
        toml: The terms' collaboration.toml, without anybody's data.
        plan: The terms' plan.json; None: there is none.
        parties: Everybody's data, by the terms' parties in order.
    """

    folder: Path
    toml: str
    plan: str | None
    parties: tuple[PartyFiles, ...]


def folder_of(settings: Settings, collaboration_id: str) -> Path:
    """The folder of a collaboration.

    Args:
        settings: Where all of them are.
        collaboration_id: Which.
    """
    return settings.collaborations / collaboration_id


@contextmanager
def held(folder: Path, hold: Progress) -> Iterator[None]:
    """The folder, with nobody else at work in it, be it a worker that is thought dead.

    What such a worker left there, in the clear or half written, is removed.

    Args:
        folder: A collaboration's.
        hold: The job's, which may be stopped while this waits.
    """
    make_private_folder(folder)
    with ExitStack() as stack:
        _wait_for_lock(stack, folder, hold)
        remove_clear(folder)
        for path in left_half_written(folder):
            path.unlink()
        yield


def _wait_for_lock(stack: ExitStack, folder: Path, hold: Progress) -> None:
    while True:
        try:
            stack.enter_context(one_at_a_time(folder))
            return
        except HeldError:
            hold("waiting for another run on this collaboration to end")
            time.sleep(LOCK_PAUSE)


@contextmanager
def laid_out(layout: Layout, vault: Vault, hold: Progress) -> Iterator[None]:
    """Everybody's data in the clear, for as long as this lasts; the folder must be held.

    Args:
        layout: What is to lie there.
        vault: Where uploads are.
        hold: The job's.
    """
    text = configuration_with(layout.toml, places_of(layout.parties))
    _write_if_other(layout.folder / FILE_NAME, text)
    if layout.plan is not None:
        _write_if_other(layout.folder / PLAN_FILE, layout.plan)
    try:
        names = folder_names([one.party for one in layout.parties])
        for one, name in zip(layout.parties, names, strict=True):
            place = layout.folder / DATA_FOLDER / name
            make_private_folder(place)
            for number, (identity, suffix) in enumerate(one.uploads, 1):
                hold(f"reading what {one.party} sent")
                vault.decrypt_to(identity, place / f"{number:04d}{suffix}")
        yield
    finally:
        remove_clear(layout.folder)


def remove_clear(folder: Path) -> None:
    """Remove what lies in the clear in the folder of a collaboration."""
    data = folder / DATA_FOLDER
    if data.is_dir():
        shutil.rmtree(data)


def left_half_written(folder: Path) -> Iterator[Path]:
    """What killed jobs left in the folder of a collaboration of files that they were writing."""
    state = folder / STATE_FOLDER
    for place in (folder, state, state / KEPT_FOLDER):
        yield from half_written(place)


def _write_if_other(path: Path, text: str) -> None:
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)


def released_head(folder: Path, number: int) -> str | None:
    """The head of a round that the ledger has; None: it was not released. The folder must be held.

    What a killed release has left is finished or undone first.

    Args:
        folder: The collaboration's.
        number: Of the round.
    """
    settle(folder)
    context = open_context(folder)
    if context.number < number:
        raise LedgerError(
            f"the ledger tells of {context.number - 1} round(s), and this is round {number}:"
            " something of the folder was lost; restore it from a backup (`fairpool server check`"
            " says what fits together)"
        )
    for past in context.history.rounds:
        if past.number == number:
            return past.head
    return None


def make_secret(folder: Path) -> None:
    """A collaboration's secret, before its first preview: the release must draw the same noise.

    Args:
        folder: The collaboration's, which must be held, and of which nothing was lost.
    """
    context = open_context(folder)
    if context.is_new:
        make_private_folder(folder / STATE_FOLDER)
        context.secret.write(folder / STATE_FOLDER / SECRET_FILE)
