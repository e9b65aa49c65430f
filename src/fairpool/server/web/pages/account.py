"""One's own account: name, password, tokens, and where one is signed in."""

from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, Response

from fairpool.errors import FairpoolError
from fairpool.server.consortia import members
from fairpool.server.mail.choice import choose
from fairpool.server.people import accounts, identities, sessions, tokens
from fairpool.server.refused import RefusedError
from fairpool.server.store.database import Database
from fairpool.server.web.pages.account_views import (
    FreshToken,
    SessionLine,
    TokenLine,
    mail_choices,
)
from fairpool.server.web.pages.frame import Refusal, page, see_other
from fairpool.server.web.routing import page_router
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    SignedIn,
    Visitor,
    clear_cookie,
    set_cookie,
    settings_of,
)

router = page_router()

HERE = "/account"
TOKEN_DAYS = 90


@router.get(HERE)
def show_account_page(
    request: Request, browser: CurrentBrowser, database: CurrentDatabase
) -> HTMLResponse:
    """One's own account."""
    return account_page(request, browser, database)


@router.post(HERE + "/name")
def change_name(
    request: Request,
    browser: CurrentBrowser,
    database: CurrentDatabase,
    name: Annotated[str, Form(max_length=1000)],
) -> Response:
    """Be called otherwise."""
    try:
        with database.transaction() as session:
            accounts.rename(session, browser.person, name)
    except FairpoolError as error:
        return account_page(request, browser, database, refusal=Refusal.of(error))
    return see_other(HERE, "name")


@router.post(HERE + "/mail")
def change_mail(
    request: Request,
    browser: CurrentBrowser,
    database: CurrentDatabase,
    mail: Annotated[str, Form(max_length=100)],
) -> Response:
    """Have mail when it is one's turn, once a day at most, or never."""
    try:
        with database.transaction() as session:
            choose(session, browser.person, mail)
    except FairpoolError as error:
        return account_page(request, browser, database, refusal=Refusal.of(error))
    return see_other(HERE, "saved")


@router.post(HERE + "/password")
def change_own_password(
    request: Request,
    browser: CurrentBrowser,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    old: Annotated[str, Form(max_length=10_000)],
    password: Annotated[str, Form(max_length=10_000)],
) -> Response:
    """Have another password; all other browsers are signed out."""
    try:
        opened = accounts.change_password(
            database, settings, browser.person, old=old, new=password, host=visit.host
        )
    except FairpoolError as error:
        return account_page(request, browser, database, refusal=Refusal.of(error))
    response = see_other(HERE, "password")
    set_cookie(response, settings, opened.cookie)
    return response


@router.post(HERE + "/tokens")
def make_own_token(
    request: Request,
    browser: CurrentBrowser,
    database: CurrentDatabase,
    label: Annotated[str, Form(max_length=1000)],
) -> Response:
    """A new token, shown in the answer and nowhere else."""
    try:
        with database.transaction() as session:
            token, secret = tokens.make(session, browser.person, name=label, days=TOKEN_DAYS)
    except FairpoolError as error:
        return account_page(request, browser, database, refusal=Refusal.of(error))
    fresh = FreshToken(name=token.name, secret=secret)
    return account_page(request, browser, database, fresh=fresh)


@router.post(HERE + "/tokens/{token_id}/revoke")
def revoke_own_token(token_id: str, browser: CurrentBrowser, database: CurrentDatabase) -> Response:
    """End a token."""
    with database.transaction() as session:
        tokens.revoke(session, browser.person, token_id)
    return see_other(HERE, "revoked")


@router.post(HERE + "/sessions")
def sign_out_everywhere_else(browser: CurrentBrowser, database: CurrentDatabase) -> Response:
    """Sign out everywhere but here."""
    assert browser.session is not None
    with database.transaction() as session:
        sessions.close_all(session, browser.person, but=browser.session.digest)
    return see_other(HERE, "session")


@router.post(HERE + "/close")
def close_own_account(
    request: Request,
    browser: CurrentBrowser,
    settings: CurrentSettings,
    database: CurrentDatabase,
    sure: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Leave all collaborations, and have no account any longer."""
    try:
        if sure != "yes":
            raise RefusedError("say that you are sure, then close the account")
        with database.transaction() as session:
            members.leave_service(session, browser.person)
    except FairpoolError as error:
        return account_page(request, browser, database, refusal=Refusal.of(error))
    response = see_other("/sign-in", "account-closed")
    clear_cookie(response, settings)
    return response


def account_page(
    request: Request,
    browser: SignedIn,
    database: Database,
    *,
    refusal: Refusal | None = None,
    fresh: FreshToken | None = None,
) -> HTMLResponse:
    """One's own account, and why something was not done."""
    settings = settings_of(request)
    assert browser.session is not None
    with database.reading() as session:
        own_tokens = tokens.of_person(session, browser.person)
        browsers = sessions.of_person(session, browser.person)
        linked = settings.provider is not None and (
            identities.of_person(session, browser.person, settings.provider.issuer) is not None
        )
    return page(
        "account",
        request,
        signed_in=browser,
        refusal=refusal,
        fresh=fresh,
        mail=mail_choices(browser.person.mail),
        sends_mail=request.app.state.settings.mail is not None,
        days=TOKEN_DAYS,
        has_password=settings.has_passwords and bool(browser.person.password),
        is_linked=linked,
        tokens=[
            TokenLine(
                name=token.name,
                expires=token.expires,
                used=token.used,
                revoke=f"{HERE}/tokens/{token.id}/revoke",
            )
            for token in own_tokens
        ],
        sessions=[
            SessionLine(
                created=one.created,
                seen=one.seen,
                is_this=one.digest == browser.session.digest,
            )
            for one in browsers
        ],
    )
