"""Terms: proposed, read, accepted; each document as it was signed."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.consortia import terms
from fairpool.server.consortia.who import Who, require
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Acceptance, Party, Person, Role, Terms
from fairpool.server.web.api.collaborations import HERE, CollaborationId
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.security import download_headers
from fairpool.server.web.signed_in import CurrentPerson, CurrentSettings, Reading, Transaction

router = api_router()

ONE = HERE + "/terms/{digest}"

Digest = Annotated[str, Path(description="Of terms: the SHA-256 of their signed document.")]

SIGNED = "application/json"


class ShownTerms(BaseModel):
    """Terms that were proposed, in words; all of it stands in their signed document."""

    version: int
    digest: str
    is_in_force: bool
    proposed: datetime
    words: dict[str, str]
    discloses: list[str]
    parties: list[dict[str, str | None]]
    has_plan: bool


class ShownDifference(BaseModel):
    """What terms say otherwise than those before; without a name: a sentence of what they tell."""

    what: str
    before: str
    after: str


class SentAcceptance(Sent):
    """Which terms were read: the digest of their document."""

    digest: Annotated[str, Field(min_length=64, max_length=64)]


class ShownAcceptance(BaseModel):
    """That a party accepted terms; it has ended where all who were its people then are gone."""

    id: str
    version: int
    terms: str
    party: str
    person: str
    time: datetime
    ended: datetime | None


@router.post(HERE + "/terms", status_code=201)
def propose_terms(
    collaboration_id: CollaborationId,
    person: CurrentPerson,
    settings: CurrentSettings,
    session: Transaction,
) -> ShownTerms:
    """Propose the draft: all parties then read it, and each accepts it for itself.

    A draft that is in force already leaves that as it is.
    """
    who = require(session, person, collaboration_id, Role.OPERATOR, alone=True)
    return _shown(terms.propose(session, settings, who), is_in_force=True)


@router.get(HERE + "/terms")
def show_all_terms(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> list[ShownTerms]:
    """All terms that were proposed, the newest first, which are in force."""
    who = require(session, person, collaboration_id)
    mine = select(Terms).where(Terms.collaboration_id == who.collaboration.id)
    found = session.scalars(mine.order_by(Terms.version.desc())).all()
    return [_shown(one, is_in_force=one is found[0]) for one in found]


@router.get(ONE + "/changes")
def show_changes(
    collaboration_id: CollaborationId, digest: Digest, person: CurrentPerson, session: Reading
) -> list[ShownDifference]:
    """What terms say otherwise than those before; of the first ones nothing."""
    who = require(session, person, collaboration_id)
    after = _terms(session, who, digest)
    before = session.scalars(
        select(Terms).where(
            Terms.collaboration_id == who.collaboration.id, Terms.version == after.version - 1
        )
    ).one_or_none()
    changes = () if before is None else terms.differences(before, after)
    return [ShownDifference.model_validate(one, from_attributes=True) for one in changes]


@router.get(ONE + "/document", response_class=Response)
def download_terms(
    collaboration_id: CollaborationId, digest: Digest, person: CurrentPerson, session: Reading
) -> Response:
    """The signed document of terms: its SHA-256 is the digest that is accepted."""
    who = require(session, person, collaboration_id)
    found = _terms(session, who, digest)
    return _download(found.document, f"terms-{found.version}.json")


@router.get(ONE + "/plan", response_class=Response)
def download_plan(
    collaboration_id: CollaborationId, digest: Digest, person: CurrentPerson, session: Reading
) -> Response:
    """The plan.json by which parties make contributions; there is none where all send rows."""
    who = require(session, person, collaboration_id)
    found = _terms(session, who, digest)
    if found.plan is None:
        raise NotFoundError
    return _download(found.plan, "plan.json")


@router.post(HERE + "/acceptances", status_code=201)
def accept_terms(
    collaboration_id: CollaborationId,
    sent: SentAcceptance,
    person: CurrentPerson,
    settings: CurrentSettings,
    session: Transaction,
) -> ShownAcceptance:
    """Accept terms for one's own party; those that were read, and only if they are in force."""
    who = require(session, person, collaboration_id, Role.PARTY, alone=True)
    acceptance = terms.accept(session, settings, who, sent.digest)
    (shown,) = _acceptances(session, who, acceptance.id)
    return shown


@router.get(HERE + "/acceptances")
def show_acceptances(
    collaboration_id: CollaborationId, person: CurrentPerson, session: Reading
) -> list[ShownAcceptance]:
    """Who accepted which terms: operators and auditors see all, a party sees its own."""
    return _acceptances(session, require(session, person, collaboration_id))


@router.get(HERE + "/acceptances/{acceptance_id}/document", response_class=Response)
def download_acceptance(
    collaboration_id: CollaborationId, acceptance_id: str, person: CurrentPerson, session: Reading
) -> Response:
    """The signed document of an acceptance."""
    who = require(session, person, collaboration_id)
    if not _acceptances(session, who, acceptance_id):
        raise NotFoundError
    acceptance = session.get_one(Acceptance, acceptance_id)
    return _download(acceptance.document, "acceptance.json")


def _terms(session: Session, who: Who, digest: str) -> Terms:
    found = session.scalars(
        select(Terms).where(Terms.collaboration_id == who.collaboration.id, Terms.digest == digest)
    ).one_or_none()
    if found is None:
        raise NotFoundError
    return found


def _shown(found: Terms, *, is_in_force: bool) -> ShownTerms:
    body: dict[str, Any] = terms.body_of(found)
    return ShownTerms(
        version=found.version,
        digest=found.digest,
        is_in_force=is_in_force,
        proposed=found.proposed,
        words=body["words"],
        discloses=body["discloses"],
        parties=body["parties"],
        has_plan=found.plan is not None,
    )


def _acceptances(
    session: Session, who: Who, acceptance_id: str | None = None
) -> list[ShownAcceptance]:
    """Those that somebody sees, the newest first; one alone, if it is among them."""
    seen = (
        select(Acceptance, Terms, Party, Person)
        .join(Terms, Terms.id == Acceptance.terms_id)
        .join(Party, Party.id == Acceptance.party_id)
        .join(Person, Person.id == Acceptance.person_id)
        .where(Terms.collaboration_id == who.collaboration.id)
        .order_by(Acceptance.time.desc(), Acceptance.id)
    )
    if who.party is not None:
        seen = seen.where(Acceptance.party_id == who.party.id)
    if acceptance_id is not None:
        seen = seen.where(Acceptance.id == acceptance_id)
    return [
        ShownAcceptance(
            id=acceptance.id,
            version=of.version,
            terms=of.digest,
            party=party.name,
            person=person.name,
            time=acceptance.time,
            ended=acceptance.ended,
        )
        for acceptance, of, party, person in session.execute(seen)
    ]


def _download(text: str, name: str) -> Response:
    return Response(text.encode(), media_type=SIGNED, headers=download_headers(name))
