"""Signing in and out, and the first page."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from fairpool.errors import FairpoolError
from fairpool.server.people import accounts, sessions
from fairpool.server.web.pages.frame import Refusal, page, see_other
from fairpool.server.web.routing import page_router
from fairpool.server.web.security import own_path
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    MaybeSignedIn,
    Transaction,
    Visitor,
    clear_cookie,
    set_cookie,
)

router = page_router()

HOME = "/collaborations"


@router.get("/")
def show_first_page() -> RedirectResponse:
    """To one's collaborations; who is not signed in comes to the page for that."""
    return see_other(HOME)


@router.get("/sign-in")
def show_sign_in(request: Request, signed_in: MaybeSignedIn, next: str = "") -> Response:  # noqa: A002
    """The page for signing in."""
    if signed_in is not None:
        return see_other(after(next))
    return sign_in_page(request, wanted=next)


@router.post("/sign-in")
def sign_in(
    request: Request,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    email: Annotated[str, Form(max_length=1000)],
    password: Annotated[str, Form(max_length=10_000)],
    next: Annotated[str, Form(max_length=2000)] = "",  # noqa: A002
) -> Response:
    """Sign in, and go to where one wanted to go."""
    try:
        entered = accounts.sign_in(
            database,
            settings,
            email=email,
            password=password,
            host=visit.host,
            cookie=visit.cookie,
        )
    except FairpoolError as error:
        return sign_in_page(request, wanted=next, email=email, refusal=Refusal.of(error))
    response = see_other(after(next))
    set_cookie(response, settings, entered.opened.cookie)
    return response


@router.post("/sign-out")
def sign_out(
    browser: CurrentBrowser, session: Transaction, settings: CurrentSettings
) -> RedirectResponse:
    """Sign this browser out."""
    assert browser.session is not None
    sessions.close(session, browser.session.digest)
    response = see_other("/sign-in", "signed-out")
    clear_cookie(response, settings)
    return response


def after(wanted: str) -> str:
    """Where somebody goes who has signed in."""
    path = own_path(wanted)
    return HOME if path == "/" else path


def sign_in_page(
    request: Request, *, wanted: str, email: str = "", refusal: Refusal | None = None
) -> HTMLResponse:
    """The page for signing in, and why it was not done."""
    return page(
        "sign_in",
        request,
        signed_in=None,
        refusal=refusal,
        next="" if own_path(wanted) == "/" else wanted,
        email=email,
    )
