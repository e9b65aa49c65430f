"""Who has a part in a collaboration, and what happened there."""

from datetime import datetime

from fastapi import Response
from pydantic import BaseModel

from fairpool.server.consortia import events, members
from fairpool.server.consortia.who import everywhere, require
from fairpool.server.store.tables import Role
from fairpool.server.web.routing import api_router
from fairpool.server.web.security import download_headers
from fairpool.server.web.signed_in import CurrentPerson, Reading, Transaction

router = api_router()

HERE = "/collaborations/{collaboration_id}"


class Part(BaseModel):
    """A collaboration that somebody has a part in."""

    collaboration_id: str
    name: str
    role: Role
    party_id: str | None
    party: str | None


class ShownMember(BaseModel):
    """Somebody who has a part in a collaboration."""

    id: str
    name: str
    email: str
    role: Role
    party: str | None
    since: datetime
    is_self: bool


@router.get("/collaborations")
def show_collaborations(person: CurrentPerson, session: Reading) -> list[Part]:
    """The collaborations that one has a part in, the newest first."""
    return [
        Part(
            collaboration_id=who.collaboration.id,
            name=who.collaboration.name,
            role=who.role,
            party_id=None if who.party is None else who.party.id,
            party=None if who.party is None else who.party.name,
        )
        for who in everywhere(session, person)
    ]


@router.get(HERE + "/members")
def show_members(
    collaboration_id: str, person: CurrentPerson, session: Reading
) -> list[ShownMember]:
    """The people one sees: for operators all, for others operators, auditors and their own."""
    who = require(session, person, collaboration_id)
    seen = members.seen_by(session, who)
    return [ShownMember.model_validate(member, from_attributes=True) for member in seen]


@router.delete(HERE + "/members/{member_id}", status_code=204)
def remove_member(
    collaboration_id: str, member_id: str, person: CurrentPerson, session: Transaction
) -> None:
    """End a part in a collaboration: one's own, or by an operator anybody's."""
    who = require(session, person, collaboration_id, alone=True)
    members.remove(session, who, member_id)


@router.get(HERE + "/events", response_class=Response)
def download_events(collaboration_id: str, person: CurrentPerson, session: Reading) -> Response:
    """What happened, for operators and auditors: JSON lines, each with the hash of the one before.

    The hash of a line is SHA-256 of the same object without `hash`, as canonical JSON.
    """
    who = require(session, person, collaboration_id, Role.OPERATOR, Role.AUDITOR)
    return Response(
        events.export(session, who.collaboration),
        media_type="application/x-ndjson",
        headers=download_headers("events.jsonl"),
    )
