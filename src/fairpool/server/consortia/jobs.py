"""What people see of jobs: how far each is, and what a preview found."""

from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import Job, JobKind, JobState, Round, Submission
from fairpool.server.work.project import PREVIEWS_FOLDER, folder_of


def job_of(session: Session, who: Who, job_id: str) -> Job:
    """A job: a computation for operators, a look at a file for the people of its party.

    Args:
        session: Open.
        who: Anybody of the collaboration.
        job_id: Which.
    """
    job = session.get(Job, job_id, populate_existing=True)
    if job is None or job.collaboration_id != who.collaboration.id:
        raise NotFoundError
    if job.kind == JobKind.CHECK.value:
        submission = session.get_one(Submission, job.submission_id)
        is_seen = who.party is not None and submission.party_id == who.party.id
    else:
        is_seen = who.is_operator
    if not is_seen:
        raise NotFoundError
    return job


def preview_result(session: Session, who: Who, job_id: str) -> dict[str, Any]:
    """What a preview found, in numbers and in words.

    Args:
        session: Open.
        who: An operator.
        job_id: The preview's job.
    """
    return _preview(session, who, job_id).result


def preview_report(session: Session, settings: Settings, who: Who, job_id: str) -> Path:
    """The report of the preview that can be released; those of older ones are gone.

    Args:
        session: Open.
        settings: Where collaborations are.
        who: An operator.
        job_id: The preview's job.
    """
    job = _preview(session, who, job_id)
    folder = folder_of(settings, job.collaboration_id) / PREVIEWS_FOLDER / job.id
    path = folder / "operator" / "report.html"
    if session.get_one(Round, job.round_id).preview_id != job.id or not path.exists():
        raise NotFoundError
    return path


def _preview(session: Session, who: Who, job_id: str) -> Job:
    job = job_of(session, who, job_id)
    if job.kind != JobKind.PREVIEW.value or job.state != JobState.DONE.value:
        raise NotFoundError
    return job
