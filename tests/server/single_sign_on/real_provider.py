"""canaille as a process, and a person's browser at it."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import httpx

CLIENT_ID = "fairpool"
CLIENT_SECRET = "a secret of the tests"


class NotLetInError(Exception):
    """The provider asks for the password again and again."""


@dataclass(frozen=True, kw_only=True)
class Canaille:
    """A provider that runs."""

    process: "subprocess.Popen[str]"
    issuer: str

    @classmethod
    @contextmanager
    def started(cls, python: Path) -> Iterator["Canaille"]:
        """One that knows nobody yet."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [python, Path(__file__).with_name("canaille_server.py"), str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            provider = cls(process=process, issuer=f"http://127.0.0.1:{port}")
            provider._expect("ready")
            yield provider
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                stream.close()

    def add_person(self, name: str, *, is_verified: bool = True) -> None:
        """Somebody whose password is the name."""
        email = f"{name}@example.org"
        self._order(user=name, email=email, verified=is_verified)

    def remove_person(self, name: str) -> None:
        """Somebody has left the house."""
        self._order(remove=name)

    def add_client(self, redirect: str) -> None:
        """The service that people sign in to, once."""
        self._order(client=CLIENT_ID, secret=CLIENT_SECRET, redirect=redirect)

    def sign_in(self, address: str, name: str) -> str:
        """Follow an address of the provider and sign in there; the address that leads back."""
        with httpx.Client(timeout=60) as browser:
            answer = browser.get(address)
            for _ in range(8):
                if answer.is_redirect:
                    address = urljoin(str(answer.url), answer.headers["location"])
                    if not address.startswith(self.issuer):
                        return address
                    answer = browser.get(address)
                    continue
                answer = self._fill(browser, answer, name)
        raise NotLetInError(f"{name} does not come in: {answer.text}")

    def _fill(self, browser: httpx.Client, answer: httpx.Response, name: str) -> httpx.Response:
        assert answer.status_code == 200, (answer.status_code, answer.text)
        (form,) = re.findall(r'<form[^>]*method="post".*?</form>', answer.text, re.I | re.S)
        fields = {}
        for field in re.findall(r"<input[^>]*>", form):
            named = re.search(r'name="([^"]*)"', field)
            value = re.search(r'value="([^"]*)"', field)
            if named is not None:
                fields[named[1]] = unescape(value[1]) if value else ""
        assert {"login", "password"} & set(fields), (answer.url, answer.text)
        fields |= {one: name for one in ("login", "password") if one in fields}
        return browser.post(str(answer.url), data=fields, headers={"Referer": str(answer.url)})

    def _order(self, **order: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        self._expect("done")

    def _expect(self, word: str) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == word
