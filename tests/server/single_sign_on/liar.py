"""A provider that answers what a test wants, over a real socket: nobody honest would."""

import base64
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.server.single_sign_on.real_provider import CLIENT_ID

KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
LATER_KEY = RSAKey.generate_key(2048, {"kid": "two", "use": "sig"})

Changed = Callable[[dict[str, Any]], Any]


class Liar(ThreadingHTTPServer):
    """A provider whose every answer can be changed.

    Attributes:
        answers: What it says at an address: a change of what an honest one would say, or bytes.
        claims: A change of what it signs.
        sign: How it signs.
        key: Which key it publishes.
        asked: What it was asked for, in order.
        nonce: Of the sign-in that was begun last.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.ended = threading.Event()
        self.become_honest()

    def become_honest(self) -> None:
        """Answer as a provider should, from now on."""
        self.answers: dict[str, Changed | bytes] = {}
        self.claims: Changed = lambda claims: claims
        self.sign: Callable[[dict[str, Any]], str] = signed
        self.key = KEY
        self.asked: list[str] = []
        self.nonce = ""

    @classmethod
    @contextmanager
    def started(cls) -> Iterator["Liar"]:
        """One that is honest so far."""
        liar = cls()
        thread = threading.Thread(target=liar.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield liar
        finally:
            liar.ended.set()
            liar.shutdown()
            liar.server_close()
            thread.join()

    def come_back(self, address: str) -> dict[str, str]:
        """What a browser that was sent to an address comes back with."""
        query = parse_qs(urlsplit(address).query)
        self.nonce = query["nonce"][0]
        return {"code": "the code", "state": query["state"][0], "iss": self.issuer}

    def said(self, path: str) -> bytes | None:
        """What it answers at an address; None: there is nothing."""
        change = self.answers.get(path, lambda answer: answer)
        if isinstance(change, bytes):
            return change
        honest = self._honest(path)
        return None if honest is None else json.dumps(change(honest)).encode()

    def _honest(self, path: str) -> dict[str, Any] | None:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/me",
                "authorization_response_iss_parameter_supported": True,
            }
        if path == "/keys":
            return {"keys": [self.key.as_dict(private=False)]}
        if path == "/token":
            now = int(time.time())
            claims = {
                "iss": self.issuer,
                "sub": "1",
                "aud": CLIENT_ID,
                "exp": now + 300,
                "iat": now,
                "nonce": self.nonce,
                "email": "anna@example.org",
                "email_verified": True,
                "name": "Anna",
            }
            text = self.sign(self.claims(claims))
            return {"access_token": "x", "token_type": "Bearer", "id_token": text}
        if path == "/me":
            return {"sub": "1", "email": "anna@example.org", "email_verified": True}
        return None


def signed(claims: dict[str, Any], key: Any = KEY, **header: Any) -> str:
    """Claims as a token."""
    header = {"alg": "RS256", "kid": "one"} | header
    return jwt.encode(header, claims, key, algorithms=[header["alg"]])


def by_public_key(claims: dict[str, Any]) -> str:
    """Signed with what everybody knows of the key, as if it were a secret of two."""
    text = _plain({"alg": "HS256", "kid": "one"}, claims)
    mac = hmac.new(KEY.as_pem(private=False), text.encode(), "sha256").digest()
    return f"{text}.{_packed(mac)}"


def unsigned(claims: dict[str, Any]) -> str:
    """Signed by nobody."""
    return _plain({"alg": "none"}, claims) + "."


def _plain(header: dict[str, Any], claims: dict[str, Any]) -> str:
    return ".".join(_packed(json.dumps(part).encode()) for part in (header, claims))


def _packed(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class _Answers(BaseHTTPRequestHandler):
    server: Liar

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.asked.append(path)
        content = self.server.said(path)
        if content is None:
            self.send_error(404)
            return
        if content == b"slow":
            self.server.ended.wait(60)
            return
        if content.startswith(b"HTTP/"):
            self.wfile.write(content)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
