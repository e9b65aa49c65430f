"""Asking a provider: for so long, for so much, and nobody else than it."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import structlog
from anyio import fail_after

from fairpool.server.refused import ProviderAwayError, ProviderWrongError

PATIENCE_SECONDS = 10.0
"""So long a person waits for a provider, whatever it does meanwhile."""

MOST_BYTES = 1 << 20
"""An answer has no more: what is expected has a few thousand."""

log = structlog.get_logger("fairpool.server")


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Reads answers up to their most bytes, as they are: what is packed may unpack to anything.

    Args:
        certificates: Of whom TLS is believed.
    """

    def __init__(self, certificates: ssl.SSLContext) -> None:
        self.inner = httpx2.AsyncHTTPTransport(verify=certificates)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask, and have the whole answer."""
        request.headers["Accept-Encoding"] = "identity"
        response = await self.inner.handle_async_request(request)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise httpx2.DecodingError("the answer is packed", request=request)
            content = bytearray()
            async for piece in response.stream:  # type: ignore[union-attr]
                content += piece
                if len(content) > MOST_BYTES:
                    raise httpx2.DecodingError("the answer does not end", request=request)
        finally:
            await response.aclose()
        return httpx2.Response(
            response.status_code, headers=response.headers, content=bytes(content), request=request
        )

    async def aclose(self) -> None:
        """End all connections."""
        await self.inner.aclose()


@asynccontextmanager
async def patiently(name: str) -> AsyncIterator[None]:
    """Say in words what goes wrong while a provider is asked, and wait for it no longer than so.

    Args:
        name: What people call it.
    """
    try:
        with fail_after(PATIENCE_SECONDS):
            yield
    except (TimeoutError, httpx2.TransportError) as error:
        if isinstance(error, httpx2.ProtocolError | httpx2.UnsupportedProtocol):
            raise wrong(name, "it does not speak HTTP") from None
        log.warning("provider", problem=type(error).__name__)
        raise ProviderAwayError(name) from None
    except httpx2.RequestError as error:
        raise wrong(name, str(error)) from None


def wrong(name: str, what: str) -> ProviderWrongError:
    """What is told when an answer of a provider cannot be believed; the log has it, too."""
    log.warning("provider", problem=what)
    return ProviderWrongError(name, what)


def json_object(name: str, response: httpx2.Response, what: str) -> dict[str, Any]:
    """The JSON object of an answer.

    Args:
        name: What people call the provider.
        response: As it came.
        what: What was asked for.
    """
    if response.status_code != 200:
        raise wrong(name, f"{what}: status {response.status_code}")
    try:
        found = response.json()
    except (ValueError, RecursionError):
        raise wrong(name, f"{what}: no JSON") from None
    if not isinstance(found, dict):
        raise wrong(name, f"{what}: no JSON object")
    return found
