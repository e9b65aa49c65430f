"""A job that looks at what a party sent, and says what is wrong with it before it takes part.

The file lies in the clear in a private folder while it is looked at, and no longer.
"""

import shutil
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy.orm import Session

from fairpool.compute.files import make_private_folder
from fairpool.consortium.rounds.context import OPERATOR_KEY, STATE_FOLDER
from fairpool.errors import FairpoolError
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.server.consortia import events, rounds
from fairpool.server.consortia.agreed import in_force
from fairpool.server.consortia.erasing import erase
from fairpool.server.consortia.found import PROBLEMS, SEEN, plain, stored
from fairpool.server.consortia.having import data_of, is_contribution
from fairpool.server.mail import notices
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Blob,
    Collaboration,
    Party,
    Round,
    Submission,
    SubmissionState,
    Terms,
)
from fairpool.server.work import queue
from fairpool.server.work.keeping import keep
from fairpool.server.work.looking import look
from fairpool.server.work.one_file import Asked
from fairpool.server.work.project import folder_of
from fairpool.server.work.queue import LeaseLostError, Taken
from fairpool.server.work.vault import Stored, Vault, remove_upload

DOING = "looking at what was sent"
LOOKED = "looked at what was sent"


class GoOn(Protocol):
    """Called again and again; raises where the job is not to go on."""

    def __call__(self, text: str) -> None:
        """Say what is being done."""
        ...  # pragma: no cover


def _go_on(text: str) -> None:
    """Nobody wants to be told, and nothing is stopped."""


def check(settings: Settings, database: Database, taken: Taken, go_on: GoOn = _go_on) -> None:
    """Look at a submission, and write down what is found, if the job is still this worker's.

    Args:
        settings: Of the service.
        database: Of the service.
        taken: The job.
        go_on: Told what is being done; raises where the job is not to go on.
    """
    folder = settings.work / f"{taken.id}-{taken.fence}"
    with database.reading() as session:
        wanted = _wanted(session, taken)
    found: dict[str, Any] = {}
    try:
        if wanted is not None:
            _remove_left(settings.work, taken)
            make_private_folder(folder)
            found = _found(settings, wanted, folder, go_on)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if wanted is not None:
        _keep_findings(settings, database, taken, wanted, found)


def give_up(settings: Settings, database: Database, taken: Taken, problem: str) -> None:
    """Write down that a submission could not be looked at.

    Args:
        settings: Of the service.
        database: Of the service.
        taken: The job.
        problem: Why not, and what to do.
    """
    _remove_left(settings.work, taken)
    with database.reading() as session:
        wanted = _wanted(session, taken)
    if wanted is not None:
        _keep_findings(settings, database, taken, wanted, {PROBLEMS: [problem]})


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """What a job is about, as it was when the job began.

    Attributes:
        submission: What to look at.
        upload: Its file.
        party: Whose it is.
        terms: Under which terms.
        others: The files of the party's contributions that are there already.
    """

    submission: Submission
    upload: str
    party: Party
    terms: Terms
    others: tuple[str, ...] = ()


def _wanted(session: Session, taken: Taken) -> _Wanted | None:
    """What to look at; None: it was withdrawn, or its party takes no part any longer."""
    submission = session.get_one(Submission, taken.submission_id)
    collaboration = session.get_one(Collaboration, taken.collaboration_id)
    terms = in_force(session, collaboration)
    if submission.blob_id is None or terms is None:
        return None
    party = session.get_one(Party, submission.party_id)
    others: list[str] = []
    if is_contribution(submission):
        having = data_of(session, session.get_one(Round, taken.round_id)).get(party.id, [])
        others = [one.blob_id for one in having if one.blob_id and one.id != submission.id]
    return _Wanted(
        submission=submission,
        upload=submission.blob_id,
        party=party,
        terms=terms,
        others=tuple(others),
    )


def _remove_left(work: Path, taken: Taken) -> None:
    """Remove what a worker left in the clear that was killed at the same job."""
    for left in work.glob(f"{taken.id}-*"):
        shutil.rmtree(left, ignore_errors=True)


def _found(settings: Settings, wanted: _Wanted, folder: Path, go_on: GoOn) -> dict[str, Any]:
    submission = wanted.submission
    # What a party calls its file never leads to one.
    file = folder / f"new{submission.suffix}"
    vault = Vault(settings)
    go_on(DOING)
    try:
        vault.decrypt_to(wanted.upload, file)
    except FairpoolError as error:
        return {PROBLEMS: [*error.problems]}
    others = []
    for number, upload in enumerate(wanted.others):
        others.append(folder / f"{number}{SUFFIX}")
        vault.decrypt_to(upload, others[-1])
    key = folder_of(settings, wanted.terms.collaboration_id) / STATE_FOLDER / OPERATOR_KEY
    asked = Asked(
        file=str(file),
        shown=submission.file_name,
        toml=wanted.terms.toml,
        plan=wanted.terms.plan,
        party=wanted.party.permanent,
        others=tuple(map(str, others)),
        key=str(key),
        received=submission.created.astimezone(UTC).isoformat(timespec="seconds"),
    )
    return look(asked, settings, lambda: go_on(DOING))


def _keep_findings(
    settings: Settings, database: Database, taken: Taken, wanted: _Wanted, found: dict[str, Any]
) -> None:
    """Write down what was found, if the job is still this worker's, and it still matters."""
    seen = stored(settings, found)
    is_kept = False

    def write_down(session: Session) -> None:
        nonlocal is_kept
        rounds.lock(session, taken.collaboration_id)
        queue.write(session, taken, stage=LOOKED)
        submission = _current(session, taken, wanted)
        is_kept = submission is not None
        if submission is not None:
            _put_findings(session, settings, submission, plain(found, wanted.terms.id, seen), seen)
            _follow(session, taken, wanted, submission)

    try:
        keep(database, write_down, seconds=settings.lease_seconds)
    except LeaseLostError:
        remove_upload(settings, seen.id)
        raise
    if not is_kept:
        remove_upload(settings, seen.id)


def _current(session: Session, taken: Taken, wanted: _Wanted) -> Submission | None:
    """The submission that was looked at; None: what was found no longer matters."""
    submission = session.get(
        Submission, taken.submission_id, populate_existing=True, with_for_update=True
    )
    if submission is None or submission.blob_id is None:
        return None
    terms = in_force(session, session.get_one(Collaboration, taken.collaboration_id))
    if terms is None or terms.id != wanted.terms.id:
        return None  # another job looks at it under the terms that are in force by now
    return submission


def _put_findings(
    session: Session,
    settings: Settings,
    submission: Submission,
    findings: dict[str, Any],
    seen: Stored,
) -> None:
    """What was found now, in the place of what was found before."""
    erase(session, settings, submission.findings.get(SEEN))
    session.add(Blob(id=seen.id, size=seen.size, sha256=seen.sha256))
    submission.findings = findings
    session.flush()


def _follow(session: Session, taken: Taken, wanted: _Wanted, submission: Submission) -> None:
    """What follows from what was found."""
    notices.tell_party(session, taken.collaboration_id, submission.party_id)
    has_problems = bool(submission.findings[PROBLEMS])
    is_of_now = submission.round_id == taken.round_id
    state = SubmissionState(submission.state)
    if state is SubmissionState.SUBMITTED and not (has_problems and is_of_now):
        return  # it takes part, or did in an earlier round, which nothing changes any longer
    if state is SubmissionState.SUBMITTED:
        events.record(
            session,
            session.get_one(Collaboration, taken.collaboration_id),
            None,
            "no-longer-fits",
            {"submission": submission.id, "terms": wanted.terms.digest},
            about=session.get_one(Party, submission.party_id),
        )
    new = SubmissionState.REFUSED if has_problems else SubmissionState.CHECKED
    submission.state = new.value
