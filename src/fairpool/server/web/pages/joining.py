"""Accepting an invitation, with the account one has or with a new one."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from fairpool.errors import FairpoolError
from fairpool.server.people import invitations, joining, resetting
from fairpool.server.people.invitations import Invited
from fairpool.server.store.tables import Role
from fairpool.server.web.pages.account_views import InvitationCard
from fairpool.server.web.pages.frame import Refusal, page, see_other
from fairpool.server.web.pages.signing_in import HOME
from fairpool.server.web.routing import page_router
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    MaybeSignedIn,
    SignedIn,
    Visitor,
    set_cookie,
)

router = page_router()

LINK = invitations.PATH + "{secret}"


@router.get(LINK)
def show_invitation(
    request: Request, secret: str, signed_in: MaybeSignedIn, database: CurrentDatabase
) -> HTMLResponse:
    """What a link invites to, and how to accept."""
    with database.reading() as session:
        invited = invitations.look(session, secret)
    return _page(request, signed_in, invited)


@router.post(LINK)
def accept_invitation(
    request: Request, secret: str, browser: CurrentBrowser, database: CurrentDatabase
) -> Response:
    """Accept with the account one is signed in with."""
    with database.reading() as session:
        invited = invitations.look(session, secret)
    try:
        with database.transaction() as session:
            invited = joining.accept(session, browser.person, secret)
    except FairpoolError as error:
        return _page(request, browser, invited, refusal=Refusal.of(error))
    return see_other(_where(invited), "joined")


@router.post(LINK + "/account")
def accept_with_new_account(
    request: Request,
    secret: str,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    name: Annotated[str, Form(max_length=1000)],
    email: Annotated[str, Form(max_length=1000)],
    password: Annotated[str, Form(max_length=10_000)],
) -> Response:
    """Accept with a new account, and be signed in."""
    with database.reading() as session:
        invited = invitations.look(session, secret)
    try:
        entered = joining.accept_as_new(
            database,
            settings,
            secret,
            name=name,
            email=email,
            password=password,
            host=visit.host,
            cookie=visit.cookie,
        )
    except FairpoolError as error:
        return _page(request, None, invited, refusal=Refusal.of(error), name=name, email=email)
    response = see_other(_where(invited), "account")
    set_cookie(response, settings, entered.opened.cookie)
    return response


@router.post(LINK + "/password")
def set_another_password(
    request: Request,
    secret: str,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    password: Annotated[str, Form(max_length=10_000)],
) -> Response:
    """Set another password by a link for that, and be signed in."""
    with database.reading() as session:
        invited = invitations.look(session, secret)
    try:
        entered = resetting.reset_password(
            database, settings, secret, password=password, cookie=visit.cookie
        )
    except FairpoolError as error:
        return _page(request, None, invited, refusal=Refusal.of(error))
    response = see_other(HOME, "password")
    set_cookie(response, settings, entered.opened.cookie)
    return response


def _where(invited: Invited) -> str:
    return HOME if invited.collaboration is None else f"{HOME}/{invited.collaboration.id}"


def _page(
    request: Request,
    signed_in: SignedIn | None,
    invited: Invited,
    *,
    refusal: Refusal | None = None,
    name: str = "",
    email: str = "",
) -> HTMLResponse:
    if invited.is_reset:
        return page(
            "reset",
            request,
            signed_in=None,
            refusal=refusal,
            here=request.url.path.removesuffix("/password"),
            email=invited.invitation.email,
        )
    card = _card(invited)
    return page(
        "join",
        request,
        signed_in=signed_in,
        refusal=refusal,
        invitation=card,
        here=request.url.path.removesuffix("/account"),
        name=name,
        email=email or card.email or "",
    )


def _card(invited: Invited) -> InvitationCard:
    email = invited.invitation.email
    if invited.collaboration is None:
        return InvitationCard(
            title="Welcome to your fairpool",
            text="Make the first account. With it you create collaborations and invite people.",
            email=email,
        )
    inviter = "Somebody" if invited.inviter is None else invited.inviter.name
    where = f"“{invited.collaboration.name}”"
    if invited.party is not None:
        what = f"to take part in {where} for {invited.party.name}"
    elif invited.role is Role.AUDITOR:
        what = f"to audit {where}"
    else:
        what = f"to run {where} as an operator"
    return InvitationCard(
        title="You are invited", text=f"{inviter} invites you {what}.", email=email
    )
