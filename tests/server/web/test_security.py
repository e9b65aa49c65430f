"""What every request and answer is held to; who may do what is in `tests/server/test_isolation`."""

import hmac
import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from fastapi import Response
from sqlalchemy import event, func, select
from starlette.requests import Request

from fairpool.server.people import invitations, passwords, secret_words, sessions, throttle, tokens
from fairpool.server.store.tables import BrowserSession, Person
from fairpool.server.web.app import create_app
from fairpool.server.web.security import (
    DOCUMENT_POLICY,
    PAGE_POLICY,
    DocumentResponse,
    download_headers,
    own_path,
)
from fairpool.server.web.signed_in import cookie_name
from tests.server.consortium import Service, add_consortium, add_person

PASSWORD = "four words together"
KEPT = passwords.hashed(PASSWORD)
SECURE = "https://pool.example.org"


def _with_password(service: Service, name: str = "anna") -> Person:
    person = add_person(service.database, name)
    with service.database.transaction() as session:
        session.get_one(Person, person.id).password = KEPT
    return person


def _sign_in(
    client: httpx.Client, email: str = "anna@example.org", password: str = PASSWORD, **more: Any
) -> httpx.Response:
    return client.post("/api/v1/session", json={"email": email, "password": password}, **more)


def _cookie(service: Service, client: httpx.Client) -> str:
    found = client.cookies.get(cookie_name(service.settings))
    assert found is not None
    return found


def _with_cookie(service: Service, cookie: str) -> httpx.Client:
    """A browser in which somebody has put a cookie."""
    client = service.client()
    client.cookies.set(cookie_name(service.settings), cookie, domain="127.0.0.1", path="/")
    return client


def _secure(service: Service) -> Service:
    """The same service behind a proxy with TLS."""
    settings = replace(service.settings, address=SECURE)
    return Service(
        app=create_app(settings, service.database), settings=settings, database=service.database
    )


# Pages of other sites


def test_a_form_is_taken_with_the_token_of_its_session_alone(service: Service) -> None:
    anna, berta = add_person(service.database, "anna"), add_person(service.database, "berta")
    browser = service.browser(anna)
    token = browser.headers.pop("X-Form-Token")
    of_berta = service.browser(berta).headers["X-Form-Token"]

    def rename(**sent: Any) -> int:
        return browser.post("/account/name", **sent).status_code

    assert rename(data={"name": "Another"}) == 403
    assert rename(data={"name": "Another", "form_token": of_berta}) == 403
    assert rename(data={"name": "Another", "form_token": ""}) == 403
    assert rename(files={"name": (None, "Another"), "form_token": ("f", "x")}) == 403
    assert rename(files={"name": (None, "Another"), "form_token": ("f", token)}) == 403
    # A body that is no form carries no token, whatever it says it is.
    plain = {"Content-Type": "text/plain"}
    assert rename(content=f"name=Another&form_token={token}", headers=plain) == 403
    with service.database.reading() as session:
        assert session.get_one(Person, anna.id).name == "anna"
    assert rename(data={"name": "Another", "form_token": token}) == 303
    assert rename(files={"name": (None, "Once more"), "form_token": (None, token)}) == 303


def test_nobody_is_signed_in_by_another_site_s_page(service: Service) -> None:
    _with_password(service)
    other_scheme = service.settings.address.replace("http:", "https:")
    for headers in (
        {"Origin": "https://evil.example.org"},
        {"Origin": other_scheme},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        answer = _sign_in(service.client(), headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    here = {"Origin": service.settings.address, "Sec-Fetch-Site": "same-origin"}
    assert _sign_in(service.client(), headers=here).status_code == 201


def test_the_service_answers_to_its_own_names_alone(front: Service) -> None:
    # A name of somebody else's that leads to this machine makes their page one of "this" site.
    def status(host: str, of: Service = front) -> int:
        return of.client().get("/sign-in", headers={"Host": host}).status_code

    for host in ("127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"):
        assert status(host) == 200
    for host in ("evil.example.org", "evil.example.org:8000", "127.0.0.1", "127.0.0.1:9", ""):
        assert status(host) == 421
    secure = _secure(front)
    assert status("pool.example.org", secure) == 200
    for host in ("127.0.0.1:8000", "localhost", "other.example.org"):
        assert status(host, secure) == 421


# What browsers are told


def _addresses(service: Service) -> list[str]:
    paths = service.app.openapi()["paths"]
    return [path for path, operations in paths.items() if "get" in operations]


def test_every_answer_has_what_keeps_browsers_from_harm(front: Service) -> None:
    clinics = add_consortium(front.database)
    answers = []
    for person in (clinics.operator, clinics.of_north, None):
        client = front.client() if person is None else front.browser(person)
        for path in [*_addresses(front), "/nothing", "/static/fairpool.css"]:
            filled = path.replace("{collaboration_id}", clinics.collaboration.id)
            answers.append(client.get(re.sub(r"\{\w+\}", "nothing", filled)))
        answers.append(client.post("/api/v1/session", json={}))
        answers.append(client.put("/sign-in"))
        answers.append(client.get("/sign-in", headers={"Host": "evil.example.org"}))
    assert {answer.status_code for answer in answers} >= {200, 303, 401, 404, 405, 410, 421, 422}
    for answer in answers:
        headers = answer.headers
        assert headers["content-security-policy"] == PAGE_POLICY
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        if not answer.request.url.path.startswith("/static/"):
            assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "strict-transport-security" not in headers


def test_no_page_has_script_or_style_of_its_own_nor_asks_another_server(front: Service) -> None:
    clinics = add_consortium(front.database)
    for person in (clinics.operator, clinics.of_north, clinics.auditor, None):
        client = front.client() if person is None else front.browser(person)
        for path in _addresses(front):
            filled = path.replace("{collaboration_id}", clinics.collaboration.id)
            page = client.get(re.sub(r"\{\w+\}", "nothing", filled))
            if not page.headers.get("content-type", "").startswith("text/html"):
                continue
            assert not re.search(r"<script(?![^>]*\ssrc=)", page.text), path
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page.text), path
            assert not re.search(r"""(src|href|action)=["'](https?:|//)""", page.text), path


def test_by_tls_browsers_are_told_to_stay_there(front: Service) -> None:
    answer = _secure(front).client().get("/sign-in")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


def test_a_document_is_shown_in_a_frame_of_the_service_as_a_site_of_its_own(
    front: Service,
) -> None:
    @front.app.get("/document")
    def document() -> Response:
        return DocumentResponse("<p>report</p>")

    headers = front.client().get("/document").headers
    assert headers["content-security-policy"] == DOCUMENT_POLICY
    assert "sandbox allow-scripts;" in DOCUMENT_POLICY
    assert "allow-same-origin" not in DOCUMENT_POLICY
    assert "connect-src" not in DOCUMENT_POLICY  # default-src 'none' holds
    assert "default-src 'none'" in DOCUMENT_POLICY
    assert "x-frame-options" not in headers
    assert headers["x-content-type-options"] == "nosniff"


# Cookies and sessions


def test_a_cookie_is_for_the_service_alone(front: Service) -> None:
    _with_password(front)
    given = _sign_in(front.client()).headers["set-cookie"]
    assert given.startswith("fairpool=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(given.split("; "))
    secure = _secure(front)
    given = _sign_in(secure.client(), headers={"Origin": SECURE}).headers["set-cookie"]
    # So called, browsers take it by TLS from this very host alone.
    assert given.startswith("__Host-fairpool=")
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Secure"} <= set(given.split("; "))
    assert "Domain" not in given


def test_a_cookie_that_somebody_else_put_there_is_never_signed_in(service: Service) -> None:
    _with_password(service)
    evil = service.browser(add_person(service.database, "evil"))
    for planted in (_cookie(service, evil), "chosen-by-somebody-else"):
        victim = _with_cookie(service, planted)
        assert _sign_in(victim).status_code == 201
        assert _cookie(service, victim) != planted
        assert _with_cookie(service, planted).get("/api/v1/account").status_code == 401


def test_a_cookie_is_another_after_joining_and_after_another_password(service: Service) -> None:
    clinics = add_consortium(service.database)
    made = service.browser(clinics.operator).post(
        f"/api/v1/collaborations/{clinics.collaboration.id}/invitations", json={"role": "auditor"}
    )
    secret = made.json()["link"].rsplit("/", 1)[1]
    client = _with_cookie(service, "planted")
    joined = client.post(
        f"/api/v1/invitations/{secret}/account",
        json={"name": "New", "email": "new@example.org", "password": PASSWORD},
    )
    after_joining = _cookie(service, client)
    changed = client.post(
        "/api/v1/account/password",
        json={"old": PASSWORD, "new": "other words together"},
        headers={"X-Form-Token": joined.json()["form_token"]},
    )
    assert changed.status_code == 200
    assert changed.json()["form_token"] != joined.json()["form_token"]
    assert len({"planted", after_joining, _cookie(service, client)}) == 3
    assert client.get("/api/v1/account").status_code == 200
    for old in ("planted", after_joining):
        assert _with_cookie(service, old).get("/api/v1/account").status_code == 401
    with service.database.reading() as session:
        mine = select(func.count()).select_from(BrowserSession).join(Person)
        assert session.scalar(mine.where(Person.email == "new@example.org")) == 1


def test_signing_out_ends_a_session_for_good(service: Service) -> None:
    anna = _with_password(service)
    client, elsewhere = service.browser(anna), service.browser(anna)
    cookie = _cookie(service, client)
    assert client.delete("/api/v1/session").status_code == 204
    assert _with_cookie(service, cookie).get("/api/v1/account").status_code == 401
    assert elsewhere.get("/api/v1/account").status_code == 200


# Guessing


def test_who_guesses_waits_and_so_does_who_knows(service: Service) -> None:
    _with_password(service)
    told = []
    for email in ("anna@example.org", "nobody@example.org"):
        for _ in range(5):
            wrong = _sign_in(service.client(), email, "not the password")
            told.append((wrong.status_code, wrong.text))
            assert "retry-after" not in wrong.headers
        late = _sign_in(service.client(), email)
        assert late.status_code == 429
        assert 1 <= int(late.headers["retry-after"]) <= 15
        assert "wait" in late.json()["problems"][0]
    assert set(told) == {told[0]}


def test_an_address_that_guesses_many_accounts_waits(front: Service) -> None:
    host = throttle.address("testclient")
    for number in range(19):
        throttle.begin(front.database, [throttle.account(str(number)), host])
    assert _sign_in(front.client(), "nobody@example.org").status_code == 401
    # A header that anybody can write makes it no other address.
    for more in ({}, {"X-Forwarded-For": "192.0.2.7"}, {"Forwarded": "for=192.0.2.7"}):
        answer = _sign_in(front.client(), "another@example.org", headers=more)
        assert answer.status_code == 429


def test_the_database_is_asked_for_hashes_alone_which_are_compared_in_constant_time(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = add_person(service.database, "anna")
    with service.database.transaction() as session:
        _, token = tokens.make(session, anna, name="program", days=1)
        cookie = sessions.open_session(session, service.settings, anna).cookie
        link = invitations.first_operator(session, service.settings)
    assert link is not None
    secret = link.rsplit("/", 1)[1]
    asked: list[str] = []
    compared: list[tuple[str, str]] = []
    compare = hmac.compare_digest

    def noting(one: bytes, other: bytes) -> bool:
        compared.append((one.decode(), other.decode()))
        return compare(one, other)

    def note(_c: Any, _cursor: Any, _statement: str, parameters: Any, *_: Any) -> None:
        asked.append(repr(parameters))

    monkeypatch.setattr(secret_words.hmac, "compare_digest", noting)
    event.listen(service.database.engine, "before_cursor_execute", note)
    with service.database.reading() as session:
        assert tokens.find(session, token) is not None
        assert sessions.find(session, cookie) is not None
        assert invitations.look(session, secret).collaboration is None
    for one in (token, cookie, secret):
        digest = secret_words.digest_of(one)
        assert not any(one in parameters for parameters in asked)
        assert any(digest in parameters for parameters in asked)
        assert (digest, digest) in compared


# Where one is led


EVIL = [
    "//evil.example.org",
    "https://evil.example.org",
    "/\\evil.example.org",
    "/\r\nSet-Cookie: fairpool=x",
    "///evil.example.org",
    "\\\\evil.example.org",
    "https:evil.example.org",
    "javascript:alert(1)",
    "/\t/evil.example.org",
    "/\n//evil.example.org",
    " //evil.example.org",
    "/@evil.example.org\\..",
    "evil.example.org",
    "/\u2028//evil.example.org",
    "/．evil.example.org",
]


def test_signing_in_leads_nowhere_else(front: Service) -> None:
    anna = _with_password(front)
    signed_in = front.browser(anna)
    for wanted in EVIL:
        assert own_path(wanted) == "/"
        assert "evil" not in front.client().get("/sign-in", params={"next": wanted}).text
        again = signed_in.get("/sign-in", params={"next": wanted})
        assert again.headers["location"] == "/collaborations"
    for wanted in EVIL[:4]:
        sent = {"email": anna.email, "password": PASSWORD, "next": wanted}
        done = front.client().post("/sign-in", data=sent)
        assert done.status_code == 303
        assert done.headers["location"] == "/collaborations"
        assert len(done.headers.get_list("set-cookie")) == 1


def test_signing_in_leads_to_where_one_wanted_to_go(front: Service) -> None:
    anna = _with_password(front)
    client = front.client()
    sent_away = client.get("/collaborations/one/people")
    assert sent_away.headers["location"] == "/sign-in?next=%2Fcollaborations%2Fone%2Fpeople"
    wanted = unquote(sent_away.headers["location"].split("next=")[1])
    done = client.post("/sign-in", data={"email": anna.email, "password": PASSWORD, "next": wanted})
    assert done.headers["location"] == "/collaborations/one/people"


@pytest.mark.parametrize(
    "name",
    [
        'a"; x="b',
        "a\r\nSet-Cookie: a=b",
        "../../etc/passwd",
        "a\x00b",
        "ä\u202e\N{PILE OF POO}.csv",
        "",
    ],
)
def test_a_file_s_name_is_a_name_and_nothing_else(front: Service, name: str) -> None:
    @front.app.get("/file")
    def file(request: Request) -> Response:
        return Response(b"rows", headers=download_headers(name))

    answer = front.client().get("/file")
    given = answer.headers["content-disposition"]
    assert "set-cookie" not in answer.headers
    found = re.fullmatch(
        r"attachment; filename=\"([^\"\\/]*)\"; filename\*=UTF-8''([\w.%~-]*)", given
    )
    assert found is not None
    assert not set(unquote(found[2])) & set('/\\"\r\n\0\u202e')


# Bodies that are no bodies


STRANGE = [
    b"[" * 100_000,
    b'{"email": ' + b'{"a": ' * 900 + b"1" + b"}" * 900 + b"}",
    b'{"email": "a\\u0000@example.org", "password": "x"}',
    b'{"email": "a\\ud800@example.org", "password": "x"}',
    b'{"email": "a@example.org", "password": "\\ud800\\u0000"}',
    b'{"email": "a@example.org", "password": "' + b"x" * 500_000 + b'"}',
    b'{"email": 1e999, "password": NaN}',
    b'{"email": ' + b"9" * 10_000 + b', "password": "x"}',
    b'{"email": "a@example.org"}',
    b"\xff\xfe",
    b"",
    b"null",
    b'{"email": "a@example.org", "password": "x", "role": "operator"}',
]


@pytest.mark.parametrize("body", STRANGE)
def test_a_body_that_nobody_expects_is_refused_and_no_fault_of_ours(
    service: Service, body: bytes
) -> None:
    answer = service.client().post(
        "/api/v1/session", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 401, 422)
    assert answer.json()["status"] == answer.status_code
    assert len(answer.text) < 2000


@pytest.mark.parametrize(
    "form",
    [
        "email=a%00b%40c&password=%00",
        "email=%ff%40c&password=x",
        "&".join(f"field{number}=x" for number in range(3000)),
        "email=" + "a" * 900_000,
    ],
)
def test_a_form_that_nobody_expects_is_refused_and_no_fault_of_ours(
    service: Service, form: str
) -> None:
    answer = service.client().post(
        "/sign-in",
        content=form,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code in (400, 401, 422)


@pytest.mark.parametrize(
    "piece", ["%00", "%ff", "%F0%9F%92%A9", "a" * 5000, "..%2f..%2f", "%0d%0aX:%20y"]
)
def test_an_address_that_nobody_expects_leads_nowhere(service: Service, piece: str) -> None:
    anna = add_person(service.database, "anna")
    for path in (f"/api/v1/collaborations/{piece}/members", f"/collaborations/{piece}/people"):
        assert service.browser(anna).get(path).status_code == 404
    assert service.client().get(f"/api/v1/invitations/{piece}").status_code in (404, 410)
    assert service.client().get(f"/static/{piece}").status_code == 404
    with_token = {"Authorization": f"Bearer {unquote(piece)}".encode("utf-8", "surrogateescape")}
    if piece != "%0d%0aX:%20y":
        assert service.client().get("/api/v1/account", headers=with_token).status_code == 401
