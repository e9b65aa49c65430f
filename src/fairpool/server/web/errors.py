"""What people and programs are told when something is refused or fails: never a traceback.

Programs get `{"problems": [...], "status": 404}`, people a page. What is hidden and what does not
exist are told in the same bytes.
"""

import errno
import secrets
import traceback
from collections.abc import Sequence
from urllib.parse import quote

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from sqlalchemy.exc import DataError as DatabaseDataError
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException

from fairpool.errors import FairpoolError, printable
from fairpool.server.refused import NotFoundError, NotSignedInError, RefusedError, TooManyError
from fairpool.server.web.templating import rendered

SIGN_IN = "/sign-in"

UNUSABLE = 422
"""What was sent cannot be used."""

TITLES = {
    400: "This request cannot be read",
    401: "Please sign in",
    403: "Not by this way",
    404: "Nothing here for you",
    405: "Not by this way",
    408: "That took too long",
    409: "Not now",
    410: "This link is over",
    413: "Too large",
    421: "Another address",
    422: "This cannot be used yet",
    429: "Please wait a little",
    500: "Something went wrong here",
    503: "Back in a moment",
}

TEXTS = {
    400: "the request cannot be read; load the page again and try once more",
    405: "this address takes no such request; go back and load the page again",
}

log = structlog.get_logger("fairpool.server")


def answer(
    path: str, status: int, problems: Sequence[str], headers: dict[str, str] | None = None
) -> Response:
    """A refusal, as whoever asked for an address can use it."""
    texts = [printable(problem) for problem in problems]
    if path.startswith("/api/"):
        content = {"problems": texts, "status": status}
        return JSONResponse(content, status_code=status, headers=headers)
    page = rendered("error.html", title=TITLES.get(status, "Something is wrong"), problems=texts)
    return HTMLResponse(page, status_code=status, headers=headers)


def add_handlers(app: FastAPI) -> None:
    """Have every error that a request can end in answered."""
    app.add_exception_handler(FairpoolError, _refused)
    app.add_exception_handler(RequestValidationError, _unusable)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_exception_handler(DBAPIError, _no_database)
    app.add_exception_handler(NoConnection, _no_database)
    app.add_exception_handler(OSError, _no_disk)
    app.add_exception_handler(DatabaseDataError, _unkept)


def unexpected(path: str, error: BaseException) -> Response:
    """What is told of an error that nobody foresaw; the log has the rest under a number."""
    number = secrets.token_hex(4)
    # As text: whoever formats an exception may write variables out, and secrets among them.
    log.error("unexpected", number=number, trace="".join(traceback.format_exception(error)))
    return answer(
        path,
        500,
        [
            f"something went wrong here, number {number}; try again, and if it stays so, tell"
            " whoever runs this service the number"
        ],
    )


def _refused(request: Request, error: Exception) -> Response:
    """What `FairpoolError` says; where nobody is signed in, a page leads to the place for that."""
    assert isinstance(error, FairpoolError)
    path = request.url.path
    status = error.status if isinstance(error, RefusedError) else UNUSABLE
    headers: dict[str, str] = {}
    if isinstance(error, TooManyError):
        headers["Retry-After"] = str(error.seconds)
    if isinstance(error, NotSignedInError):
        if not path.startswith("/api/"):
            return _to_sign_in(request)
        headers["WWW-Authenticate"] = "Bearer"
    return answer(path, status, error.problems, headers)


def _to_sign_in(request: Request) -> Response:
    """To the page for signing in, and from there back to what was asked for."""
    address = SIGN_IN
    if request.method == "GET" and request.url.path != "/":
        address += "?next=" + quote(request.url.path, safe="")
    if "HX-Request" in request.headers:
        # A part of a page is asked for: the whole page must go there.
        return Response(status_code=204, headers={"HX-Redirect": SIGN_IN})
    return RedirectResponse(address, status_code=303)


def _unusable(request: Request, error: Exception) -> Response:
    """All that is wrong with what was sent, field by field."""
    assert isinstance(error, RequestValidationError)
    problems = []
    for fault in error.errors():
        place = ".".join(str(part) for part in fault["loc"][1:])
        problems.append(f"{place}: {fault['msg']}" if place else str(fault["msg"]))
    return answer(request.url.path, UNUSABLE, problems)


def _by_status(request: Request, error: Exception) -> Response:
    """What the web's own errors are: no such address, no such method, a body that is too large."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    headers = dict(error.headers or {})
    if error.status_code == 404:
        return answer(path, 404, NotFoundError().problems)
    text = TEXTS.get(error.status_code, str(error.detail))
    return answer(path, error.status_code, [text], headers)


def _unkept(request: Request, error: Exception) -> Response:
    """A text that the database cannot keep: Postgres takes no NUL, nor more than fits."""
    log.warning("unkept", problem=type(error.__cause__).__name__)
    text = "something in it cannot be kept: write it anew, and shorter where it is long"
    return answer(request.url.path, UNUSABLE, [text])


def _no_disk(request: Request, error: Exception) -> Response:
    """The disk is full: whoever runs the service must know, and nobody else can do anything."""
    assert isinstance(error, OSError)
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return unexpected(request.url.path, error)
    log.error("disk", problem=error.strerror)
    text = (
        "the disk of this service is full; nothing was changed: tell whoever runs it, and try again"
        " later"
    )
    return answer(request.url.path, 503, [text], {"Retry-After": "300"})


def _no_database(request: Request, error: Exception) -> Response:
    """The database is gone for a moment, or what it holds to itself was broken."""
    is_away = isinstance(error, NoConnection | OperationalError)
    if not is_away and not (isinstance(error, DBAPIError) and error.connection_invalidated):
        return unexpected(request.url.path, error)
    log.error("database", problem=str(error).splitlines()[:1])
    text = "the database does not answer now; nothing was changed, try again in a minute"
    return answer(request.url.path, 503, [text], {"Retry-After": "30"})
