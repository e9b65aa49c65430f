"""Who asks: what endpoints take as parameters, each by its annotation.

- `CurrentPerson`: whoever is signed in by cookie or token; otherwise the answer is 401.
- `CurrentBrowser`: the same for what only a browser may do (passwords, tokens).
- `MaybeSignedIn`: the same, or None.
- `Transaction`: an open session, kept as a whole before the answer is sent, or not at all.
- `Reading`: an open session that only reads.
- `Visitor`: where the request comes from, and the cookie it has, for signing in.
- `CurrentSettings`, `CurrentDatabase`.

A browser that changes something must send the token of its session's forms, too: as the field
`form_token`, or as the header X-Form-Token. That is looked at here, for every endpoint that wants
to know who asks.

Take a `Transaction` or `Reading` in the endpoint alone, not in another dependency, and use it in no
function that is asynchronous: on SQLite a transaction is everybody's only right to write from its
first query on, and must end in the thread that it began in (`routing.InOneThread`).
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from anyio import CancelScope, CapacityLimiter, to_thread
from fastapi import Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from fairpool.server.people import identities, sessions, tokens
from fairpool.server.people.secret_words import is_same
from fairpool.server.refused import NotAllowedError, NotSignedInError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import ApiToken, BrowserSession, Person
from fairpool.server.web.security import SAFE_METHODS

FORM_TOKEN = "form_token"
FORM_TOKEN_HEADER = "X-Form-Token"

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

_bearer = HTTPBearer(auto_error=False, description="A token of your account: fp_...")


@dataclass(frozen=True, kw_only=True)
class SignedIn:
    """Who is signed in, and by what: exactly one of session and token is there."""

    person: Person
    session: BrowserSession | None = None
    token: ApiToken | None = None

    @property
    def form_token(self) -> str:
        """What forms of this browser carry; of a program: nothing."""
        return "" if self.session is None else self.session.form_token


def is_still_in(session: Session, signed_in: SignedIn) -> bool:
    """Whether somebody who was signed in when an answer began still is: it may go on for long."""
    if signed_in.session is not None:
        return sessions.is_open(session, signed_in.session.digest)
    return signed_in.token is not None and tokens.is_valid(session, signed_in.token.id)


def settings_of(request: Request) -> Settings:
    """How the service is set up."""
    settings: Settings = request.app.state.settings
    return settings


def database_of(request: Request) -> Database:
    """The service's database."""
    database: Database = request.app.state.database
    return database


CurrentSettings = Annotated[Settings, Depends(settings_of)]
CurrentDatabase = Annotated[Database, Depends(database_of)]


async def transaction(database: CurrentDatabase) -> AsyncIterator[Session]:
    """A session whose work `routing.InOneThread` keeps when the endpoint has ended."""
    session = database.open_session()
    try:
        yield session
    finally:
        await _closed(session)


async def reading(database: CurrentDatabase) -> AsyncIterator[Session]:
    """A session that only reads."""
    session = database.open_session(only_reads=True)
    try:
        yield session
    finally:
        await _closed(session)


async def _closed(session: Session) -> None:
    with CancelScope(shield=True):
        # Not in one of the threads that endpoints run in: all of these may be waiting.
        await to_thread.run_sync(session.close, limiter=CapacityLimiter(1))


# "function": closed before the answer is sent, however long that takes.
Transaction = Annotated[Session, Depends(transaction, scope="function")]
Reading = Annotated[Session, Depends(reading, scope="function")]


def cookie_name(settings: Settings) -> str:
    """What the cookie is called; by TLS so that no other host can set it."""
    return "__Host-fairpool" if settings.is_encrypted_transport else "fairpool"


def set_cookie(response: Response, settings: Settings, cookie: str) -> None:
    """Have a browser stay signed in."""
    response.set_cookie(
        cookie_name(settings),
        cookie,
        httponly=True,
        samesite="lax",
        secure=settings.is_encrypted_transport,
        path="/",
    )


def clear_cookie(response: Response, settings: Settings) -> None:
    """Have a browser forget that it was signed in."""
    response.delete_cookie(
        cookie_name(settings),
        httponly=True,
        samesite="lax",
        secure=settings.is_encrypted_transport,
        path="/",
    )


def cookie_of(request: Request) -> str | None:
    """The cookie of a request."""
    return request.cookies.get(cookie_name(settings_of(request)))


def host_of(request: Request) -> str:
    """Where a request comes from; behind a proxy, what that says."""
    return "unknown" if request.client is None else request.client.host


def _shown(
    request: Request,
    settings: CurrentSettings,
    database: CurrentDatabase,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> SignedIn | None:
    """Who shows a valid token or cookie; a token alone counts where both are sent."""
    if "authorization" in request.headers:
        return None if bearer is None else _by_token(database, settings, bearer.credentials)
    cookie = cookie_of(request)
    if not cookie:
        return None
    with database.reading() as session:
        found = sessions.find(session, cookie)
    if found is None:
        return None
    kept, person = found
    if sessions.is_due(kept):
        with database.transaction() as session:
            sessions.prolong(session, settings, kept.digest)
    return SignedIn(person=person, session=kept)


def _by_token(database: Database, settings: Settings, secret: str) -> SignedIn | None:
    with database.reading() as session:
        found = tokens.find(session, secret)
    if found is None:
        return None
    token, person = found
    with database.reading() as session:
        if not identities.is_confirmed(session, settings, person):
            return None
    if tokens.is_due(token):
        with database.transaction() as session:
            tokens.note_use(session, token.id)
    return SignedIn(person=person, token=token)


async def _maybe(
    request: Request, shown: Annotated[SignedIn | None, Depends(_shown)]
) -> SignedIn | None:
    """Who is signed in, if the request is one of their own pages'."""
    if shown is None or shown.session is None or request.method in SAFE_METHODS:
        return shown
    sent = request.headers.get(FORM_TOKEN_HEADER)
    if sent is None and request.headers.get("content-type", "").startswith(_FORMS):
        field = (await request.form()).get(FORM_TOKEN)
        sent = field if isinstance(field, str) else None
    if sent is None or not is_same(sent, shown.session.form_token):
        raise NotAllowedError(
            "this page is from before you signed in; load it again and try once more"
        )
    return shown


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Where a request comes from, and the cookie it has, whether it is worth something or not."""

    host: str
    cookie: str | None


def _visit(request: Request) -> Visit:
    return Visit(host=host_of(request), cookie=cookie_of(request))


Visitor = Annotated[Visit, Depends(_visit)]

MaybeSignedIn = Annotated[SignedIn | None, Depends(_maybe)]


async def _signed_in(maybe: MaybeSignedIn) -> SignedIn:
    if maybe is None:
        raise NotSignedInError("sign in first; a program needs a token of your account page")
    return maybe


CurrentSignedIn = Annotated[SignedIn, Depends(_signed_in)]


async def _browser(signed_in: CurrentSignedIn) -> SignedIn:
    if signed_in.session is None:
        raise NotAllowedError("a token cannot do this; sign in with your password in a browser")
    return signed_in


CurrentBrowser = Annotated[SignedIn, Depends(_browser)]


async def _person(signed_in: CurrentSignedIn) -> Person:
    return signed_in.person


CurrentPerson = Annotated[Person, Depends(_person)]
