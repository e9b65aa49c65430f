"""What holds for every request and answer, whatever it is about.

A request must be for the service's own address, and one that changes something must not come from
another site's page. Every answer tells browsers to run nothing of a page but the service's own
script, to show it in no other site's frame, and to keep no copy.
"""

from urllib.parse import quote, urlsplit

from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairpool.server.refused import NotFoundError
from fairpool.server.settings import Settings
from fairpool.server.starting import LOOPBACK
from fairpool.server.web.errors import TEXTS, answer, unexpected

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
"""A page runs the service's own script, talks to the service, and stands in nobody's frame."""

DOCUMENT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval';"
    " style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'self'"
)
"""A report or a letter: it moves and talks to nobody, as a site of its own without any cookie."""

WATCHED = frozenset({"/healthz", "/readyz", "/metrics"})
"""What is asked for behind a proxy, too, where the service is at 127.0.0.1: nobody's things."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""They change nothing."""

ALWAYS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
"""What every answer has, unless it says something else itself."""


class DocumentResponse(Response):
    """A report or a letter, shown in a page's `<iframe sandbox="allow-scripts">`.

    The class names no media type, or the API's document would have its refusals in HTML, too.
    """

    def __init__(self, content: str | bytes, status_code: int = 200) -> None:
        headers = {"Content-Security-Policy": DOCUMENT_POLICY}
        super().__init__(content, status_code, headers, media_type="text/html")


class Guard:
    """Stands before the whole application.

    Args:
        app: What it stands before.
        settings: Which address the service has.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.hosts = _hosts(settings.address)
        self.scheme = urlsplit(settings.address).scheme

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._add_headers(message)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            status, text = refusal
            # What follows on the connection may be the body of this one.
            headers = {"Connection": "close"}
            await answer(scope["path"], status, [text], headers)(scope, receive, guarded)
            return
        try:
            await self.app(scope, receive, guarded)
        except ClientDisconnect:
            return
        except Exception as error:
            response = unexpected(scope["path"], error)
            if started:
                raise
            await response(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused before anybody looks at it; None: it is not."""
        if "\0" in scope["path"]:
            # Databases differ in what they make of it.
            return 404, NotFoundError().problems[0]
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and (
            "content-length" in headers or scope.get("http_version") == "1.0"
        ):
            # A proxy may see the end of the body elsewhere, and somebody else's request after it.
            return 400, TEXTS[400]
        host = headers.get("host", "").lower()
        if host not in self.hosts and not _is_watched(scope["path"], host):
            # Another name for this machine: a page of that name could read what is shown here.
            return 421, f"this service is at {self.settings.address}; go there"
        if scope["method"] in SAFE_METHODS or "authorization" in headers:
            return None
        origin = headers.get("origin")
        is_other = origin is not None and origin.lower() != f"{self.scheme}://{host}"
        if is_other or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this came from another site's page; do it on a page of this service"
        return None

    def _add_headers(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        for name, value in ALWAYS.items():
            headers.setdefault(name, value)
        if "frame-ancestors 'none'" in headers["Content-Security-Policy"]:
            headers["X-Frame-Options"] = "DENY"
        if self.settings.is_encrypted_transport:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")


def _hosts(address: str) -> frozenset[str]:
    """What a request may call the service."""
    parts = urlsplit(address)
    netloc = parts.netloc.lower()
    if parts.hostname not in LOOPBACK:
        return frozenset({netloc})
    port = "" if parts.port is None else f":{parts.port}"
    return frozenset({netloc, f"localhost{port}", f"127.0.0.1{port}", f"[::1]{port}"})


def _is_watched(path: str, host: str) -> bool:
    """Whether somebody on this machine watches the service, by the machine's name for itself."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return path in WATCHED and name.strip("[]") in LOOPBACK


def own_path(wanted: str | None) -> str:
    r"""Where to go next, if that is a path of this service; otherwise to its first page.

    >>> own_path("/collaborations/x?round=2"), own_path("//evil.org"), own_path("/\\evil.org")
    ('/collaborations/x?round=2', '/', '/')
    """
    if not wanted or not wanted.startswith("/") or wanted.startswith("//"):
        return "/"
    if "\\" in wanted or not wanted.isascii() or not wanted.isprintable():
        return "/"
    return wanted


def download_headers(name: str) -> dict[str, str]:
    r"""What makes a browser save an answer under a name, whatever signs the name has.

    >>> download_headers('a"b\r\nX: y.csv')["Content-Disposition"]
    'attachment; filename="a_b__X_ y.csv"; filename*=UTF-8\'\'a_b__X_%20y.csv'
    """
    safe = "".join(sign if sign.isalnum() or sign in " ._-()" else "_" for sign in name)[:200]
    plain = safe.encode("ascii", "replace").decode("ascii").replace("?", "_")
    quoted = quote(safe, safe="")
    return {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quoted}"}
