"""What an auditor computes anew, and signs."""

from datetime import datetime

from fastapi.responses import FileResponse, Response
from pydantic import BaseModel
from starlette.background import BackgroundTask

from fairpool.server.consortia import auditing
from fairpool.server.consortia.who import require
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Role
from fairpool.server.web.api.numbers import number_of
from fairpool.server.web.routing import api_router
from fairpool.server.web.security import download_headers
from fairpool.server.web.signed_in import CurrentPerson, CurrentSettings, Reading, Transaction

router = api_router()

ROUND = "/collaborations/{collaboration_id}/rounds/{number}"


class AuditLine(BaseModel):
    """What was compared, and what was found: verified, cannot be verified, or FALSE."""

    about: str
    answer: str
    text: str


class AuditResult(BaseModel):
    """What came of computing a round anew."""

    round: int
    release: str
    """The hash of the release's record in the ledger."""
    findings: list[AuditLine]


class SignedAudit(BaseModel):
    """What was signed of a round."""

    round: int
    time: datetime


class SignedContent(BaseModel):
    """What `fairpool audit --out audit.json --sign auditor.key` wrote."""

    document: str


@router.post(f"{ROUND}/audit")
def audit_round(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> AuditResult:
    """Compute a released round anew and compare, for auditors; nothing is changed."""
    who = require(session, person, collaboration_id, Role.AUDITOR)
    found = auditing.recompute(session, settings, who, number_of(number))
    return AuditResult(
        round=found.number,
        release=found.release,
        findings=[AuditLine(**line.to_dict()) for line in found.lines],
    )


@router.get(f"{ROUND}/audit.zip", response_class=FileResponse)
def save_audit_copy(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> FileResponse:
    """All that `fairpool audit` needs, for auditors; the secret of the noise is in it."""
    who = require(session, person, collaboration_id, Role.AUDITOR)
    wanted = number_of(number)
    path = auditing.bundle(session, settings, who, wanted)
    return FileResponse(
        path,
        media_type="application/zip",
        headers=download_headers(f"round-{wanted}-audit.zip"),
        background=BackgroundTask(path.unlink, missing_ok=True),
    )


@router.post(f"{ROUND}/audit/signature", status_code=201)
def sign_audit(
    collaboration_id: str,
    number: str,
    sent: SignedContent,
    person: CurrentPerson,
    session: Transaction,
    settings: CurrentSettings,
) -> SignedAudit:
    """Keep what one has signed of a round, for auditors."""
    who = require(session, person, collaboration_id, Role.AUDITOR, alone=True)
    wanted = number_of(number)
    kept = auditing.sign(session, settings, who, wanted, sent.document.encode())
    return SignedAudit(round=wanted, time=kept.time)


@router.get(f"{ROUND}/audit/signature")
def save_signed_audit(
    collaboration_id: str, number: str, person: CurrentPerson, session: Reading
) -> Response:
    """What was last signed of a round, for operators and auditors."""
    who = require(session, person, collaboration_id, Role.OPERATOR, Role.AUDITOR)
    wanted = number_of(number)
    signed = [one for round_, one in auditing.signatures(session, who) if round_.number == wanted]
    if not signed:
        raise NotFoundError
    headers = download_headers(f"round-{wanted}-audit.json")
    return Response(signed[-1].document, media_type="application/json", headers=headers)
