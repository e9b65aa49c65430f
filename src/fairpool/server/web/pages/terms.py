"""The terms: what is proposed and in force, who accepted, and accepting for one's own party."""

from typing import Annotated

from fastapi import Form
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.orm import Session

from fairpool.errors import FairpoolError
from fairpool.server.consortia import replacing, terms
from fairpool.server.consortia.who import Who
from fairpool.server.refused import RefusedError
from fairpool.server.store.tables import Role, Terms
from fairpool.server.web.pages.frame import Refusal
from fairpool.server.web.pages.here import COLLABORATION, CurrentHere, Here
from fairpool.server.web.pages.terms_cards import (
    acceptances_of,
    changes_of,
    draft_card,
    earlier_of,
    terms_card,
    versions,
)
from fairpool.server.web.routing import page_router

router = page_router()

TERMS = COLLABORATION + "/terms"


@router.get(TERMS)
def show_terms(here: CurrentHere) -> HTMLResponse:
    """The terms in plain words, and, for an operator, the draft of others."""
    return _page(here)


@router.post(TERMS + "/propose")
def propose_terms(here: CurrentHere) -> Response:
    """Propose the draft."""
    try:
        with here.changing(Role.OPERATOR) as (session, who):
            terms.propose(session, here.settings, who)
    except FairpoolError as error:
        return _page(here, Refusal.of(error))
    return here.see(said="proposed")


@router.post(TERMS + "/accept")
def accept_terms(
    here: CurrentHere,
    digest: Annotated[str, Form(max_length=100)],
    read: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Accept, for one's own party, the terms that the page showed."""
    try:
        with here.changing(Role.PARTY) as (session, who):
            if read != "yes":
                raise RefusedError("say that you have read the terms, then accept them")
            terms.accept(session, here.settings, who, digest)
    except FairpoolError as error:
        return _page(here, Refusal.of(error))
    return here.see(said="accepted")


def _page(here: Here, refusal: Refusal | None = None) -> HTMLResponse:
    with here.reading() as (session, who):
        every = versions(session, who)
        in_force = every[-1] if every else None
        return here.page(
            "terms",
            who,
            "terms",
            refusal,
            draft=draft_card(who, in_force) if who.is_operator else None,
            terms=terms_card(here, in_force) if in_force else None,
            changes=changes_of(every),
            replaced=replacing.told(session, who.collaboration),
            may_accept=_may_accept(session, who, in_force),
            acceptances=acceptances_of(session, here, who, in_force) if in_force else (),
            earlier=earlier_of(here, every),
        )


def _may_accept(session: Session, who: Who, in_force: Terms | None) -> bool:
    if in_force is None or who.party is None or who.party.left is not None:
        return False
    if who.party.permanent not in {partner.id for partner in terms.partners(in_force)}:
        return False
    return who.party.id not in terms.accepted_by(session, in_force)
