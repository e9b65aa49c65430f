"""A line in the log for every request, by the pattern of its address."""

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger("fairpool.server")


class Journal:
    """Stands outside of everything else.

    Args:
        app: What is written about.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write down how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0
        began = time.monotonic()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            pattern = getattr(scope.get("route"), "path", "none")
            taken = round(1000 * (time.monotonic() - began))
            log.info(
                "request", method=scope["method"], path=pattern, status=status, milliseconds=taken
            )
