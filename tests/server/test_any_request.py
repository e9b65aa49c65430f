"""Whatever a client sends, nothing of ours fails, and what the API answers is in its document.

The requests are made of that document: such as it describes, and such as it does not.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import WorkerSeen, now
from fairpool.server.web.app import create_app
from tests.server.world import NOBODY, SIGNED_IN, World, new_world

ADDRESS = "http://testserver"
"""Under which schemathesis asks an application that has no socket."""

OF_THE_API = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, FastAPI]]:
    folder = tmp_path_factory.mktemp("any") / "server"
    folder.mkdir(mode=0o700)
    of_folder = replace(Settings.of(folder, environment={}), address=ADDRESS)
    database = Database(of_folder.database)
    database.migrate()
    with database.transaction() as session:
        # Without a worker, /readyz answers that the service is not ready, which is no fault of it.
        session.add(WorkerSeen(name="w", seen=now() + timedelta(days=1)))
    yield new_world(of_folder, database), create_app(of_folder, database)
    database.close()


def _play(world: World, app: FastAPI, examples: int) -> None:
    """Have so many requests answered."""
    schema = schemathesis.openapi.from_asgi(
        "/api/v1/openapi.json", app, headers={"Host": "testserver"}
    )
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 30
    cases = st.one_of(
        [
            operation.as_strategy(generation_mode=mode)
            for operation in operations
            for mode in GenerationMode
        ]
    )

    @settings(
        max_examples=examples,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(
        case=cases,
        who=st.sampled_from((NOBODY, *SIGNED_IN)),
        by_token=st.booleans(),
        is_real=st.booleans(),
    )
    def answer(case: schemathesis.Case, who: str, by_token: bool, is_real: bool) -> None:
        world.restore()
        if is_real:
            for name in case.path_parameters or {}:
                case.path_parameters[name] = world.things[name]
        headers = {"Host": "testserver"}
        if who != NOBODY:
            way_in = world.ways_in[who]
            if by_token:
                headers["Authorization"] = f"Bearer {way_in.token}"
            else:
                headers |= {
                    "Cookie": f"fairpool={way_in.cookie}",
                    "X-Form-Token": way_in.form_token,
                }
        response = case.call(headers=headers)
        is_api = case.path.startswith("/api/")
        case.validate_response(response, checks=OF_THE_API if is_api else [not_a_server_error])

    answer()


def test_every_refusal_of_the_api_is_said_to_be_json(played: tuple[World, FastAPI]) -> None:
    paths = played[1].openapi()["paths"]
    kinds = {
        (path, status): [*answer["content"]]
        for path, operations in paths.items()
        for operation in operations.values()
        for status, answer in operation["responses"].items()
        if path.startswith("/api/") and int(status) >= 400
    }
    assert len(kinds) > 300
    assert {key: kind for key, kind in kinds.items() if kind != ["application/json"]} == {}


def test_three_hundred_requests_of_any_kind(played: tuple[World, FastAPI]) -> None:
    _play(*played, examples=300)


@pytest.mark.soak
def test_five_thousand_requests_of_any_kind(played: tuple[World, FastAPI]) -> None:
    _play(*played, examples=5000)
