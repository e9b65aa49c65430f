"""Jobs: how far each is, as JSON or as it happens; stopped, and gone on with."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from fastapi import status
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from fairpool.server.consortia import rounds
from fairpool.server.consortia.jobs import job_of, preview_report, preview_result
from fairpool.server.consortia.who import require
from fairpool.server.refused import RefusedError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Job, JobState, Role
from fairpool.server.web.routing import A_DOCUMENT, api_router
from fairpool.server.web.security import DocumentResponse
from fairpool.server.web.signed_in import (
    CurrentDatabase,
    CurrentPerson,
    CurrentSettings,
    CurrentSignedIn,
    Reading,
    SignedIn,
    Transaction,
    is_still_in,
)

router = api_router()

JOB = "/collaborations/{collaboration_id}/jobs/{job_id}"

PAUSE = 0.5
"""Seconds between two looks at a job."""

QUIET = 15.0
"""Seconds after which a line is sent though nothing happened: some on the way close what is still.
"""

LONGEST = 600.0
"""Seconds of one stream; a browser then asks again by itself."""

ENDED = (JobState.DONE.value, JobState.FAILED.value, JobState.CANCELLED.value)


class JobView(BaseModel):
    """How far a job is."""

    id: str
    kind: str
    state: str
    stage: str
    """What is being done."""
    done: int
    total: int | None
    """How much of it, and of how much; null: nobody knows."""
    is_cancelled: bool
    """Whether somebody wants it stopped."""
    is_final: bool
    """Whether it cannot be stopped any longer."""
    problem: str | None
    """Why it failed, and what to do."""
    created: datetime
    started: datetime | None
    ended: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobView":
        """A job."""
        return cls(
            id=job.id,
            kind=job.kind,
            state=job.state,
            stage=job.stage,
            done=job.done,
            total=job.total,
            is_cancelled=job.cancel,
            is_final=job.is_final,
            problem=job.problem,
            created=job.created,
            started=job.started,
            ended=job.ended,
        )


@router.get(JOB)
def show_job(
    collaboration_id: str, job_id: str, person: CurrentPerson, session: Reading
) -> JobView:
    """How far a job is: a computation for operators, a look at a file for its party."""
    return JobView.of(job_of(session, require(session, person, collaboration_id), job_id))


@router.post(f"{JOB}/cancel")
def cancel_job(
    collaboration_id: str, job_id: str, person: CurrentPerson, session: Transaction
) -> JobView:
    """Stop a computation; what was computed is kept, so that it can go on."""
    who = require(session, person, collaboration_id, Role.OPERATOR, alone=True)
    return JobView.of(rounds.cancel(session, who, job_id))


@router.post(f"{JOB}/resume", status_code=status.HTTP_202_ACCEPTED)
def resume_job(
    collaboration_id: str, job_id: str, person: CurrentPerson, session: Transaction
) -> JobView:
    """Go on with a computation that was stopped; the answer is the new job."""
    who = require(session, person, collaboration_id, Role.OPERATOR, alone=True)
    return JobView.of(rounds.resume(session, who, job_id))


@router.get(f"{JOB}/result")
def show_result(
    collaboration_id: str, job_id: str, person: CurrentPerson, session: Reading
) -> dict[str, Any]:
    """What a preview found: values, contributions and rewards, and what to look at, by gravity."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    return preview_result(session, who, job_id)


@router.get(f"{JOB}/report", response_class=DocumentResponse, responses=A_DOCUMENT)
def show_report(
    collaboration_id: str,
    job_id: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> DocumentResponse:
    """The report of a preview, with a slider for rho."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    return DocumentResponse(preview_report(session, settings, who, job_id).read_bytes())


@router.get(
    f"{JOB}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
def stream_job(
    collaboration_id: str, job_id: str, signed_in: CurrentSignedIn, database: CurrentDatabase
) -> StreamingResponse:
    """The same as it happens: an event `job` whenever something changed, until it has ended."""
    with database.reading() as session:
        job_of(session, require(session, signed_in.person, collaboration_id), job_id)
    return StreamingResponse(
        _events(database, signed_in, collaboration_id, job_id),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


async def _events(
    database: Database, signed_in: SignedIn, collaboration_id: str, job_id: str
) -> AsyncIterator[str]:
    clock = asyncio.get_running_loop().time
    begun = last = clock()
    told = None
    while clock() < begun + LONGEST:
        view = await asyncio.to_thread(_look, database, signed_in, collaboration_id, job_id)
        if view is None:
            return
        if view != told:
            yield f"event: job\ndata: {json.dumps(view.model_dump(mode='json'))}\n\n"
            told, last = view, clock()
        elif clock() > last + QUIET:
            yield ": nothing new\n\n"
            last = clock()
        if view.state in ENDED:
            return
        await asyncio.sleep(PAUSE)


def _look(
    database: Database, signed_in: SignedIn, collaboration_id: str, job_id: str
) -> JobView | None:
    """The job as it is now; None: whoever looks may not see it any longer."""
    with database.reading() as session:
        if not is_still_in(session, signed_in):
            return None
        try:
            who = require(session, signed_in.person, collaboration_id)
            return JobView.of(job_of(session, who, job_id))
        except RefusedError:
            return None
