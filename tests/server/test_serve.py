"""`fairpool serve` as its users start, use, stop and kill it."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.server.conftest import fresh_postgres
from tests.server.served import Served, served
from tests.support.projects import fairpool

ANNA = {"name": "Anna", "email": "anna@example.org", "password": "four words together"}


def _become_first_operator(service: Served) -> str:
    """Anna's form token, and her cookie in the log of nobody."""
    assert service.link is not None
    secret = service.link.rsplit("/", 1)[1]
    with service.client() as client:
        answer = client.post(f"/api/v1/invitations/{secret}/account", json=ANNA)
        assert answer.status_code == 201
        assert answer.json()["account"]["may_create"]
    return secret


def test_the_first_operator_gets_in_by_the_link_and_later_starts_have_none(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "pool"
    with served(folder) as first:
        first_link = first.link
    with served(folder) as again:
        assert again.link != first_link
        secret = _become_first_operator(again)
        with again.client() as client:
            assert (
                client.post(f"/api/v1/invitations/{secret}/account", json=ANNA).status_code == 410
            )
            assert client.get("/api/v1/account").status_code == 401
            entered = client.post(
                "/api/v1/session", json={"email": ANNA["email"], "password": ANNA["password"]}
            )
            assert entered.status_code == 201
            assert client.get("/api/v1/account").json()["name"] == "Anna"
        assert again.stop() == 0
    with served(folder) as last:
        assert last.link is None


def test_what_it_keeps_is_for_one_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "pool"
    with served(folder) as service:
        _become_first_operator(service)
        modes = {
            path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777
            for path in (folder, *folder.rglob("*"))
        }
    assert modes["pool/database.sqlite"] == 0o600
    assert modes["pool/uploads.key"] == 0o600
    assert set(modes.values()) == {0o600, 0o700}


def test_the_log_has_a_line_for_each_request_and_nothing_that_lets_anybody_in(
    tmp_path: Path,
) -> None:
    with served(tmp_path / "pool") as service:
        secret = _become_first_operator(service)
        with service.client() as client:
            wrong = {"email": ANNA["email"], "password": "not her password"}
            client.post("/api/v1/session", json=wrong)
            client.get(f"/api/v1/invitations/{secret}?password=in-an-address")
            client.get("/api/v1/account", headers={"Authorization": "Bearer fp_" + "x" * 43})
            client.get(f"/nothing/{secret}")
        service.stop()
        log = service.log()
    assert log.count("event=request") == 5
    assert "path=/api/v1/invitations/{secret} status=410" in log
    for hidden in (secret, "in-an-address", "x" * 43, "her password", ANNA["password"]):
        assert hidden not in log


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_many_people_are_served_at_once(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    more = {}
    if kind == "postgres":
        more["FAIRPOOL_DATABASE"] = fresh_postgres(request.getfixturevalue("postgres"))
    with served(tmp_path / "pool", **more) as service:
        assert service.link is not None
        secret = service.link.rsplit("/", 1)[1]
        with service.client() as client, service.client() as programs:
            made = client.post(f"/api/v1/invitations/{secret}/account", json=ANNA).json()
            client.headers["X-Form-Token"] = made["form_token"]

            def write_and_read(number: int) -> tuple[int, int]:
                token = client.post("/api/v1/tokens", json={"name": f"program {number}"})
                headers = {"Authorization": f"Bearer {token.json()['secret']}"}
                seen = programs.get("/api/v1/account", headers=headers)
                return token.status_code, seen.status_code

            # More than the service has threads.
            with ThreadPoolExecutor(50) as many:
                answers = list(many.map(write_and_read, range(100)))
            assert set(answers) == {(201, 200)}
            assert len(client.get("/api/v1/tokens").json()) == 100


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['fairpool', 'serve'];"
        " from fairpool.cli import entry; entry()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert "pip install 'fairpool[server]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "is not https; put a proxy with TLS before it"),
        (["--host", "0.0.0.0", "--address", "http://pool.example.org"], "say --insecure"),
        (["--address", "http://pool.example.org"], "say --insecure"),
        (["--address", "pool.example.org"], "is no address of a service"),
        (["--address", "https://pool.example.org/path"], "without a path"),
        (["--address", "https://user@pool.example.org"], "is no address of a service"),
        (["--address", "https://pool.example.org:99999"], "is no address of a service"),
        (["--host", "no.such.host.invalid", "--insecure"], "cannot listen there"),
        (["--folder", "open"], "close it: chmod 700"),
        (["--folder", "file"], "file"),
    ],
)
def test_what_cannot_be_served_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    (tmp_path / "file").touch()
    done = fairpool("serve", "--port", "0", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = fairpool("serve", "--port", port, "--folder", tmp_path / "pool")
    assert done.returncode == 2
    assert "is another service running?" in done.stderr


def test_a_database_that_is_not_there_is_said_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRPOOL_DATABASE", "postgresql://pool:hidden-word@127.0.0.1:1/pool")
    done = fairpool("serve", "--port", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "FAIRPOOL_DATABASE" in done.stderr
    assert "hidden-word" not in done.stderr


# What follows is about who does not come to an end: each test waits until the service ends it.


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that waits a second for slow clients."""
    folder = tmp_path_factory.mktemp("impatient") / "pool"
    with served(folder, FAIRPOOL_CLIENT_SECONDS="1") as service:
        yield service


def _until(happened: Callable[[], bool]) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within half a minute")


def _ends(connection: socket.socket) -> bytes:
    """All that the service says before it ends a connection."""
    connection.settimeout(30)
    said = b""
    try:
        while piece := connection.recv(65536):
            said += piece
    except ConnectionResetError:
        pass
    return said


def _is_served(service: Served) -> bool:
    """Whether somebody who is quick is answered."""
    with service.client() as client:
        return client.get("/api/v1/account").status_code == 401


def test_whoever_says_nothing_or_a_letter_at_a_time_is_cut_off_and_keeps_nobody_waiting(
    impatient: Served,
) -> None:
    here = ("127.0.0.1", impatient.port)
    silent = [socket.create_connection(here) for _ in range(40)]
    dripping = [socket.create_connection(here) for _ in range(40)]
    for connection in dripping:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ")
    assert _is_served(impatient)

    def is_cut_off() -> bool:
        try:
            for connection in dripping:
                connection.sendall(b"x")
        except (ConnectionResetError, BrokenPipeError):
            return True
        return False

    _until(is_cut_off)
    for connection in (*silent, *dripping):
        assert _ends(connection) == b""
        connection.close()


@pytest.mark.parametrize("head", [b"Content-Length: 1000", b"Transfer-Encoding: chunked"])
def test_a_body_that_comes_too_slowly_is_refused_and_its_connection_ended(
    impatient: Served, head: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port)) as slow:
        slow.sendall(
            b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
            b"Content-Type: application/json\r\n%s\r\n\r\n" % (impatient.port, head)
        )
        assert _is_served(impatient)
        said = _ends(slow)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"came too slowly" in said


def test_whoever_reads_no_answers_is_cut_off(impatient: Served) -> None:
    ask = b"GET /static/htmx-2.0.11.min.js HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n"
    asked = (ask % impatient.port) * 1_000_000  # more than the buffers on the way take
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", impatient.port))
        deaf.settimeout(120)
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            deaf.sendall(asked)
    assert _is_served(impatient)


def test_what_is_no_request_is_refused_without_a_word_more(impatient: Served) -> None:
    for nonsense in (
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: " + b"x" * 100_000 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", impatient.port)) as connection:
            connection.sendall(nonsense)
            connection.shutdown(socket.SHUT_WR)
            assert re.match(rb"HTTP/1.1 4(00|21|31) ", _ends(connection)), nonsense[:30]
    assert "Traceback" not in impatient.log()


def _children(pid: int) -> list[int]:
    """The worker processes of a service: not the one that tracks resources for Python."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    for task in Path(f"/proc/{pid}/task").iterdir():
        text += " " + (task / "children").read_text()
    found = []
    for child in {int(one) for one in text.split()}:
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"spawn_main" in command:
            found.append(child)
    return found


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes of Linux")
def test_a_worker_that_dies_is_replaced_and_none_outlives_the_service(tmp_path: Path) -> None:
    with served(tmp_path / "pool", "--workers", "1") as service:
        _until(lambda: bool(_children(service.process.pid)))
        (first,) = _children(service.process.pid)
        os.kill(first, signal.SIGKILL)
        _until(lambda: bool({*_children(service.process.pid)} - {first}))
        (second,) = _children(service.process.pid)
        assert "worker died" in service.log()
        service.process.kill()
        service.process.wait()
        _until(lambda: not _is_alive(second))
    with served(tmp_path / "pool", "--workers", "1") as service:
        _until(lambda: bool(_children(service.process.pid)))
        (third,) = _children(service.process.pid)
        assert service.stop() == 0
        assert not _is_alive(third)


def test_a_request_that_has_begun_is_answered_when_the_service_is_stopped(tmp_path: Path) -> None:
    with served(tmp_path / "pool") as service:
        body = b'{"email": "a@example.org", "password": "x"}'
        head = (
            b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(head % (service.port, len(body)) + body[:10])
            with service.client() as client:
                client.get("/api/v1/account")  # by now the other request has begun
            service.process.terminate()

            def is_closed() -> bool:
                try:
                    socket.create_connection(("127.0.0.1", service.port), 5).close()
                except ConnectionRefusedError:
                    return True
                return False

            _until(is_closed)
            connection.sendall(body[10:])
            said = _ends(connection)
        assert service.process.wait(60) == 0
    assert said.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_body_has_one_end_and_nothing_is_answered_after_it(
    impatient: Served, version: str
) -> None:
    """A proxy that counts would have seen the second request as somebody's body, and so on."""
    host = f"Host: 127.0.0.1:{impatient.port}\r\n"
    length = "Content-Length: 5\r\n" if version == "1.1" else ""
    first = f"POST /sign-in HTTP/{version}\r\n{host}{length}Transfer-Encoding: chunked\r\n\r\n"
    second = f"GET /sign-in HTTP/1.1\r\n{host}\r\n"
    with socket.create_connection(("127.0.0.1", impatient.port)) as connection:
        connection.sendall(f"{first}0\r\n\r\n{second}".encode())
        said = _ends(connection)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1 ") == 1
