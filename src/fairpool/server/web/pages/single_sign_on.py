"""Signing in at the provider of a house: going there, coming back, and linking it to an account.

Who goes there gets a page that leads on by itself. To answer a form with a redirect would do, too,
but browsers then want the provider among the addresses that forms of this service may be sent to;
so it stays nobody but the service itself.
"""

from typing import Annotated

from fastapi import Depends, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, Response

from fairpool.errors import FairpoolError
from fairpool.server.people import accounts, arrivals, identities
from fairpool.server.people.arrivals import Begun
from fairpool.server.people.identified import Identified
from fairpool.server.refused import ArrivalOverError, NotFoundError, NotSignedInError
from fairpool.server.settings import Settings
from fairpool.server.single_sign_on.configured import CALLBACK
from fairpool.server.single_sign_on.provider import Provider, refusal
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Arrival, Person
from fairpool.server.web.pages.account import HERE as ACCOUNT
from fairpool.server.web.pages.account import account_page
from fairpool.server.web.pages.frame import Refusal, page, see_other
from fairpool.server.web.pages.signing_in import after, sign_in_page
from fairpool.server.web.routing import page_router
from fairpool.server.web.security import own_path
from fairpool.server.web.signed_in import (
    CurrentBrowser,
    CurrentDatabase,
    CurrentSettings,
    MaybeSignedIn,
    SignedIn,
    Transaction,
    Visit,
    Visitor,
    set_cookie,
)

router = page_router()


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFoundError
    return provider


CurrentProvider = Annotated[Provider, Depends(_provider)]


@router.post("/sign-in/provider")
async def go_to_provider(
    request: Request,
    provider: CurrentProvider,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    next: Annotated[str, Form(max_length=2000)] = "",  # noqa: A002
) -> Response:
    """Go to the provider, to sign in there."""
    try:
        begun = await run_in_threadpool(_begun, database, visit, own_path(next))
        return await _leaving(request, provider, settings, begun, signed_in=None)
    except FairpoolError as error:
        return sign_in_page(request, wanted=next, refusal=Refusal.of(error))


@router.post("/account/provider")
async def link_provider(
    request: Request,
    browser: CurrentBrowser,
    provider: CurrentProvider,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
    shown: Annotated[str, Form(max_length=10_000)],
) -> Response:
    """Go to the provider, to link the identity there to the own account; the password is shown."""
    try:
        begun = await run_in_threadpool(
            _begun_linking, database, visit, browser.person, password=shown
        )
        return await _leaving(request, provider, settings, begun, signed_in=browser)
    except FairpoolError as error:
        told = Refusal.of(error)
        return await run_in_threadpool(account_page, request, browser, database, refusal=told)


@router.post("/account/provider/remove")
def unlink_provider(
    browser: CurrentBrowser,
    _provider: CurrentProvider,
    session: Transaction,
    settings: CurrentSettings,
) -> Response:
    """Sign in with the provider no longer."""
    identities.unlink(session, settings, browser.person)
    return see_other(ACCOUNT, "unlinked")


@router.get(CALLBACK)
async def come_back(
    request: Request,
    provider: CurrentProvider,
    signed_in: MaybeSignedIn,
    visit: Visitor,
    settings: CurrentSettings,
    database: CurrentDatabase,
) -> Response:
    """Come back from the provider: signed in there, or not."""
    given = request.query_params
    begun = Begun(
        state=given.get("state", ""), secret=request.cookies.get(_cookie_name(settings), "")
    )
    is_linking = False
    try:
        arrival = await run_in_threadpool(_ended, database, begun)
        is_linking = arrival.person_id is not None
        if "code" not in given:
            raise refusal(provider.settings.name, given.get("error", ""))
        who = await provider.redeem(
            given["code"], issuer=given.get("iss"), verifier=begun.verifier, nonce=begun.nonce
        )
        if is_linking:
            await run_in_threadpool(_link, database, signed_in, arrival, who)
            response: Response = see_other(ACCOUNT, "linked")
        else:
            response = await run_in_threadpool(_enter, database, settings, visit, arrival, who)
    except FairpoolError as error:
        told = Refusal.of(error)
        if is_linking and signed_in is not None and signed_in.session is not None:
            response = await run_in_threadpool(
                account_page, request, signed_in, database, refusal=told
            )
        else:
            response = sign_in_page(request, wanted="", refusal=told)
    response.delete_cookie(
        _cookie_name(settings),
        httponly=True,
        samesite="lax",
        secure=settings.is_encrypted_transport,
    )
    return response


def _begun(database: Database, visit: Visit, wanted: str) -> Begun:
    with database.transaction() as session:
        return arrivals.begin(session, host=visit.host, wanted=wanted)


def _begun_linking(database: Database, visit: Visit, person: Person, *, password: str) -> Begun:
    accounts.show_password(database, person, password=password, host=visit.host)
    with database.transaction() as session:
        return arrivals.begin(session, host=visit.host, wanted="", person=person)


async def _leaving(
    request: Request,
    provider: Provider,
    settings: Settings,
    begun: Begun,
    *,
    signed_in: SignedIn | None,
) -> HTMLResponse:
    """A page that leads to the provider, and the cookie with which its answer is taken."""
    address = await provider.address(state=begun.state, nonce=begun.nonce, verifier=begun.verifier)
    response = page("leaving", request, signed_in=signed_in, address=address)
    response.headers["Refresh"] = f"0;url={address}"
    response.set_cookie(
        _cookie_name(settings),
        begun.secret,
        max_age=round(arrivals.LASTS.total_seconds()),
        httponly=True,
        samesite="lax",  # the provider's page leads back here
        secure=settings.is_encrypted_transport,
    )
    return response


def _ended(database: Database, begun: Begun) -> Arrival:
    with database.transaction() as session:
        return arrivals.end(session, begun)


def _link(
    database: Database, signed_in: SignedIn | None, arrival: Arrival, who: Identified
) -> None:
    if signed_in is None or signed_in.session is None:
        raise NotSignedInError("sign in first")
    if signed_in.person.id != arrival.person_id:
        raise ArrivalOverError
    with database.transaction() as session:
        identities.link(session, signed_in.person, who)


def _enter(
    database: Database, settings: Settings, visit: Visit, arrival: Arrival, who: Identified
) -> Response:
    with database.transaction() as session:
        entered = identities.enter(
            session, settings, who, invitation_id=arrival.invitation_id, cookie=visit.cookie
        )
    response = see_other(after(arrival.wanted))
    set_cookie(response, settings, entered.opened.cookie)
    return response


def _cookie_name(settings: Settings) -> str:
    return "__Host-fairpool-arrival" if settings.is_encrypted_transport else "fairpool-arrival"
