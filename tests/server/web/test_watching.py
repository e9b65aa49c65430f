"""What whatever watches the service is told: by the application, and by a process."""

import re
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from fairpool.errors import DataError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import JobKind, JobState, WorkerSeen, now
from fairpool.server.web.app import create_app
from fairpool.server.work import alive, queue
from tests.client.conftest import port_of
from tests.server.consortium import Service, add_consortium
from tests.server.given import person, round_of, words
from tests.server.served import Served, served

HERE = "http://127.0.0.1:8000"
TOKEN = "a-token-of-more-than-twenty-letters"


@pytest.fixture(autouse=True)
def _folder(settings: Settings) -> None:
    settings.uploads.mkdir()


def readiness(service: Service) -> tuple[int, list[str]]:
    answer = service.client().get("/readyz")
    assert answer.json()["ready"] == (answer.status_code == 200)
    return answer.status_code, answer.json()["lacking"]


def test_ready_is_who_has_a_worker_that_was_seen_lately(service: Service) -> None:
    assert readiness(service) == (503, ["worker"])
    alive.note(service.database, "w")
    assert readiness(service) == (200, [])
    with service.database.transaction() as session:
        session.query(WorkerSeen).one().seen = now() - timedelta(minutes=3)
    assert readiness(service) == (503, ["worker"])


def test_a_worker_of_an_older_version_is_seen_by_the_job_it_holds(service: Service) -> None:
    with service.database.transaction() as session:
        round_ = round_of(session)
        queue.enqueue(session, **words(round_, JobKind.PREVIEW, person(session).id))
    assert readiness(service) == (503, ["worker"])
    queue.take(service.database, "old", 60.0)
    assert readiness(service) == (200, [])


def test_a_worker_is_seen_until_it_ends(database: Database, settings: Settings) -> None:
    quick = replace(settings, lease_seconds=0.3)

    def seen() -> list[WorkerSeen]:
        with database.reading() as session:
            return session.query(WorkerSeen).all()

    def until(happened) -> None:
        end = time.monotonic() + 60
        while not happened():
            assert time.monotonic() < end
            time.sleep(0.02)

    with alive.seen(quick, database, "w"):
        until(seen)
        first = seen()[0].seen
        until(lambda: seen()[0].seen > first)
    assert seen() == []


def test_what_else_is_lacking_is_told(settings: Settings, front: Service) -> None:
    alive.note(front.database, "w")
    full = replace(settings, free_bytes=1 << 62)
    app = create_app(full, front.database)
    assert readiness(replace(front, app=app)) == (503, ["disk"])
    with front.database.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0002'"))
    assert readiness(front) == (503, ["migrations"])


def test_a_database_that_does_not_answer_is_told_and_the_process_lives(settings: Settings) -> None:
    away = Database("postgresql+psycopg://fairpool@127.0.0.1:1/none")
    service = Service(app=create_app(settings, away), settings=settings, database=away)
    assert readiness(service) == (503, ["database"])
    assert service.client().get("/healthz").json() == {"alive": True}
    assert "fairpool_database_answers 0.0" in service.app.state.measures.shown().decode()


def shown(service: Service) -> str:
    return service.app.state.measures.shown().decode()


def test_requests_jobs_uploads_and_refused_logins_are_counted(service: Service) -> None:
    consortium = add_consortium(service.database)
    client = service.client()
    wrong = {"email": "north@example.org", "password": "not the password"}
    form = {key: [value] for key, value in wrong.items()}
    for _ in range(3):
        assert client.post("/api/v1/session", json=wrong).status_code == 401
    assert client.post("/sign-in", data=form).status_code == 401
    while client.post("/api/v1/session", json=wrong).status_code == 401:
        pass
    there = f"/api/v1/collaborations/{consortium.collaboration.id}"
    assert service.program(consortium.of_north).get(there).status_code == 200
    client.request("MADE-UP", "/nothing")
    with service.database.transaction() as session:
        round_ = round_of(session)
        queue.enqueue(session, **words(round_, JobKind.PREVIEW, person(session).id))
    text_ = shown(service)
    values = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text_)
        for sample in family.samples
    }
    route = "/api/v1/collaborations/{collaboration_id}"
    assert values["fairpool_requests_total", route, "200", "GET"] == 1
    assert values["fairpool_request_seconds_count", route, "GET"] == 1
    assert values["fairpool_requests_total", "404", "none", "other"] == 1
    assert values["fairpool_logins_refused_total", "wrong"] == 5
    assert values["fairpool_logins_refused_total", "waits"] == 1
    assert values["fairpool_received_bytes_total", "/api/v1/session"] > 100
    assert values["fairpool_jobs", JobKind.PREVIEW, JobState.QUEUED] == 1
    assert values["fairpool_jobs", JobKind.CHECK, JobState.DONE] == 0
    assert values["fairpool_uploads_kept_bytes",] == 0


def test_no_label_has_a_name_or_an_identity(service: Service) -> None:
    consortium = add_consortium(service.database)
    there = f"/api/v1/collaborations/{consortium.collaboration.id}"
    program = service.program(consortium.operator)
    for path in (there, f"{there}/members", "/collaborations/x", f"/nothing/{consortium.north.id}"):
        program.get(path)
    text_ = shown(service)
    assert {*re.findall(r'(\w+)="', text_)} <= {
        "method",
        "route",
        "status",
        "le",
        "why",
        "kind",
        "state",
    }
    for hidden in (
        consortium.collaboration.id,
        consortium.north.id,
        "north",
        "clinics",
        "example.org",
    ):
        assert hidden not in text_


def service_client(service: Served) -> httpx.Client:
    """Where it listens, whatever its address is."""
    return httpx.Client(base_url=f"http://127.0.0.1:{port_of(service)}", timeout=60)


def test_metrics_are_for_this_machine_or_for_a_token(tmp_path: Path) -> None:
    """Shown is what a Prometheus on this machine gets; nothing is what comes by a proxy."""
    with (
        served(
            tmp_path / "pool",
            "--workers",
            "1",
            "--address",
            "https://pool.example.org",
            "--port",
            "0",
        ) as service,
        service_client(service) as client,
    ):
        assert client.get("/healthz").status_code == 200
        shown_ = client.get("/metrics")
        assert shown_.status_code == 200
        assert (
            'fairpool_requests_total{method="GET",route="/healthz",status="200"} 1.0' in shown_.text
        )
        end = time.monotonic() + 120
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.1)
        nothing = client.get("/nothing", headers={"Host": "pool.example.org"}).content
        for headers in (
            {"X-Forwarded-For": "127.0.0.1"},
            {"X-Forwarded-For": "203.0.113.7"},
            {"Forwarded": "for=127.0.0.1"},
            {"Host": "pool.example.org"},
            {"Host": "pool.example.org", "Authorization": f"Bearer {TOKEN}"},
        ):
            told = client.get("/metrics", headers=headers)
            assert (told.status_code, told.content) == (404, nothing), headers
        # Another name for this machine, by which a page elsewhere could read what is shown.
        assert client.get("/metrics", headers={"Host": "evil.example.org"}).status_code == 421
        assert client.get("/", headers={"Host": "127.0.0.1"}).status_code == 421
    with served(tmp_path / "pool", FAIRPOOL_METRICS_TOKEN=TOKEN) as service:
        with service_client(service) as client:
            assert client.get("/metrics").status_code == 404
            wrong = {"Authorization": f"Bearer {TOKEN[:-1]}"}
            assert client.get("/metrics", headers=wrong).status_code == 404
            right = {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "203.0.113.7"}
            assert client.get("/metrics", headers=right).status_code == 200
        assert TOKEN not in service.log()


@pytest.mark.parametrize("token", ["short", "x" * 19, "é" * 30])
def test_a_token_that_can_be_guessed_is_refused(token: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"openssl rand -hex 20") as refused:
        Settings.of(tmp_path, environment={"FAIRPOOL_METRICS_TOKEN": token})
    assert token not in str(refused.value)
    assert TOKEN not in repr(Settings.of(tmp_path, environment={"FAIRPOOL_METRICS_TOKEN": TOKEN}))
