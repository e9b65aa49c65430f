"""What jobs do, each by calling the consortium as the command line does.

A stage begins by looking at what is done already, and ends by writing to the database what it did:
files and ledger first, then the record. So one that was killed anywhere is simply done again.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from fairpool.compute.checkpoint import Checkpoint
from fairpool.compute.cluster import open_executor
from fairpool.compute.workers import Workers
from fairpool.consortium.output import render
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.releasing import refuse_place
from fairpool.consortium.rounds.releasing import release as release_run
from fairpool.consortium.run import run
from fairpool.consortium.scrutiny import Run
from fairpool.consortium.writing import write
from fairpool.server.consortia import rounds
from fairpool.server.refused import RefusedError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Job, JobKind, Round
from fairpool.server.work import queue
from fairpool.server.work.checking import check
from fairpool.server.work.keeping import keep
from fairpool.server.work.layout import layout_of
from fairpool.server.work.previewed import refuse_other, summary_of
from fairpool.server.work.progress import CancelledError, Hold
from fairpool.server.work.project import (
    CHECKPOINT_FOLDER,
    PREVIEWS_FOLDER,
    folder_of,
    held,
    laid_out,
    make_secret,
    released_head,
)
from fairpool.server.work.queue import MOST_TRIES, Taken
from fairpool.server.work.vault import Vault


@dataclass(frozen=True, kw_only=True)
class Work:
    """A job, and what is needed for it.

    Attributes:
        settings: Of the service.
        database: Of the service.
        taken: The job.
        hold: What says how far it is, and whether it may go on.
        jobs: How many workers on this machine compute.
        cluster: A Dask scheduler's address instead; None: this machine.
    """

    settings: Settings
    database: Database
    taken: Taken
    hold: Hold
    jobs: int = 1
    cluster: str | None = None

    @property
    def folder(self) -> Path:
        """The collaboration's."""
        return folder_of(self.settings, self.taken.collaboration_id)

    def keep(self, write_all: Callable[[Session], None]) -> None:
        """Write what came of the job, as a whole.

        Args:
            write_all: What writes it; nobody else changes the collaboration meanwhile.
        """

        def alone(session: Session) -> None:
            rounds.lock(session, self.taken.collaboration_id)
            write_all(session)

        keep(self.database, alone, seconds=self.settings.lease_seconds)


def preview(work: Work) -> None:
    """Compute a round, and write what its operator looks at before it is released."""
    with held(work.folder, work.hold):
        if _is_released(work):
            return
        _remove_previews(work.folder, but=_round(work).preview_id)
        with _computed(work) as done:
            work.hold("writing")
            rendered = render(done)  # which refuses what could not be released
            write(rendered.files, work.folder / PREVIEWS_FOLDER / work.taken.id)
            summary = summary_of(done)

        def record(session: Session) -> None:
            if queue.is_cancelled(session, work.taken):
                raise CancelledError  # whoever was told that it stops does not find it done
            queue.finish(session, work.taken, summary)
            rounds.previewed(session, work.taken)

        try:
            work.keep(record)
        except CancelledError:
            _remove_previews(work.folder, but=_round(work).preview_id)
            raise
        _remove_previews(work.folder, but=work.taken.id)


def release(work: Work) -> None:
    """Compute a round again, from the values that its preview has kept, and release it."""
    with held(work.folder, work.hold):
        if _is_released(work):
            return
        try:
            with _computed(work) as done:
                refuse_other(_previewed(work), summary_of(done))
                work.hold.make_final()
                release_run(done)
        except Exception:
            # What was begun is finished or undone before anybody hears of a failure.
            if not _is_released(work):
                raise
        else:
            _is_released(work)


def check_submission(work: Work) -> None:
    """Look at what a party has sent."""
    _refuse_hopeless(work.taken)
    work.hold("looking at the file")
    check(work.settings, work.database, work.taken, go_on=work.hold)

    def record(session: Session) -> None:
        queue.finish(session, work.taken, {})

    work.keep(record)


STAGES: dict[JobKind, Callable[[Work], None]] = {
    JobKind.CHECK: check_submission,
    JobKind.PREVIEW: preview,
    JobKind.RELEASE: release,
}
"""What each kind of job does."""


@contextmanager
def _computed(work: Work) -> Iterator[Run]:
    """The round as it is computed, with everybody's data in place."""
    work.hold.check()
    _refuse_hopeless(work.taken)
    with work.database.reading() as session:
        layout = layout_of(session, work.settings, _round(work))
    vault = Vault(work.settings)
    checkpoint = Checkpoint(work.folder / CHECKPOINT_FOLDER)
    with laid_out(layout, vault, work.hold), open_executor(work.jobs, work.cluster) as executor:
        make_secret(work.folder)
        refuse_place(work.folder)
        request = RunRequest(configuration=work.folder)
        yield run(request, Workers(executor, work.hold, checkpoint))


def _refuse_hopeless(taken: Taken) -> None:
    """Refuse a job that took down one worker after the other."""
    if taken.tries > MOST_TRIES:
        raise RefusedError(
            f"whoever worked on this died, {MOST_TRIES} times; there may be too little memory for"
            " it, or no room on the disk: see to that, and go on"
        )


def _is_released(work: Work) -> bool:
    """Whether the ledger has the round; then the database is told what it lacks."""
    number = _round(work).number
    head = released_head(work.folder, number)
    if head is None:
        return False
    shutil.rmtree(work.folder / CHECKPOINT_FOLDER, ignore_errors=True)
    _remove_previews(work.folder)

    def record(session: Session) -> None:
        queue.finish(session, work.taken, {"released": number, "head": head})
        rounds.released(session, work.taken, head)

    work.keep(record)
    return True


def _round(work: Work) -> Round:
    with work.database.reading() as session:
        return session.get_one(Round, work.taken.round_id)


def _previewed(work: Work) -> dict[str, Any]:
    """What the operator looked at."""
    with work.database.reading() as session:
        return session.get_one(Job, _round(work).preview_id).result


def _remove_previews(folder: Path, but: str | None = None) -> None:
    """Remove what was previewed before, and what was being written by who died."""
    previews = folder / PREVIEWS_FOLDER
    for place in previews.glob("*"):
        if place.name != but:
            shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):  # there is one, or there never were any
        previews.rmdir()
