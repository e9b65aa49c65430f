"""Nobody learns of, or changes, what is not theirs: every operation, by everybody, on everything.

The operations come from the application's own OpenAPI document, so one that is new fails until it
has a line in the table LINES, which says who gets which answer when they ask for a thing of the
collaboration and of its party called north. Everybody whom the line leaves out must be answered as
if there were no such thing, byte by byte, and nothing may change; so must everybody who asks for a
thing of another collaboration.

To add a line, in a file of `tests/server/lines` (a new one is named in its `__init__`):

- the key is the operation as the document has it, `"GET /collaborations/{collaboration_id}"`;
- `line(who, status, ...)` has who gets that status, in words of `tests/server/world.py`: mostly
  `MEMBERS`, `[OPERATOR]`, `[PARTY]` or `[OPERATOR, AUDITOR]`. Whoever is left out is told 404, and
  who is not signed in is told so (401, or of a page: the way to the form for that);
- `also={OPERATOR: 409}`: who gets another answer, which tells them nothing that they may not know;
- `body` is sent as JSON, `form` as a form, `content` as it is. It must be what the operation takes,
  so that those who may do it can; a word in braces, such as "{party_id}", is a thing;
- `for_all=True`: nobody needs to be signed in, whoever has the link or the words has the right;
- `by_link=True`: whoever is signed in and has the link has the right;
- `browser_only=True`: a token cannot do it, as with all pages of a person's own;
- a parameter with a name that is new gets its value in `things_of` of `tests/server/world.py`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.routing import Mount, Route

from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.web import api, pages
from fairpool.server.web.app import create_app
from fairpool.server.web.signed_in import FORM_TOKEN_HEADER, cookie_name
from tests.server.conftest import fresh_postgres
from tests.server.lines import LINES
from tests.server.lines.line import Line
from tests.server.world import (
    NOBODY,
    OTHER_OPERATOR,
    SIGNED_IN,
    Things,
    WayIn,
    World,
    new_world,
)

SAFE = {"GET", "HEAD", "OPTIONS"}


def _application(folder: Path, address: str = "") -> tuple[FastAPI, Settings, Database]:
    settings = Settings.of(folder, environment={"FAIRPOOL_DATABASE": address})
    database = Database(settings.database)
    return create_app(settings, database), settings, database


def _operations() -> list[str]:
    app, _, _ = _application(Path("nowhere"))
    found = []
    for path, operations in app.openapi()["paths"].items():
        found += [f"{method.upper()} {path}" for method in operations if method != "parameters"]
    return found


OPERATIONS = _operations()
MISSING = Line(answers={})


def _of(operation: str) -> Line:
    """The line of an operation; what is not in the table is for nobody, and so fails."""
    return LINES.get(operation, MISSING)


def _is_about_a_thing(operation: str) -> bool:
    """Whether there is something that some may see and others not."""
    return "{" in operation and not (_of(operation).for_all or _of(operation).by_link)


def test_every_operation_has_a_line_and_every_line_an_operation() -> None:
    assert sorted(OPERATIONS) == sorted(LINES)


def test_every_way_into_the_application_is_in_its_document() -> None:
    app, _, _ = _application(Path("nowhere"))
    paths = app.openapi()["paths"]
    for router in (*api.routers(), *pages.routers()):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            assert route.path in paths, f"{route.path} is not in the document: no test sees it"
    plain = [route.path for route in app.routes if isinstance(route, (Route, Mount))]
    assert sorted({*plain} - {*paths}) == ["/api/v1/openapi.json", "/static"]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.soak)])
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, FastAPI]]:
    folder = tmp_path_factory.mktemp("isolation") / "server"
    folder.mkdir(mode=0o700)
    address = ""
    if request.param == "postgres":
        address = fresh_postgres(request.getfixturevalue("postgres"))
    app, settings, database = _application(folder, address)
    database.migrate()
    yield new_world(settings, database), app
    database.close()


@pytest.fixture
def world(played: tuple[World, FastAPI]) -> World:
    played[0].restore()
    return played[0]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An operation, asked by somebody for some things."""

    app: FastAPI
    world: World
    operation: str

    def by(
        self,
        who: str,
        things: Things,
        *,
        program: bool = False,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The answer.

        Args:
            who: One of the words of the world.
            things: What stands in the address.
            program: With a token instead of a cookie.
            body: Sent instead of what the line has.
            headers: Sent instead of those that a browser's or a program's request has.
        """
        method, path = self.operation.split(" ", 1)
        given = _of(self.operation)
        client = TestClient(
            self.app,
            base_url=self.world.settings.address,
            follow_redirects=False,
            raise_server_exceptions=False,
        )
        own: dict[str, str] = {}
        if who != NOBODY:
            way_in = self.world.ways_in[who]
            own = _headers(way_in, program)
            if not program:
                client.cookies.set(cookie_name(self.world.settings), way_in.cookie)
        sent: dict[str, Any] = {}
        if body is not None:
            sent["json"] = body
        elif given.body is not None:
            sent["json"] = json.loads(_filled(json.dumps(given.body), self.world.things))
        elif given.form is not None:
            sent["data"] = {
                name: _filled(value, self.world.things) for name, value in given.form.items()
            }
        elif given.content is not None:
            sent["content"] = given.content
        sent["headers"] = own if headers is None else headers
        return client.request(method, path.format(**things), **sent)

    def told(self, who: str, things: Things, **more: Any) -> tuple[int, dict[str, str], str]:
        """Everything that an answer tells: status, headers and body, with the things' names."""
        answer = self.by(who, things, **more)
        headers = {
            name: _named(value, things)
            for name, value in answer.headers.items()
            if name not in ("date", "content-length")
        }
        return answer.status_code, headers, _named(answer.text, things)


def _headers(way_in: WayIn, program: bool) -> dict[str, str]:
    if program:
        return {"Authorization": f"Bearer {way_in.token}"}
    return {FORM_TOKEN_HEADER: way_in.form_token}


def _filled(text: str, things: Things) -> str:
    for name, value in things.items():
        text = text.replace(f'"{{{name}}}"', json.dumps(value)).replace(f"{{{name}}}", value)
    return text


def _named(text: str, things: Things) -> str:
    """A text with the names of things instead of themselves: an answer may repeat the question."""
    for name, value in things.items():
        if name != "number":  # a digit may stand anywhere, and no answer repeats it
            text = text.replace(value, f"<{name}>")
    return text


@pytest.fixture
def asked(played: tuple[World, FastAPI], world: World, operation: str) -> Asked:
    return Asked(app=played[1], world=world, operation=operation)


def _nothing(world: World) -> dict[str, str]:
    """Things that do not exist, as long as those that do."""
    return {name: "x" * len(value) for name, value in world.things.items()}


def _parameters(operation: str) -> list[str]:
    return [part.split("}")[0] for part in operation.split("{")[1:]]


def _ways(given: Line, who: str) -> tuple[bool, ...]:
    """Whether by a program: by a browser alone, or both."""
    return (False,) if given.browser_only or who == NOBODY else (False, True)


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if _is_about_a_thing(one)])
def test_what_is_hidden_is_told_as_what_does_not_exist_and_nothing_changes(
    asked: Asked, world: World, operation: str
) -> None:
    given = _of(operation)
    before = world.digest()
    nothing = _nothing(world)
    for who in SIGNED_IN:
        for program in _ways(given, who):
            expected = asked.told(who, nothing, program=program)
            assert expected[0] == 404
            if who not in given.answers:
                assert asked.told(who, world.things, program=program) == expected, who
            if who == OTHER_OPERATOR:
                continue
            assert asked.told(who, world.other_things, program=program) == expected, who
            for name in _parameters(operation)[1:]:
                # A thing of another collaboration, by the way of one's own.
                other = {**world.things, name: world.other_things[name]}
                absent = asked.told(who, {**world.things, name: nothing[name]}, program=program)
                assert asked.told(who, other, program=program) == absent, (who, name)
                assert absent[0] == 404
        if who not in given.answers:
            # What is wrong with a body is told before the thing is looked for, or not at all.
            wrong = {"nonsense": 1}
            told = asked.told(who, world.things, body=wrong)
            assert told == asked.told(who, nothing, body=wrong), who
    assert world.digest() == before


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if NOBODY not in _of(one).answers])
def test_nobody_is_asked_to_sign_in_whatever_they_ask_for(
    asked: Asked, world: World, operation: str
) -> None:
    before = world.digest()
    for things in (world.things, _nothing(world)):
        answer = asked.by(NOBODY, things)
        if "/api/" in operation:
            assert answer.status_code == 401
        else:
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/sign-in")
    # Nor is a cookie or a token of the right shape of any use.
    shaped = WayIn(cookie="x" * 43, form_token="x" * 43, token="fp_" + "x" * 43)
    forged = {
        "Cookie": f"{cookie_name(world.settings)}={shaped.cookie}",
        FORM_TOKEN_HEADER: shaped.form_token,
    }
    for headers in (forged, _headers(shaped, program=True)):
        assert asked.by(NOBODY, world.things, headers=headers).status_code in (401, 303)
    assert world.digest() == before


@pytest.mark.parametrize("operation", OPERATIONS)
def test_who_has_the_right_is_answered(asked: Asked, world: World, operation: str) -> None:
    given = _of(operation)
    for who, status in given.answers.items():
        for program in _ways(given, who):
            world.restore()
            answer = asked.by(who, world.things, program=program)
            assert answer.status_code == status, (who, answer.text)


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.split()[0] not in SAFE])
def test_another_site_s_page_can_do_nothing_in_anybody_s_name(
    asked: Asked, world: World, operation: str
) -> None:
    before = world.digest()
    cross_site = [
        {"Origin": "https://evil.example.org"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    for who in SIGNED_IN:
        form_token = _headers(world.ways_in[who], program=False)
        for headers in cross_site:
            # Even one that has found out the token of the forms.
            answer = asked.by(who, world.things, headers={**headers, **form_token})
            assert answer.status_code == 403, (who, headers)
        if _of(operation).for_all:
            continue  # there, nothing is done in anybody's name, or the link is the proof
        for headers in ({}, {FORM_TOKEN_HEADER: "x" * 43}, {FORM_TOKEN_HEADER: ""}):
            told = asked.told(who, world.things, headers=headers)
            assert told[0] == 403, (who, headers)
            assert told == asked.told(who, _nothing(world), headers=headers)
    assert world.digest() == before


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if _of(one).browser_only])
def test_a_token_does_not_do_what_only_a_browser_may(
    asked: Asked, world: World, operation: str
) -> None:
    before = world.digest()
    for who in SIGNED_IN:
        told = asked.told(who, world.things, program=True)
        assert told[0] == 403
        assert told == asked.told(who, _nothing(world), program=True)
    assert world.digest() == before
