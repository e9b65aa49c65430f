"""What a party sends: received as it comes, looked at, submitted, withdrawn. Its own, and no other.

An upload is the raw body of a request; its name is given beside it, and is for showing alone.
"""

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from fairpool.errors import FairpoolError
from fairpool.server.consortia import quotas, standing, submissions, visible
from fairpool.server.consortia.found import Found, found_in
from fairpool.server.consortia.quotas import Room
from fairpool.server.consortia.who import require
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import (
    Blob,
    Person,
    Role,
    Round,
    RoundState,
    Submission,
    SubmissionState,
)
from fairpool.server.web.api.collaborations import HERE, CollaborationId, ShownTask
from fairpool.server.web.bodies import UploadAllowed
from fairpool.server.web.coming import CurrentUploads
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.security import download_headers
from fairpool.server.web.signed_in import (
    CurrentDatabase,
    CurrentPerson,
    CurrentSettings,
    Reading,
    Transaction,
)
from fairpool.server.work.vault import Stored, Vault, remove_upload

router = api_router()

ONE = HERE + "/submissions/{submission_id}"

RAW = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""What the document says of a body that is read as it comes."""


class ShownSubmission(BaseModel):
    """Something that one's own party sent."""

    id: str
    name: str
    state: SubmissionState
    round: int
    bytes: int | None
    sha256: str | None
    created: datetime
    decided: datetime | None
    rows: int | None
    problems: int | None


class ShownFindings(ShownSubmission):
    """The same, with what was found in it; nothing yet, while it is being looked at."""

    found: Found | None


class ShownStanding(BaseModel):
    """Where one's own party stands: what to do next, what it sent, what takes part."""

    party: str
    round: int | None
    state: RoundState | None
    terms: str | None
    takes_part: bool
    has_accepted: bool
    next: ShownTask | None
    tasks: list[ShownTask]
    sent: list[ShownSubmission]
    having: list[ShownSubmission]


class Seen(BaseModel):
    """What somebody can see of one's own party."""

    by: str
    what: list[str]


class HowSubmitted(Sent):
    """Whether a table has further rows, beside the one that was submitted before it."""

    adds: bool = False


@router.post(HERE + "/submissions", status_code=201, openapi_extra=RAW)
async def send_file(
    collaboration_id: CollaborationId,
    request: Request,
    person: CurrentPerson,
    settings: CurrentSettings,
    database: CurrentDatabase,
    coming: CurrentUploads,
    _: UploadAllowed,
    name: Annotated[str, Query(max_length=1000, description="What it is called.")] = "",
) -> ShownSubmission:
    """Send a table or a contribution: the body is the file. It is looked at before it counts.

    Everything that is wrong with it is told then; nothing takes part before it is submitted.
    """
    vault = Vault(settings)
    beginning = partial(_begin, settings, database, person, collaboration_id, name)
    party, room = await run_in_threadpool(beginning)
    with coming.one_of(party):
        stored = await vault.store(request.stream(), room.bytes, room.refusal)
    return await run_in_threadpool(
        _received, settings, database, person, collaboration_id, stored=stored, name=name
    )


def _begin(
    settings: Settings, database: Database, person: Person, collaboration_id: str, name: str
) -> tuple[str, Room]:
    """Whose upload it is, and how large it may be; what would be refused anyway never comes."""
    with database.reading() as session:
        who = require(session, person, collaboration_id, Role.PARTY)
        submissions.refuse_now(session, who, name)
        return who.own_party.id, quotas.room_for_one(session, settings, who)


def _received(
    settings: Settings,
    database: Database,
    person: Person,
    collaboration_id: str,
    *,
    stored: Stored,
    name: str,
) -> ShownSubmission:
    try:
        with database.transaction() as session:
            who = require(session, person, collaboration_id, Role.PARTY, alone=True)
            submission = submissions.receive(session, who, stored, name)
            is_new = submission.blob_id == stored.id
            if is_new:
                quotas.refuse_too_much(session, settings, who)
            shown = _shown(session, submission)
    except FairpoolError:
        # Of any other error nobody knows what was kept: `fairpool server check` finds out.
        remove_upload(settings, stored.id)
        raise
    if not is_new:
        remove_upload(settings, stored.id)
    return shown


@router.get(HERE + "/standing")
def show_standing(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> ShownStanding:
    """Where one's own party stands, and what is asked of it."""
    who = require(session, person, collaboration_id, Role.PARTY)
    now = standing.of(session, who)
    following = now.next_task
    return ShownStanding(
        party=now.party.name,
        round=None if now.round is None else now.round.number,
        state=None if now.round is None else RoundState(now.round.state),
        terms=None if now.terms is None else now.terms.digest,
        takes_part=now.takes_part,
        has_accepted=now.acceptance is not None,
        next=None if following is None else ShownTask.of(following),
        tasks=[ShownTask.of(task) for task in now.tasks],
        sent=[_shown(session, one) for one in now.sent],
        having=[_shown(session, one) for one in now.having],
    )


@router.get(HERE + "/visible")
def show_visible(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> list[Seen]:
    """What others can see of one's own party."""
    who = require(session, person, collaboration_id, Role.PARTY)
    return [Seen(by=one.by, what=list(one.what)) for one in visible.of(session, who)]


@router.get(ONE)
def show_submission(
    collaboration_id: CollaborationId,
    submission_id: str,
    person: CurrentPerson,
    settings: CurrentSettings,
    session: Reading,
) -> ShownFindings:
    """Something that one's own party sent, with all that was found in it."""
    who = require(session, person, collaboration_id, Role.PARTY)
    submission = submissions.find(session, who, submission_id)
    shown = _shown(session, submission)
    return ShownFindings(**shown.model_dump(), found=found_in(settings, submission))


@router.post(ONE + "/submit")
def submit(
    collaboration_id: CollaborationId,
    submission_id: str,
    person: CurrentPerson,
    settings: CurrentSettings,
    session: Transaction,
    how: HowSubmitted | None = None,
) -> ShownSubmission:
    """Have what was looked at take part in the round, in the place of the table before."""
    who = require(session, person, collaboration_id, Role.PARTY, alone=True)
    adds = how is not None and how.adds
    return _shown(session, submissions.submit(session, settings, who, submission_id, adds=adds))


@router.post(ONE + "/withdraw")
def withdraw(
    collaboration_id: CollaborationId,
    submission_id: str,
    person: CurrentPerson,
    settings: CurrentSettings,
    session: Transaction,
) -> ShownSubmission:
    """Take something back, and have it erased; until the round is closed."""
    who = require(session, person, collaboration_id, Role.PARTY, alone=True)
    return _shown(session, submissions.withdraw(session, settings, who, submission_id))


@router.get(ONE + "/receipt", response_class=Response)
def download_receipt(
    collaboration_id: CollaborationId,
    submission_id: str,
    person: CurrentPerson,
    settings: CurrentSettings,
    session: Reading,
) -> Response:
    """The operator's signed word that a contribution came, once it is submitted."""
    who = require(session, person, collaboration_id, Role.PARTY)
    receipt = submissions.receipt(session, settings, who, submission_id)
    return Response(
        receipt, media_type="application/json", headers=download_headers("contribution.receipt")
    )


def _shown(session: Session, submission: Submission) -> ShownSubmission:
    blob = None if submission.blob_id is None else session.get_one(Blob, submission.blob_id)
    found: dict[str, Any] = submission.findings
    return ShownSubmission(
        id=submission.id,
        name=submission.file_name,
        state=SubmissionState(submission.state),
        round=session.get_one(Round, submission.round_id).number,
        bytes=None if blob is None else blob.size,
        sha256=None if blob is None else blob.sha256,
        created=submission.created,
        decided=submission.decided,
        rows=found.get("rows"),
        problems=found.get("problems"),
    )
