"""Collaborations, terms and submissions by the API: as a program uses it."""

import hashlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from fairpool.exchange.plan import SignedPlan
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Blob, Submission
from fairpool.server.web.app import create_app
from fairpool.server.work.vault import Vault
from fairpool.signatures import Signed
from tests.server.agreed import TOML, Agreed, agreed, csv_of, draft_of, rows
from tests.server.consortium import Service
from tests.support.exchange import KEYS, a_contribution

API = "/api/v1/collaborations"
FORM = {
    "name": "Clinics",
    "target": {"name": "y", "lowest": 0, "highest": 300},
    "inputs": [{"name": "x", "lowest": -10, "highest": 10}],
    "rho": 0.6,
    "parties": [{"name": "A"}, {"name": "B"}],
}


@pytest.fixture
def clinics(database: Database, tmp_path: Path) -> Agreed:
    return agreed(database, tmp_path)


@pytest.fixture
def service(clinics: Agreed) -> Service:
    app = create_app(clinics.settings, clinics.database)
    return Service(app=app, settings=clinics.settings, database=clinics.database)


def test_a_collaboration_is_begun_by_a_name_a_text_or_a_form(
    clinics: Agreed, service: Service
) -> None:
    program = service.program(clinics.consortium.operator)
    named = program.post(API, json={"name": "Farms"}).json()
    assert named["toml"] == 'name = "Farms"\n'
    assert named["problems"]
    assert named["form"]["name"] == "Farms"
    dropped = draft_of("A", "B") + 'data = "/etc/passwd"\n'
    texted = program.post(API, json={"toml": dropped}).json()
    assert (texted["name"], texted["problems"]) == ("Clinics", [])
    assert texted["toml"] == draft_of("A", "B")
    assert texted["told"][0].startswith('Where the data of "B" lie was taken out')
    filled = program.post(API, json={"form": FORM}).json()
    assert filled["problems"] == []
    assert filled["form"]["inputs"][0]["highest"] == 10.0
    there = program.get(f"{API}/{filled['id']}").json()
    assert there == {
        "id": filled["id"],
        "name": "Clinics",
        "role": "operator",
        "party": None,
        "round": None,
        "state": None,
        "replaced": [],
    }
    parties = program.get(f"{API}/{filled['id']}/parties").json()
    assert [party["name"] for party in parties] == ["A", "B"]
    for sent in ({"toml": "["}, {"toml": "x = 1", "form": {}}, {"other": 1}, {"name": ""}):
        assert program.post(API, json=sent).status_code == 422
    refused = service.program(clinics.consortium.of_north).post(API, json={"name": "X"})
    assert refused.status_code == 403


def test_a_draft_is_changed_by_text_or_form_and_told_what_is_wrong(
    clinics: Agreed, service: Service
) -> None:
    program = service.program(clinics.consortium.operator)
    here = f"{API}/{clinics.id}/draft"
    assert program.get(here).json()["problems"] == []
    changed = program.put(here, json={"form": {**FORM, "rho": "fairest"}}).json()
    assert changed["problems"][0].startswith("rewards, rho: 'fairest' is not allowed")
    assert program.get(here).json()["toml"] == changed["toml"]
    assert program.put(here, json={"toml": "["}).status_code == 422
    assert program.put(here, json={}).status_code == 422
    assert program.get(here).json()["toml"] == changed["toml"]


def test_terms_are_proposed_read_accepted_and_downloaded(clinics: Agreed, service: Service) -> None:
    operator = service.program(clinics.consortium.operator)
    north = service.program(clinics.consortium.of_north)
    south = service.program(clinics.consortium.of_south)
    here = f"{API}/{clinics.id}"
    proposed = operator.post(f"{here}/terms").json()
    (read,) = north.get(f"{here}/terms").json()
    assert read == proposed
    assert read["is_in_force"]
    assert "rho is 0.6" in read["words"]["what a party receives"]
    document = north.get(f"{here}/terms/{read['digest']}/document")
    assert hashlib.sha256(document.content).hexdigest() == read["digest"]
    assert Signed.of_content(document.content, "terms", "terms").body["version"] == 1
    assert 'filename="terms-1.json"' in document.headers["content-disposition"]
    assert north.get(f"{here}/terms/{read['digest']}/plan").status_code == 404
    assert north.get(f"{here}/terms/{'0' * 64}/document").status_code == 404
    accepted = north.post(f"{here}/acceptances", json={"digest": read["digest"]})
    assert accepted.status_code == 201
    assert accepted.json()["party"] == "north"
    wrong = south.post(f"{here}/acceptances", json={"digest": "0" * 64})
    assert wrong.status_code == 409
    assert south.get(f"{here}/acceptances").json() == []
    assert [one["party"] for one in operator.get(f"{here}/acceptances").json()] == ["north"]
    address = f"{here}/acceptances/{accepted.json()['id']}/document"
    signed = operator.get(address)
    assert signed.content == north.get(address).content
    assert Signed.of_content(signed.content, "acceptance", "x").body["terms"] == read["digest"]
    assert south.get(address).status_code == 404
    clinics.put_draft(draft_of("north", "south", toml=TOML.replace("0.6", "0.9")))
    operator.post(f"{here}/terms")
    second, first = north.get(f"{here}/terms").json()
    assert (second["version"], first["version"]) == (2, 1)
    (change,) = north.get(f"{here}/terms/{second['digest']}/changes").json()
    assert "rho is 0.9" in change["after"]
    assert north.get(f"{here}/terms/{first['digest']}/changes").json() == []


def test_a_table_is_sent_looked_at_submitted_and_withdrawn(
    clinics: Agreed, service: Service
) -> None:
    clinics.propose()
    clinics.accept_all()
    north = service.program(clinics.consortium.of_north)
    here = f"{API}/{clinics.id}"
    content = csv_of(rows())
    sent = north.post(f"{here}/submissions?name=our%20table.csv", content=content)
    assert sent.status_code == 201
    shown = sent.json()
    assert (shown["name"], shown["state"], shown["bytes"]) == (
        "our table.csv",
        "checking",
        len(content),
    )
    assert shown["sha256"] == hashlib.sha256(content).hexdigest()
    address = f"{here}/submissions/{shown['id']}"
    assert north.get(address).json()["found"] is None
    assert north.get(f"{here}/standing").json()["next"]["code"] == "wait"
    clinics.work_off()
    looked = north.get(address).json()
    assert looked["found"]["problems"] == []
    assert looked["found"]["columns"] == ["x", "kind", "y"]
    assert len(looked["found"]["first"]) == 10
    assert looked["rows"] == 40
    assert north.post(f"{address}/submit").json()["state"] == "submitted"
    standing = north.get(f"{here}/standing").json()
    assert standing["next"] is None
    assert [one["id"] for one in standing["having"]] == [shown["id"]]
    operator = service.program(clinics.consortium.operator)
    checklist = operator.get(f"{here}/checklist").json()
    assert not checklist["ready_to_close"]
    assert "south" in checklist["why_not"][0]
    seen = north.get(f"{here}/visible").json()
    assert "how many rows they are" in " ".join(seen[1]["what"])
    assert north.get(f"{address}/receipt").status_code == 404
    assert north.post(f"{address}/withdraw").json()["state"] == "withdrawn"
    assert Vault(clinics.settings).identities() == set()


def test_a_browser_sends_a_file_with_the_token_of_its_forms(
    clinics: Agreed, service: Service
) -> None:
    clinics.propose()
    north = service.browser(clinics.consortium.of_north)
    address = f"{API}/{clinics.id}/submissions?name=a.csv"
    assert north.post(address, content=b"x").status_code == 201
    del north.headers["X-Form-Token"]
    assert north.post(address, content=b"y").status_code == 403
    assert len(Vault(clinics.settings).identities()) == 1


def test_what_is_refused_leaves_no_file(clinics: Agreed, service: Service) -> None:
    here = f"{API}/{clinics.id}/submissions"
    north = service.program(clinics.consortium.of_north)
    early = north.post(f"{here}?name=a.csv", content=b"x")
    assert early.status_code == 409
    assert "no terms were proposed yet" in early.json()["problems"][0]
    clinics.propose()
    for query in ("", "?name=", "?name=a.exe", f"?name={'x' * 2000}.csv"):
        assert north.post(here + query, content=b"x").status_code == 422
    for person in (clinics.consortium.operator, clinics.consortium.auditor):
        assert service.program(person).post(f"{here}?name=a.csv", content=b"x").status_code == 404
    assert [*clinics.settings.uploads.glob("*")] == []
    first = north.post(f"{here}?name=a.csv", content=b"x").json()
    assert north.post(f"{here}?name=b.csv", content=b"x").json()["id"] == first["id"]
    assert len(Vault(clinics.settings).identities()) == 1


def test_a_contribution_has_a_receipt_once_it_is_submitted(
    database: Database, tmp_path: Path
) -> None:
    keys = {"north": str(KEYS["North"].public)}
    clinics = agreed(database, tmp_path, toml=draft_of("north", "south", "west", keys=keys))
    proposed = clinics.propose()
    clinics.accept_all()
    app = create_app(clinics.settings, clinics.database)
    service = Service(app=app, settings=clinics.settings, database=clinics.database)
    north = service.program(clinics.consortium.of_north)
    here = f"{API}/{clinics.id}"
    plan = north.get(f"{here}/terms/{proposed.digest}/plan")
    assert plan.text == proposed.plan
    signed = SignedPlan.of_content(plan.content, "plan.json")
    made = a_contribution(signed, party="north", key=KEYS["North"], rows=200).to_bytes()
    sent = north.post(f"{here}/submissions?name=north.contribution", content=made).json()
    clinics.work_off()
    address = f"{here}/submissions/{sent['id']}"
    assert north.get(address).json()["found"]["words"]["contribution of"] == "north"
    assert north.get(f"{address}/receipt").status_code == 409
    north.post(f"{address}/submit")
    receipt = json.loads(north.get(f"{address}/receipt").content)
    assert receipt["body"]["rows"] == 200


# ---- over a real socket


@pytest.fixture
def port(clinics: Agreed) -> Iterator[int]:
    """The service on a socket of this machine."""
    app = create_app(clinics.settings, clinics.database)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=found, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield found
    server.should_exit = True
    thread.join(20)


@pytest.mark.parametrize("how", ["length", "chunks"])
def test_an_upload_that_is_cut_off_leaves_nothing(
    clinics: Agreed, service: Service, port: int, how: str
) -> None:
    clinics.propose()
    token = service.program(clinics.consortium.of_north).headers["Authorization"]
    coming = {
        "length": ("Content-Length: 5000000", b"x" * 2_000_000),
        "chunks": ("Transfer-Encoding: chunked", b"1e8480\r\n" + b"x" * 2_000_000 + b"\r\n"),
    }
    header, content = coming[how]
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(
            f"POST {API}/{clinics.id}/submissions?name=a.csv HTTP/1.1\r\n"
            f"Host: {clinics.settings.address.removeprefix('http://')}\r\n"
            f"Authorization: {token}\r\n{header}\r\n\r\n".encode()
            + content
        )
        _wait(lambda: any(part.stat().st_size > 500_000 for part in _parts(clinics)))
    _wait(lambda: not _parts(clinics))
    assert Vault(clinics.settings).identities() == set()
    with clinics.database.reading() as session:
        assert session.query(Submission).count() == session.query(Blob).count() == 0


def _parts(clinics: Agreed) -> list[Path]:
    return [*clinics.settings.uploads.glob("*.part")]


def _wait(until) -> None:
    for _ in range(200):
        try:
            if until():
                return
        except FileNotFoundError:
            pass
        time.sleep(0.05)
    raise AssertionError("nothing came of it")


def test_more_than_is_taken_is_refused_while_it_comes(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    small = Settings.of(clinics.settings.folder, environment={"FAIRPOOL_UPLOAD_MEBIBYTES": "1"})
    service = Service(app=create_app(small, database), settings=small, database=database)
    north = service.program(clinics.consortium.of_north)
    address = f"{API}/{clinics.id}/submissions?name=a.csv"
    for content in (bytes((1 << 20) + 1), iter([bytes(1 << 19)] * 3)):
        answer = north.post(address, content=content)
        assert answer.status_code == 413
        assert "at most 1 MiB" in answer.json()["problems"][0]
    assert [*small.uploads.glob("*")] == []
    assert north.post(address, content=bytes(1 << 20)).status_code == 201
