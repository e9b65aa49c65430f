"""How much a request may bring, and how slowly.

A body has at most `Settings.body_bytes`, whether its head says how long it is or not; who takes
uploads allows more for its own requests, by `allow_upload`.
"""

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairpool.server.settings import MEBIBYTE, Settings

SLOWEST = 4 * 1024
"""A body comes with so many bytes a second at least, on the whole."""

_KEY = "fairpool.body"


class Body:
    """What came of one request's body so far.

    Args:
        settings: How much, and how slowly.
        headers: Of the request.
    """

    def __init__(self, settings: Settings, headers: Headers) -> None:
        self.most = settings.body_bytes
        self.patience = settings.client_seconds
        length = headers.get("content-length", "")
        self.announced = int(length) if length.isdecimal() else 0
        self.received = 0
        self.is_complete = not length and "transfer-encoding" not in headers
        self.began: float | None = None

    async def next(self, receive: Receive) -> Message:
        """The next piece, if it comes in time and is not too much."""
        if self.is_complete:
            return await receive()
        self._check(self.announced)
        clock = asyncio.get_running_loop().time
        if self.began is None:
            self.began = clock()
        end = self.began + self.patience + self.received / SLOWEST
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(
                408, "what was sent came too slowly; try again from a better connection"
            ) from None
        if message["type"] == "http.request":
            self.received += len(message.get("body", b""))
            self._check(self.received)
            self.is_complete = not message.get("more_body", False)
        return message

    def _check(self, size: int) -> None:
        if size > self.most:
            raise HTTPException(
                413, f"what was sent is too large: at most {self.most / MEBIBYTE:g} MiB are taken"
            )


class BodyLimits:
    """Stands between the requests' bodies and whoever reads them.

    Args:
        app: Who reads.
        settings: How much, and how slowly.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its body in pieces as they are allowed."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = Body(self.settings, Headers(scope=scope))
        scope[_KEY] = body

        async def limited() -> Message:
            return await body.next(receive)

        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start" and not body.is_complete:
                # Whoever is answered before the end need not send the rest.
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self.app(scope, limited, closing)


def allow_upload(request: Request) -> None:
    """Let this request bring as much as an upload may have; before its stream is read."""
    request.scope[_KEY].most = request.app.state.settings.upload_bytes


UploadAllowed = Annotated[None, Depends(allow_upload)]
"""For an endpoint that reads `request.stream()`, and so has no parameter for its body."""
