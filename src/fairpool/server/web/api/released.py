"""What a released round left: a party's own papers, and what operators and auditors read."""

from pathlib import Path

from fastapi.responses import FileResponse, Response

from fairpool.server.consortia import released
from fairpool.server.consortia.who import require
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Role
from fairpool.server.web.api.numbers import number_of
from fairpool.server.web.routing import A_DOCUMENT, api_router
from fairpool.server.web.security import DocumentResponse, download_headers
from fairpool.server.web.signed_in import CurrentPerson, CurrentSettings, Reading

router = api_router()

ROUND = "/collaborations/{collaboration_id}/rounds/{number}"


@router.get(f"{ROUND}/letter", response_class=DocumentResponse, responses=A_DOCUMENT)
def show_letter(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> DocumentResponse:
    """The letter of one's own party."""
    who = require(session, person, collaboration_id, Role.PARTY)
    letter = released.papers(session, settings, who, number_of(number)).letter
    return DocumentResponse(letter.read_bytes())


@router.get(f"{ROUND}/letter.html", response_class=FileResponse)
def save_letter(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> FileResponse:
    """The letter of one's own party as a file, for `fairpool verify`."""
    who = require(session, person, collaboration_id, Role.PARTY)
    return _saved(released.papers(session, settings, who, number_of(number)).letter, number)


@router.get(f"{ROUND}/reward", response_class=FileResponse)
def save_reward(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> FileResponse:
    """The new model of one's own party; none where it holds its share already."""
    who = require(session, person, collaboration_id, Role.PARTY)
    return _saved(released.papers(session, settings, who, number_of(number)).reward, number)


@router.get(f"{ROUND}/model-card", response_class=FileResponse)
def save_card(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> FileResponse:
    """The card of that model."""
    who = require(session, person, collaboration_id, Role.PARTY)
    return _saved(released.papers(session, settings, who, number_of(number)).card, number)


@router.get(f"{ROUND}/statement")
def save_statement(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> Response:
    """What the operator signed for one's own party."""
    who = require(session, person, collaboration_id, Role.PARTY)
    statement = released.papers(session, settings, who, number_of(number)).statement
    if statement is None:
        raise NotFoundError
    headers = download_headers(f"round-{number}-statement.json")
    return Response(statement, media_type="application/json", headers=headers)


@router.get(f"{ROUND}/report", response_class=DocumentResponse, responses=A_DOCUMENT)
def show_report(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> DocumentResponse:
    """The operator's report."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    return DocumentResponse(released.report(session, settings, who, number_of(number)).read_bytes())


@router.get(f"{ROUND}/result", response_class=FileResponse)
def save_result(
    collaboration_id: str,
    number: str,
    person: CurrentPerson,
    session: Reading,
    settings: CurrentSettings,
) -> FileResponse:
    """All numbers of the round, as JSON."""
    who = require(session, person, collaboration_id, Role.OPERATOR)
    return _saved(released.result(session, settings, who, number_of(number)), number)


@router.get("/collaborations/{collaboration_id}/ledger", response_class=FileResponse)
def save_ledger(
    collaboration_id: str, person: CurrentPerson, session: Reading, settings: CurrentSettings
) -> FileResponse:
    """The ledger, one record a line."""
    who = require(session, person, collaboration_id, Role.OPERATOR, Role.AUDITOR)
    path = released.ledger(settings, who)
    return FileResponse(path, headers=download_headers(path.name))


def _saved(path: Path | None, number: str) -> FileResponse:
    if path is None:
        raise NotFoundError
    return FileResponse(path, headers=download_headers(f"round-{number}-{path.name}"))
