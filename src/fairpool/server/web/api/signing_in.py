"""Signing in and out, here and elsewhere."""

from datetime import datetime

from fastapi import Response
from pydantic import BaseModel

from fairpool.server.people import accounts, sessions
from fairpool.server.web.api.account import Account
from fairpool.server.web.routing import Sent, api_router
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    Reading,
    Transaction,
    Visitor,
    clear_cookie,
    set_cookie,
)

router = api_router()


class Credentials(Sent):
    """Who one is, and the proof."""

    email: str
    password: str


class SignedInAs(BaseModel):
    """Who is signed in, and what requests that change something carry as X-Form-Token."""

    account: Account
    form_token: str


class OpenSession(BaseModel):
    """A browser that is signed in."""

    created: datetime
    seen: datetime
    expires: datetime
    is_this: bool


class SignedOut(BaseModel):
    """How many browsers were signed out."""

    count: int


@router.post("/session", status_code=201)
def sign_in(
    sent: Credentials,
    response: Response,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
) -> SignedInAs:
    """Sign in: the answer sets a cookie."""
    entered = accounts.sign_in(
        database,
        settings,
        email=sent.email,
        password=sent.password,
        host=visit.host,
        cookie=visit.cookie,
    )
    set_cookie(response, settings, entered.opened.cookie)
    return SignedInAs(account=Account.of(entered.person), form_token=entered.opened.kept.form_token)


@router.get("/session")
def show_session(browser: CurrentBrowser) -> SignedInAs:
    """Who is signed in with this browser."""
    return SignedInAs(account=Account.of(browser.person), form_token=browser.form_token)


@router.delete("/session", status_code=204)
def sign_out(
    response: Response,
    browser: CurrentBrowser,
    session: Transaction,
    settings: CurrentSettings,
) -> None:
    """Sign this browser out."""
    assert browser.session is not None
    sessions.close(session, browser.session.digest)
    clear_cookie(response, settings)


@router.get("/sessions")
def show_sessions(browser: CurrentBrowser, session: Reading) -> list[OpenSession]:
    """All browsers that one is signed in with, the one used last first."""
    assert browser.session is not None
    return [
        OpenSession(
            created=kept.created,
            seen=kept.seen,
            expires=kept.expires,
            is_this=kept.digest == browser.session.digest,
        )
        for kept in sessions.of_person(session, browser.person)
    ]


@router.delete("/sessions")
def sign_out_elsewhere(browser: CurrentBrowser, session: Transaction) -> SignedOut:
    """Sign out everywhere but in this browser."""
    assert browser.session is not None
    count = sessions.close_all(session, browser.person, but=browser.session.digest)
    return SignedOut(count=count)
