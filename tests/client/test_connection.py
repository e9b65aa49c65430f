"""What can go wrong on the way to a service, and what a client makes of it."""

import hashlib
import logging
import socket
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

import fairpool as fp
from fairpool.client.address import Address
from fairpool.client.connection import Request
from fairpool.client.proxy import proxy_for
from fairpool.client.refused import RefusedByServiceError, UnreachableError
from fairpool.errors import ServiceError
from tests.client.certificates import certificate
from tests.client.conftest import Pool
from tests.client.relay import relay, tunnel
from tests.client.scripted import TOKEN, said, scripted
from tests.server.agreed import csv_of, rows

ACCOUNT = '{"id": "1", "email": "a@example.org", "name": "A", "may_create": false, "new": 1}'
A_LINE = b"x" * 1023 + b"\n"


def test_what_a_newer_service_says_besides_is_left_out() -> None:
    with scripted(said("200 OK", ACCOUNT)) as service:
        assert service.client().account().name == "A"
        (head,) = service.heads
    assert b"Authorization: Bearer " + TOKEN.encode() in head


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("{}", "does not know.*is the address right"),
        ("[" * 100_000, "does not know"),
        ("<html>", "does not know"),
        ('{"id": 1}', "does not know.*id"),
    ],
)
def test_an_answer_that_is_none_is_said_in_words(answer: str, why: str) -> None:
    with scripted(said("200 OK", answer)) as service, pytest.raises(ServiceError, match=why):
        service.client().account()


def test_a_redirect_is_not_followed_and_the_token_goes_nowhere() -> None:
    with scripted() as elsewhere:
        place = f"Location: {elsewhere.address}/api/v1/account?token={TOKEN}"
        with (
            scripted(said("307 Temporary Redirect", b"", place)) as service,
            pytest.raises(RefusedByServiceError, match="where your token does not go") as refused,
        ):
            service.client().account()
        assert elsewhere.heads == []
    assert TOKEN not in str(refused.value)
    assert refused.value.status == 307


@pytest.mark.parametrize(
    ("status", "body", "problems"),
    [
        (
            "409 Conflict",
            '{"problems": ["not now", "nor so"], "status": 409}',
            ("not now", "nor so"),
        ),
        ("403 No", '{"problems": ["\\u001b[2J"], "status": 403}', ("\\x1b[2J",)),
        ("401 No", f'{{"problems": ["who is {TOKEN}?"]}}', ("who is fp_...?",)),
    ],
)
def test_a_refusal_repeats_what_the_service_says(
    status: str, body: str, problems: tuple[str, ...]
) -> None:
    with scripted(said(status, body)) as service, pytest.raises(ValueError, match=r"\w") as refused:
        service.client().account()
    assert isinstance(refused.value, RefusedByServiceError)
    assert isinstance(refused.value, fp.FairpoolError)
    assert refused.value.problems == problems
    assert refused.value.status == int(status[:3])


@pytest.mark.parametrize(
    "body", ["<html>", "{}", '{"problems": []}', '{"problems": 7}', "[" * 9999]
)
def test_a_refusal_that_no_service_of_fairpool_says_asks_for_the_address(body: str) -> None:
    with (
        scripted(said("404 Not Found", body)) as service,
        pytest.raises(
            RefusedByServiceError, match=r"answered GET /api/v1/account with 404.*right\?"
        ),
    ):
        service.client().account()


def test_what_is_lost_is_asked_for_again_where_that_is_safe() -> None:
    short = said("200 OK", ACCOUNT)[:-5]
    with scripted(None, short, said("200 OK", ACCOUNT)) as service:
        assert service.client().account().id == "1"
    with (
        scripted(None, None, None) as service,
        pytest.raises(UnreachableError, match=r"cannot be reached .*Try again later"),
    ):
        service.client().account()
    with (
        scripted(None, said("201 Created", "{}")) as service,
        pytest.raises(
            UnreachableError, match=r"nobody can say whether POST /api/v1/collaborations was"
        ),
    ):
        service.client().begin(name="Farms")
    assert len(service.heads) == 1


def test_where_nobody_listens_everything_is_tried_again() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody else gets this port, and nobody listens there
        client = fp.Client(f"http://127.0.0.1:{held.getsockname()[1]}", TOKEN)
        client.connection = replace(client.connection, pauses=(0.01, 0.01))
        with pytest.raises(UnreachableError, match=r"Connection refused.*service running"):
            client.begin(name="Farms")


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_a_service_that_is_busy_is_asked_later(status: str) -> None:
    busy = said(status, '{"problems": ["please wait"], "status": 0}', "Retry-After: 0")
    with scripted(busy, busy, said("200 OK", ACCOUNT)) as service:
        assert service.client().account().id == "1"
    with scripted(busy, busy, busy) as service, pytest.raises(ServiceError, match="please wait"):
        service.client().account()
    long = said(status, '{"problems": ["in an hour"], "status": 0}', "Retry-After: 3600")
    with scripted(long) as service, pytest.raises(ServiceError, match="in an hour"):
        service.client().account()


def test_what_may_have_been_done_is_not_asked_for_again_though_the_service_is_away() -> None:
    away = said("502 Bad Gateway", "<html>")
    with scripted(away) as service, pytest.raises(RefusedByServiceError, match="with 502"):
        service.client().begin(name="Farms")
    assert len(service.heads) == 1


def test_no_token_is_shown_by_anything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = fp.Client("https://pool.example.org", TOKEN)
    for shown in (
        repr(client),
        str(client),
        repr(client.connection),
        repr(client.connection.token),
    ):
        assert TOKEN not in shown
    wrong = TOKEN + "\r\nX-More: 1"
    with pytest.raises(fp.FairpoolError, match="this is no token") as refused:
        fp.Client("https://pool.example.org", wrong)
    assert TOKEN not in str(refused.value)
    with scripted(None, None, None) as service, pytest.raises(UnreachableError) as lost:  # noqa: PT011
        service.client().account()
    assert TOKEN not in str(lost.value)
    assert TOKEN not in caplog.text


def test_files_of_any_size_go_piece_by_piece(tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as stream:
        for _ in range(64 * 1024):
            stream.write(A_LINE)
    sent = (
        '{"id": "1", "name": "large.csv", "state": "checking", "round": 1, "bytes": 1, "sha256":'
        ' "%s", "created": "2026-01-01T00:00:00Z", "decided": null, "rows": null, "problems": null}'
    )
    part = (
        '[{"collaboration_id": "c", "name": "C", "role": "party", "party_id": "p", "party": "P"}]'
    )
    with large.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    whole = said("200 OK", large.read_bytes())
    answers = (said("200 OK", part), said("201 Created", sent % digest), whole)
    with scripted(*answers) as service:
        party = service.client().as_party()
        tracemalloc.start()
        party.send(large)
        party.save_reward(1, tmp_path / "reward.safetensors")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert service.received == 0
        assert b"Content-Length: 67108864" in service.heads[1]
    assert peak < 8 << 20
    with (tmp_path / "reward.safetensors").open("rb") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == digest
    with (
        scripted(said("200 OK", part), said("201 Created", sent % ("0" * 64))) as service,
        pytest.raises(ServiceError, match="has something else than what is here"),
    ):
        service.client().as_party().send(large)


def test_what_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("years of work")
    part = (
        '[{"collaboration_id": "c", "name": "C", "role": "party", "party_id": "p", "party": "P"}]'
    )
    half = said("200 OK", b"x" * 1000)[:-10]
    with scripted(said("200 OK", part), half, half, half) as service:
        party = service.client().as_party()
        with pytest.raises(ServiceError, match="there is something already"):
            party.save_letter(1, mine)
        with pytest.raises(ServiceError, match="there is no such folder"):
            party.save_letter(1, tmp_path / "nowhere" / "letter.html")
        with pytest.raises(UnreachableError, match="10 bytes of the answer did not come"):
            party.save_letter(1, tmp_path / "letter.html")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]
    assert mine.read_text() == "years of work"


# At a real service, by a way that is cut.

UPLOAD = b"POST /api/v1/collaborations/"


def test_an_upload_whose_answer_is_lost_is_one_submission(pool: Pool) -> None:
    people = pool.consortium()
    people.north.accept(people.operator.propose())
    here = UPLOAD + people.north.part.collaboration_id.encode() + b"/submissions?"
    pool.way.lose_answer(here)
    content = csv_of(rows())
    pool.way.cut(here, after=len(here) + 60)
    sent = people.north.send_content(content, name="mine.csv")
    assert pool.way.begun(here) == 3
    assert [one.id for one in people.north.standing().sent] == [sent.id]
    assert sent.sha256 == hashlib.sha256(content).hexdigest()


def test_somebody_is_invited_once_though_the_answer_is_lost(pool: Pool) -> None:
    north = pool.consortium().north
    invite = UPLOAD + north.part.collaboration_id.encode() + b"/invitations"
    pool.way.lose_answer(invite)
    asked = pool.way.begun(invite)
    with pytest.raises(UnreachableError, match=r"nobody can say whether .*invitations was done"):
        north.invite(email="else@example.org")
    assert pool.way.begun(invite) == asked + 1
    assert [one.email for one in north.invitations()] == ["else@example.org"]


def test_an_upload_beyond_the_limit_is_refused_in_the_services_words(
    pool: Pool, tmp_path: Path
) -> None:
    people = pool.consortium()
    people.north.accept(people.operator.propose())
    large = tmp_path / "large.csv"
    with large.open("wb") as stream:
        stream.truncate(64 << 20)
    direct = replace(people.north.connection, pauses=())
    with pytest.raises(RefusedByServiceError, match="too large: at most 4 MiB") as refused:
        replace(people.north, connection=direct).send(large)
    assert refused.value.status == 413


def test_tls_is_verified_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, tls = certificate(tmp_path)
    with scripted(said("200 OK", ACCOUNT)) as service, relay(tls) as way:
        way.target = service.port
        client = fp.Client(f"https://127.0.0.1:{way.port}", TOKEN)
        with pytest.raises(UnreachableError, match=r"not to be trusted .*nothing was sent"):
            client.account()
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        with pytest.raises(UnreachableError, match="not to be trusted"):
            fp.Client(f"https://localhost:{way.port}", TOKEN).account()
        assert service.heads == []
        assert client.account().id == "1"


def test_the_proxy_of_a_house_sees_the_services_name_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, tls = certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    with scripted(said("200 OK", ACCOUNT)) as service, relay(tls) as way, tunnel() as proxy:
        way.target = service.port
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        assert fp.Client(f"https://localhost:{way.port}", TOKEN).account().id == "1"
        (asked,) = proxy.seen
        assert asked.startswith(f"CONNECT localhost:{way.port} HTTP/".encode())
        monkeypatch.setenv("https_proxy", "http://anna:hidden-word@127.0.0.1:1")
        with pytest.raises(ServiceError, match="no address of a proxy") as refused:
            fp.Client(f"https://localhost:{way.port}", TOKEN).account()
        assert "hidden-word" not in str(refused.value)
        monkeypatch.setenv("no_proxy", "localhost")
        assert proxy_for(Address.of(f"https://localhost:{way.port}")) is None


def test_a_request_is_named_without_its_query() -> None:
    assert str(Request(path="/x", query={"name": "secret.csv"})) == "GET /api/v1/x"
