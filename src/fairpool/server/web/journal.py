"""A line in the log for every request, and its numbers, by the pattern of its address."""

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairpool.server.web.measures import Measures

log = structlog.get_logger("fairpool.server")


class Journal:
    """Stands outside of everything else.

    Args:
        app: What is written about.
        measures: What counts.
    """

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self.app = app
        self.measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write down how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0
        received = 0
        began = time.monotonic()

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return message

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, counting, noting)
        finally:
            pattern = getattr(scope.get("route"), "path", "none")
            seconds = time.monotonic() - began
            taken = round(1000 * seconds)
            log.info(
                "request", method=scope["method"], path=pattern, status=status, milliseconds=taken
            )
            self.measures.count(
                method=scope["method"],
                route=pattern,
                status=status,
                seconds=seconds,
                received=received,
            )
