"""Requests to a service, one connection each: tried again where that is safe, and only there.

The token goes to the service's own address and nowhere else: no redirect is followed. What is read
is bounded, and what is sent or saved goes piece by piece.
"""

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeVar
from urllib.parse import quote, urlencode

from fairpool.__about__ import __version__
from fairpool.client.address import Address
from fairpool.client.proxy import proxy_for
from fairpool.client.refused import RefusedByServiceError, UnreachableError
from fairpool.client.token import Token
from fairpool.compute.files import write_atomically
from fairpool.errors import ServiceError, cut, shown

Result = TypeVar("Result")

API = "/api/v1"

PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds before a request is tried again."""

LONGEST_PAUSE = 30.0
"""Seconds: where the service asks for more patience, whoever runs the program decides."""

PATIENCE = 60.0
"""Seconds without a sign of life before a connection counts as lost."""

MOST_JSON = 64 << 20
MOST_REFUSAL = 1 << 20
"""Bytes of an answer that are read into memory."""

PIECE = 1 << 18

TOO_MANY = 429
AWAY = (502, 503, 504)
"""The service, or what stands before it, is not there for a moment."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a service.

    Attributes:
        method: Of HTTP.
        path: Below /api/v1, such as "/account".
        query: Behind it.
        sent: What goes as JSON; None: nothing.
        file: What goes as it is; None: nothing.
        is_repeatable: Whether the service does the same if it is asked twice.
        patience: Seconds without a sign of life before it counts as lost.
    """

    method: str = "GET"
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    sent: object = None
    file: BinaryIO | None = None
    is_repeatable: bool = True
    patience: float = PATIENCE

    @property
    def address(self) -> str:
        """What stands behind the host's name."""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return f"{API}{quote(self.path)}{query}"

    def __str__(self) -> str:
        return f"{self.method} {API}{self.path}"


class _LostError(Exception):
    """The service was not reached, or the connection was lost.

    Args:
        why: In words.
        is_unsent: Whether the service cannot have begun.
    """

    def __init__(self, why: str, *, is_unsent: bool = False) -> None:
        super().__init__(why)
        self.is_unsent = is_unsent


class _BusyError(Exception):
    """The service wants to be asked later.

    Args:
        refusal: What it said.
        seconds: When; None: it does not say.
        is_undone: Whether it has certainly done nothing.
    """

    def __init__(
        self, refusal: RefusedByServiceError, *, seconds: float | None, is_undone: bool
    ) -> None:
        super().__init__()
        self.refusal = refusal
        self.seconds = seconds
        self.is_undone = is_undone


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A way to a service.

    Attributes:
        address: Where it is.
        token: Who asks.
        pauses: Seconds before each further try.
    """

    address: Address
    token: Token
    pauses: tuple[float, ...] = PAUSES

    def ask(self, request: Request) -> bytes:
        """The whole answer to a request, which is no large file."""
        return self._persistently(request, _whole)

    def save(self, request: Request, path: Path) -> None:
        """Write the answer to a request to a file, piece by piece.

        Args:
            request: What is asked for; it is repeatable.
            path: A file in a folder that is there, for this user alone.
        """
        self._persistently(request, lambda answer: write_atomically(path, _pieces(answer)))

    def _persistently(
        self, request: Request, take: Callable[[http.client.HTTPResponse], Result]
    ) -> Result:
        """What becomes of the answer to a request, at the first try that succeeds."""
        for pause in (*self.pauses, None):
            try:
                with self._answer(request) as answer:
                    return take(answer)
            except _LostError as lost:
                is_safe = lost.is_unsent or request.is_repeatable
                if not is_safe:
                    raise UnreachableError(
                        f"{self.address}: the connection was lost ({lost}), and nobody can say"
                        f" whether {request} was done; look there before you ask for it again"
                    ) from None
                if pause is None:
                    raise UnreachableError(
                        f"{self.address}: cannot be reached ({lost}); is the address right, and the"
                        " service running? Try again later"
                    ) from None
            except _BusyError as busy:
                is_safe = busy.is_undone or request.is_repeatable
                wanted = busy.seconds or 0.0
                if pause is None or not is_safe or wanted > LONGEST_PAUSE:
                    raise busy.refusal from None
                pause = max(pause, wanted)
            time.sleep(pause)
        raise AssertionError("the last try ends the loop")

    @contextmanager
    def _answer(self, request: Request) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request, whose body is still to be read."""
        with closing(self._connected(request)) as connection:
            try:
                self._send(connection, request)
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                raise _LostError(_why(error)) from None
            if not 200 <= answer.status < 300:
                self._refuse(request, answer)
            yield answer

    def _connected(self, request: Request) -> http.client.HTTPConnection:
        connection = self._begun(request.patience)
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise UnreachableError(
                f"{self.address}: its certificate is not to be trusted"
                f" ({error.verify_message}), so that nothing was sent; is it the right address? A"
                " certificate of your own house is trusted by the file in SSL_CERT_FILE"
            ) from None
        except OSError as error:
            raise _LostError(_why(error), is_unsent=True) from None
        return connection

    def _begun(self, patience: float) -> http.client.HTTPConnection:
        """A connection that is not made yet: through the proxy of the house, where there is one."""
        where = (self.address.host, self.address.port)
        if not self.address.is_encrypted:
            return http.client.HTTPConnection(*where, timeout=patience, blocksize=PIECE)
        context = ssl.create_default_context()
        proxy = proxy_for(self.address)
        if proxy is None:
            return http.client.HTTPSConnection(
                *where, timeout=patience, context=context, blocksize=PIECE
            )
        connection = http.client.HTTPSConnection(
            *proxy, timeout=patience, context=context, blocksize=PIECE
        )
        # TLS is spoken with the service, so that the proxy sees its name and nothing else.
        connection.set_tunnel(*where)
        return connection

    def _send(self, connection: http.client.HTTPConnection, request: Request) -> None:
        headers = {
            "Host": self.address.netloc,
            "Authorization": f"Bearer {self.token.text}",
            "User-Agent": f"fairpool/{__version__}",
            "Connection": "close",
        }
        body: bytes | BinaryIO | None = None
        if request.sent is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(request.sent).encode()
        elif request.file is not None:
            headers["Content-Type"] = "application/octet-stream"
            request.file.seek(0, 2)
            headers["Content-Length"] = str(request.file.tell())
            request.file.seek(0)
            body = request.file
        elif request.method != "GET":
            headers["Content-Length"] = "0"
        # Whoever wants no more of it may have said why: the answer is still to be read.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(request.method, request.address, body=body, headers=headers)

    def _refuse(self, request: Request, answer: http.client.HTTPResponse) -> None:
        """Raise what an answer means that is no success."""
        status = answer.status
        if 300 <= status < 400:
            elsewhere = self.token.hidden_in(answer.getheader("Location") or "elsewhere")
            raise RefusedByServiceError(
                f"{self.address}: sends requests on to {shown(elsewhere)}, where your token does"
                " not go; give that address, if it is your service's",
                status=status,
            )
        problems = _problems(_whole(answer, MOST_REFUSAL))
        if problems is None:
            problems = [
                f"{self.address}: answered {request} with {status}, and not as a service of"
                " fairpool does; is the address right?"
            ]
        hidden = [self.token.hidden_in(problem) for problem in problems]
        refusal = RefusedByServiceError(*hidden, status=status)
        if status == TOO_MANY or status in AWAY:
            raise _BusyError(
                refusal,
                seconds=_seconds(answer.getheader("Retry-After")),
                is_undone=status == TOO_MANY,
            )
        raise refusal


def _whole(answer: http.client.HTTPResponse, most: int = MOST_JSON) -> bytes:
    """An answer's body, which is not that large."""
    content = b""
    for piece in _pieces(answer):
        content += piece
        if len(content) > most:
            raise ServiceError(
                f"the service answers with more than the {most} bytes that are read at once; is it"
                " the right address?"
            )
    return content


def _pieces(answer: http.client.HTTPResponse) -> Iterator[memoryview]:
    """An answer's body, which must come to its announced end."""
    lacking = answer.length
    while piece := _piece(answer):
        if lacking is not None:
            lacking -= len(piece)
        yield memoryview(piece)
    if lacking:
        raise _LostError(f"{lacking} bytes of the answer did not come")


def _piece(answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read(PIECE)
    except (OSError, http.client.HTTPException) as error:
        raise _LostError(_why(error)) from None


def _problems(content: bytes) -> list[str] | None:
    """What a service says is wrong; None: no service of fairpool says this."""
    try:
        problems = json.loads(content)["problems"]
        texts = [problem for problem in problems if isinstance(problem, str)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return texts or None


def _seconds(text: str | None) -> float | None:
    if text is None or not text.isascii() or not text.isdecimal():
        return None
    return float(text)


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return cut(str(text))
