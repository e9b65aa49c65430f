"""Whatever a token may do at a service, the client has a method for."""

import inspect
import re
from dataclasses import dataclass, field

import pytest

import fairpool as fp
from fairpool.client.auditor import AsAuditor
from fairpool.client.connection import Connection, Request
from fairpool.client.operator import AsOperator
from fairpool.client.party import AsParty
from fairpool.client.records.people import Part
from tests.client.scripted import TOKEN
from tests.server.lines import LINES

NOT_FOR_PROGRAMS = {
    "POST /api/v1/session": "signing in is for browsers",
    "POST /api/v1/invitations/{secret}/account": "so is making an account",
    "POST /api/v1/invitations/{secret}/password": "and having another password",
    "GET /api/v1/invitations/{secret}": "whoever accepts a link is told what it was for",
    "GET /api/v1/collaborations/{collaboration_id}/rounds/{number}": "stands among all rounds",
    "GET /api/v1/collaborations/{collaboration_id}/rounds/{number}/letter": "for a frame; it is"
    " saved as letter.html",
    "GET /api/v1/collaborations/{collaboration_id}/jobs/{job_id}/events": "a stream for pages;"
    " programs look again",
}


class Noted(Exception):  # noqa: N818 - it is no error
    pass


@dataclass(frozen=True, kw_only=True)
class Noting(Connection):
    """What is asked for is noted, and goes nowhere."""

    asked: list[str] = field(default_factory=list)

    def ask(self, request: Request) -> bytes:
        self.asked.append(str(request))
        raise Noted("noted")

    def save(self, request: Request, path) -> None:
        self.asked.append(str(request))
        raise Noted("noted")


class Thing:
    """Stands for a record: a digest, an identity and a number of its own."""

    digest = id = name = "x"
    number = 1
    has_ended = False


def _given(name: str, folder) -> object:
    if name == "path":
        return folder / "there" if (folder / "there").exists() else folder / "new"
    return {"round_": 1, "content": b"x", "link": "http://x/invitations/" + "s" * 20}.get(
        name, "x" if name in ("name", "toml", "role", "job_id") else Thing()
    )


def test_every_operation_that_a_token_may_do_has_a_method(tmp_path, monkeypatch) -> None:
    client = fp.Client("http://127.0.0.1:1", TOKEN)
    noting = Noting(address=client.connection.address, token=client.connection.token)
    client.connection = noting
    part = Part(collaboration_id="c", name="C", role="party", party_id=None, party=None)
    seats = [kind(connection=noting, part=part) for kind in (AsParty, AsOperator, AsAuditor)]
    for thing in (client, *seats):
        for name, method in inspect.getmembers(thing, inspect.ismethod):
            if name.startswith("_") or name in ("given", "wait"):
                continue
            needed = [
                one.name
                for one in inspect.signature(method).parameters.values()
                if one.default is inspect.Parameter.empty
            ]
            place = tmp_path / f"{type(thing).__name__}-{name}"
            place.mkdir()
            if name in ("send", "sign"):
                (place / "there").write_text("x")
            with pytest.raises(Noted, match="noted"):
                method(**{one: _given(one, place) for one in needed})
    done = {operation for operation in LINES if any(_is(operation, one) for one in noting.asked)}
    wanted = {
        operation
        for operation, line in LINES.items()
        if "/api/v1/" in operation and not line.browser_only
    }
    assert done | set(NOT_FOR_PROGRAMS) == wanted
    assert done & set(NOT_FOR_PROGRAMS) == set()


def _is(operation: str, asked: str) -> bool:
    pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(operation))
    return re.fullmatch(pattern, asked) is not None
