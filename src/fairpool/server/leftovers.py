"""What jobs and uploads that were killed left on the disk, and how it is removed."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.ledger.lock import HeldError
from fairpool.server.backup.moment import STAGING
from fairpool.server.finding import Finding
from fairpool.server.settings import Settings
from fairpool.server.store.tables import Collaboration, Job, JobKind, JobState, Round, RoundState
from fairpool.server.work.places import DATA_FOLDER
from fairpool.server.work.project import (
    CHECKPOINT_FOLDER,
    PREVIEWS_FOLDER,
    folder_of,
    left_half_written,
)
from fairpool.server.work.vault import Vault

AN_HOUR = 3600.0
"""Seconds: what is younger may belong to somebody who is at work."""

REMEDY = "--repair removes it once it is an hour old"

KEEPS_VALUES = (
    RoundState.CLOSED.value,
    RoundState.COMPUTING.value,
    RoundState.PREVIEWED.value,
    RoundState.RELEASING.value,
)
"""A round in one of these may go on from values that were kept."""


def leftovers(session: Session, settings: Settings) -> Iterator[Finding]:
    """What nobody needs any longer.

    Args:
        session: Open.
        settings: Where everything is.
    """
    for path in Vault(settings).parts():
        yield _left(path, "an upload that was cut off")
    running = select(Job.id, Job.fence).where(Job.state == JobState.RUNNING.value)
    at_work = {f"{name}-{fence}" for name, fence in session.execute(running)}
    for path in _in(settings.work):
        if path.name.startswith(STAGING):
            yield _left(path, "what a backup has linked that was killed, or is being taken")
        elif path.name not in at_work:
            yield _left(path, "what a job had in the clear that was killed")
    for collaboration_id in session.scalars(select(Collaboration.id)).all():
        yield from _of_collaboration(session, settings, collaboration_id)


def remove(findings: Sequence[Finding]) -> list[Path]:
    """Remove what was left, as far as it is old enough, and say what that was.

    Args:
        findings: What was found.
    """
    removed = []
    for one in findings:
        if one.path is None:
            continue
        # A job may begin at this very moment, and use the same places.
        with ExitStack() as stack, suppress(HeldError):
            if one.path.name in (DATA_FOLDER, CHECKPOINT_FOLDER):
                stack.enter_context(one_at_a_time(one.path.parent))
            if _is_old(one.path):
                _remove(one.path)
                removed.append(one.path)
    return removed


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _of_collaboration(
    session: Session, settings: Settings, collaboration_id: str
) -> Iterator[Finding]:
    folder = folder_of(settings, collaboration_id)
    rounds = session.scalars(
        select(Round).where(Round.collaboration_id == collaboration_id).order_by(Round.number)
    ).all()
    jobs = select(Job.id).where(
        Job.collaboration_id == collaboration_id,
        Job.kind != JobKind.CHECK.value,
        Job.state.in_([JobState.RUNNING.value, JobState.QUEUED.value]),
    )
    # A round that was opened again keeps its last preview until the next one.
    of_newest = select(Job.id).where(Job.round_id.in_([one.id for one in rounds[-1:]]))
    wanted = {*session.scalars(of_newest.where(Job.state == JobState.DONE.value))}
    wanted |= {*session.scalars(jobs)}
    is_at_work = session.scalars(jobs.limit(1)).first() is not None
    for path in _in(folder / PREVIEWS_FOLDER):
        name = path.name.removeprefix(".").partition(".partial-")[0]
        if name not in wanted:
            yield _left(path, "a preview that was computed anew, or released")
    if is_at_work:
        return
    if (folder / DATA_FOLDER).exists():
        yield _left(folder / DATA_FOLDER, "tables in the clear, of a job that was killed")
    for path in left_half_written(folder):
        yield _left(path, "a file that was being written by a job that was killed")
    if (folder / CHECKPOINT_FOLDER).exists() and not any(
        round_.state in KEEPS_VALUES for round_ in rounds
    ):
        yield _left(folder / CHECKPOINT_FOLDER, "values of a round that nobody goes on with")


def _left(path: Path, what: str) -> Finding:
    return Finding(text=f"{path}: {what}", remedy=REMEDY, path=path)


def _in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > AN_HOUR
    except FileNotFoundError:
        return False  # whoever it belonged to has removed it
