import pytest

from fairpool.errors import DataError
from fairpool.server.refused import NotFoundError
from fairpool.server.web.bodies import UploadAllowed
from tests.server.consortium import Service, add_person


def test_who_is_signed_in_by_cookie_or_token_is_known(service: Service) -> None:
    anna = add_person(service.database, "anna")
    for client in (service.browser(anna), service.program(anna)):
        answer = client.get("/api/v1/account")
        assert answer.status_code == 200
        assert answer.json()["email"] == "anna@example.org"


def test_nobody_is_told_to_sign_in(service: Service) -> None:
    answer = service.client().get("/api/v1/account")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "sign in first" in answer.json()["problems"][0]


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/nothing", "/static/nothing"])
def test_what_does_not_exist_is_said_kindly(service: Service, path: str) -> None:
    answer = service.client().get(path)
    assert answer.status_code == 404
    assert "here is no such page" in answer.text


def test_errors_are_told_as_texts_and_unforeseen_ones_as_a_number(service: Service) -> None:
    @service.app.get("/api/v1/fails/{how}")
    def fail(how: str) -> None:
        if how == "data":
            raise DataError("one thing", "another thing")
        if how == "hidden":
            raise NotFoundError
        raise RuntimeError("a secret of the machine")

    client = service.client()
    assert client.get("/api/v1/fails/data").json() == {
        "problems": ["one thing", "another thing"],
        "status": 422,
    }
    hidden = client.get("/api/v1/fails/hidden")
    assert (hidden.status_code, hidden.content) == (404, client.get("/api/v1/other").content)
    failed = client.get("/api/v1/fails/unforeseen")
    assert failed.status_code == 500
    assert "number" in failed.json()["problems"][0]
    assert "secret" not in failed.text
    assert failed.headers["x-content-type-options"] == "nosniff"


def test_a_body_over_the_limit_is_refused_with_and_without_a_length(service: Service) -> None:
    @service.app.post("/api/v1/take")
    def take(text: dict[str, str]) -> None:
        pass

    most = service.settings.body_bytes
    client = service.client()
    content = b'{"a": "' + b"x" * most + b'"}'
    headers = {"Content-Type": "application/json"}
    for body in (content, iter([content[:most], content[most:]])):
        answer = client.post("/api/v1/take", content=body, headers=headers)
        assert answer.status_code == 413
        assert "at most 1 MiB" in answer.json()["problems"][0]
        assert answer.headers["connection"] == "close"
    assert client.post("/api/v1/take", json={"a": "b"}).status_code == 200


def test_an_upload_may_be_larger(service: Service) -> None:
    from fastapi import Request

    @service.app.post("/api/v1/upload")
    async def upload(request: Request, _allowed: UploadAllowed) -> int:
        return sum([len(piece) async for piece in request.stream()])

    body = b"x" * (service.settings.body_bytes + 1)
    answer = service.client().post("/api/v1/upload", content=body)
    assert (answer.status_code, answer.json()) == (200, len(body))
