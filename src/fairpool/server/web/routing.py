"""How the routers of the API and of the pages are made."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, model_validator

from fairpool.server.web.signed_in import Reading, Transaction

API = "/api/v1"


class Problems(BaseModel):
    """What every refusal of the API says."""

    problems: list[str]
    status: int


class Sent(BaseModel):
    """What a program sends: what is not known is refused, so that a slip of the pen shows."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _has_texts(cls, sent: Any) -> Any:
        """Refuse signs that JSON can hold, and no text, database or file can."""
        if not _is_text(sent):
            raise ValueError("there is a sign in it that is no letter; write it anew")
        return sent


def _is_text(value: Any) -> bool:
    """Whether all texts within can be kept: none has a NUL, or half of a sign."""
    level = [value]
    while level:  # not by recursion: it may be nested as deeply as Python allows
        one = level.pop()
        if isinstance(one, dict):
            level += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            level += one
        elif isinstance(one, str) and any(
            sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in one
        ):
            return False
    return True


_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problems, "description": "What was sent cannot be read."},
    401: {"model": Problems, "description": "Nobody is signed in, or the token is over."},
    403: {"model": Problems, "description": "Not by this way: see the text."},
    404: {"model": Problems, "description": "There is none, or it is not yours to see."},
    408: {"model": Problems, "description": "What was sent came too slowly."},
    409: {"model": Problems, "description": "Not now: see the text."},
    410: {"model": Problems, "description": "A link that no longer lets anybody in."},
    413: {"model": Problems, "description": "The body is too large."},
    422: {"model": Problems, "description": "What was sent cannot be used: all that is wrong."},
    429: {"model": Problems, "description": "Too many attempts; Retry-After says how long."},
    503: {"model": Problems, "description": "The database does not answer now."},
}


A_DOCUMENT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
"""What the API's document says of an endpoint that answers with a page of its own."""


class InOneThread(APIRoute):
    """An endpoint whose `Transaction` is kept in the thread that it runs in, as soon as it ends.

    Otherwise it would be kept once the answer is made, for which another thread is needed; and all
    threads may be in endpoints that wait for the lock which this transaction has.

    Args:
        path: Of the endpoint.
        endpoint: A plain function, where it takes a session: one that is asynchronous would keep
            everybody waiting while it waits for the database.
        more: As for any route.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, _keeping(endpoint), **more)


def _keeping(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    parameters = inspect.signature(endpoint).parameters
    kept = [name for name, one in parameters.items() if one.annotation == Transaction]
    read = [name for name, one in parameters.items() if one.annotation == Reading]
    if not kept and not read:
        return endpoint
    if inspect.iscoroutinefunction(endpoint):
        raise TypeError(
            f"{endpoint.__name__} is asynchronous, and must not wait for a database: take"
            " CurrentDatabase, and run what needs a session by run_in_threadpool"
        )

    @functools.wraps(endpoint)
    def in_one_thread(**given: Any) -> Any:
        answer = endpoint(**given)
        for name in kept:
            given[name].commit()
        for name in read:
            given[name].rollback()
        return answer

    return in_one_thread


def api_router() -> APIRouter:
    """A router of the API: JSON, under /api/v1."""
    return APIRouter(prefix=API, tags=["api"], responses=_REFUSALS, route_class=InOneThread)


def page_router() -> APIRouter:
    """A router of pages: HTML."""
    return APIRouter(tags=["pages"], default_response_class=HTMLResponse, route_class=InOneThread)
