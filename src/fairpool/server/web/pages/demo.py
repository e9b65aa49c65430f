"""Signing in to a demonstration, as anybody who is in it: a service that is none has no such page.

Only this machine may: whoever runs a demonstration listens to nobody else.
"""

import ipaddress
from typing import Annotated

from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.server.people import sessions
from fairpool.server.refused import NotFoundError
from fairpool.server.store.tables import Membership, Party, Person, Role
from fairpool.server.web.pages.account_views import DemoPerson
from fairpool.server.web.pages.frame import page, see_other
from fairpool.server.web.pages.signing_in import HOME
from fairpool.server.web.routing import page_router
from fairpool.server.web.signed_in import (
    CurrentDatabase,
    CurrentSettings,
    MaybeSignedIn,
    Visitor,
    set_cookie,
)

router = page_router()

DEMO = "/demo"


def add_demo(app: FastAPI) -> None:
    """Have an application let everybody in who is on this machine."""
    app.include_router(router)
    app.state.demo = DEMO


@router.get(DEMO)
def show_demo(
    request: Request, signed_in: MaybeSignedIn, visit: Visitor, database: CurrentDatabase
) -> HTMLResponse:
    """Everybody as whom one can look."""
    _require_this_machine(visit.host)
    with database.reading() as session:
        people = _people(session)
    return page("demo", request, signed_in=signed_in, people=people)


@router.post(DEMO)
def look_as(
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    person: Annotated[str, Form(max_length=100)],
) -> Response:
    """Sign in as somebody, without a password."""
    _require_this_machine(visit.host)
    with database.transaction() as session:
        found = session.get(Person, person)
        if found is None or found.left is not None:
            raise NotFoundError
        opened = sessions.open_session(session, settings, found)
        mine = select(Membership.collaboration_id).where(Membership.person_id == found.id)
        collaborations = session.scalars(mine).all()
    where = f"{HOME}/{collaborations[0]}" if len(collaborations) == 1 else HOME
    response = see_other(where)
    set_cookie(response, settings, opened.cookie)
    return response


def _require_this_machine(host: str) -> None:
    try:
        is_here = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here:
        raise NotFoundError


def _people(session: Session) -> list[DemoPerson]:
    found = session.execute(
        select(Person, Membership, Party)
        .join(Membership, Membership.person_id == Person.id)
        .outerjoin(Party, Party.id == Membership.party_id)
        .where(Person.left.is_(None))
        .order_by(Party.place.is_not(None), Membership.role.desc(), Party.place)
    )
    return [
        DemoPerson(id=person.id, name=person.name, as_what=_as_what(membership, party))
        for person, membership, party in found
    ]


def _as_what(membership: Membership, party: Party | None) -> str:
    if party is not None:
        return f"works at {party.name}"
    if membership.role == Role.OPERATOR.value:
        return "runs the collaboration, as its operator"
    return "checks everything, as its auditor"
