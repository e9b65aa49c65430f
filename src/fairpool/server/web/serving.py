"""Serving the application on a socket, to clients that are quick enough.

Uvicorn waits for a slow client as long as it takes. Here whoever takes too long for the head of a
request, or for reading an answer, is cut off; how slowly a body may come is in `bodies`.
"""

import asyncio
import signal
import socket
from typing import cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairpool.errors import DataError
from fairpool.server.settings import Settings
from fairpool.server.web.bodies import SLOWEST

MOST_CONNECTIONS = 500
"""Of more at a time, whoever comes last is asked to come again."""

IDLE_SECONDS = 5
"""A connection that nothing is asked on is closed."""

GRACE_SECONDS = 10
"""Requests have so long to end when the service is stopped."""

LOOKS = 8
"""So many times within a client's patience a connection is looked at."""


class QuickClients(H11Protocol):
    """A connection that is ended when its client keeps it waiting."""

    patience = Settings.client_seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at it."""
        super().connection_made(transport)
        self._moved = self.loop.time()
        self._unread = 0
        self._next_look = self.loop.call_later(self.patience / LOOKS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """End looking at it."""
        self._next_look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """From here on, the client's next request is waited for."""
        self._moved = self.loop.time()
        super().on_response_complete()

    def _look(self) -> None:
        unread = self.transport.get_write_buffer_size()
        is_answering = self.cycle is not None and not self.cycle.response_complete
        enough = SLOWEST * self.patience / LOOKS
        if unread:
            is_moving = unread > self._unread or self._unread - unread >= enough
        else:
            # Nobody waits for the client, unless it has not even said what it wants.
            is_moving = is_answering
        if is_moving:
            self._moved = self.loop.time()
        self._unread = unread
        if self.loop.time() - self._moved > self.patience:
            self.transport.abort()
            return
        self._next_look = self.loop.call_later(self.patience / LOOKS, self._look)


def listening(host: str, port: int) -> socket.socket:
    """A socket that clients can connect to; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=MOST_CONNECTIONS)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DataError(
            f"--host {host} --port {port}: cannot listen there ({why}); is another service running?"
            " Take another --port"
        ) from None


def serve(app: FastAPI, settings: Settings, listener: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C; requests that run then are answered first."""
    protocol = cast(
        "type[asyncio.Protocol]",
        type("Protocol", (QuickClients,), {"patience": settings.client_seconds}),
    )
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        # Only TLS needs a proxy; without one, anybody could claim to come from anywhere.
        proxy_headers=settings.is_encrypted_transport,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # Uvicorn raises the signal that stopped it once more, for whoever had it before.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])
